package service

import (
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
)

// This file says what is done to Windows to install a service. It does it through scm, so that the calls can be looked
// at on any system.

// Account is the virtual account that the service runs as on Windows: made by Windows with the service, without a
// password, and with no rights but those that it is given.
const Account = `NT SERVICE\` + Name

// UpgradeCode identifies app for Windows Installer and must never change: an MSI replaces the product with the same
// code.
const UpgradeCode = "{5B0E3C1A-8B6C-4C57-9D0B-6E1D3F2A7C41}"

// The texts that Windows shows.
const (
	displayName = "app, manufacturing operations monitoring"
	description = "Keeps the plant's configuration and serves its API and pages to the LAN. Its data and settings are in the directory that app status names."
)

// FirewallRule is the name of the rules that let the LAN in.
const FirewallRule = displayName

// recovery has Windows restart the service after a crash or an end with an error, after these delays; the last one
// repeats, and a day without a failure resets the count.
var recovery = recoveryActions{Restart: []time.Duration{5 * time.Second, 30 * time.Second, 60 * time.Second}, Reset: 24 * time.Hour, NonCrash: true}

// recoveryActions are Windows's.
type recoveryActions struct {
	Restart  []time.Duration
	Reset    time.Duration
	NonCrash bool // also for an end with an error, not only a crash
}

// registration is a Windows service.
type registration struct {
	Binary               string
	Args                 []string
	Account              string
	Display, Description string
	DelayedStart         bool // some time after Windows has started
	OwnSID               bool // its rights are those of its account, and of no other service
}

// scm is the part of Windows that installing uses.
type scm interface {
	// register makes the service, or changes the one that is there, with its event source.
	register(registration) error
	recover(recoveryActions) error
	// makeDataDir makes a directory with the rights given (SDDL), and leaves one that is there as it is. sid is the
	// account that must be able to use it.
	makeDataDir(dir, rights, sid string) error
	copyProgram(from, to string) error
	writeSettings(dir string, content []byte) error
	start(context.Context) error
	stop(context.Context) error
	// unregister removes the service and its event source.
	unregister() error
	removeProgram(path string) error
	run(name string, args ...string) error
}

// scmInstall returns the steps of Install on Windows. fresh means that the program is the same and registered in the
// same way; settings, that an app.yaml exists.
func scmInstall(m scm, cfg InstallConfig, target string, st State, fresh, settings bool) []Step {
	plain := func(what string, done bool, do func() error) Step {
		return Step{What: what, Done: done, do: func(context.Context) error { return do() }}
	}
	reg := registration{
		Binary: target, Args: []string{"serve", "--data-dir", cfg.DataDir}, Account: Account,
		Display: displayName, Description: description, DelayedStart: true, OwnSID: true,
	}
	sid := serviceSID(Name)
	steps := []Step{
		plain(fmt.Sprintf("copy %s to %s", cfg.Program, target), cfg.Program == target, func() error { return m.copyProgram(cfg.Program, target) }),
		plain("register the service and its event source", false, func() error { return m.register(reg) }),
		plain("have it started again when it fails, after 5, 30 and 60 s", false, func() error { return m.recover(recovery) }),
		plain(fmt.Sprintf("make the data directory %s for %s and administrators alone", cfg.DataDir, Account), false, func() error {
			return m.makeDataDir(cfg.DataDir, dataDirRights(sid), sid)
		}),
		plain("write app.yaml", settings, func() error { return m.writeSettings(cfg.DataDir, cfg.Settings) }),
		// A firewall that is switched off, or another one than Windows's own, takes no rules.
		{What: firewallText(cfg.Ports), Optional: true, do: func(context.Context) error { return firewall(m, target, cfg.Ports) }},
	}
	return append(steps, Step{What: "start the service", Done: fresh && st.Running, do: func(ctx context.Context) error {
		if err := m.stop(ctx); err != nil {
			return err
		}
		return m.start(ctx)
	}})
}

// scmUninstall returns the steps of Uninstall on Windows.
func scmUninstall(m scm, st State) []Step {
	return []Step{
		{What: "stop the service", Done: !st.Running, do: m.stop},
		{What: "remove the service and its event source", do: func(context.Context) error { return m.unregister() }},
		{What: "close the firewall", Optional: true, do: func(context.Context) error { return firewall(m, st.Binary, nil) }},
		{What: "remove " + st.Binary, Done: st.Package != "", do: func(context.Context) error { return m.removeProgram(st.Binary) }},
	}
}

func firewallText(ports []int) string {
	if len(ports) == 0 {
		return "close the firewall: the service keeps to this machine"
	}
	return "open the firewall for ports " + joinPorts(ports, " and ") + " and for the machine's name"
}

func joinPorts(ports []int, between string) string {
	words := make([]string, len(ports))
	for i, p := range ports {
		words[i] = strconv.Itoa(p)
	}
	return strings.Join(words, between)
}

// mdnsPort is the port of multicast DNS (RFC 6762).
const mdnsPort = 5353

// firewall lets the LAN reach the program at ports, and nothing else; with no ports, nothing at all. Rules of ours that
// are there already go first. The rules are for every profile: Windows takes a plant's network for a public one as
// often as not.
func firewall(m scm, program string, ports []int) error {
	deleted := m.run("netsh", "advfirewall", "firewall", "delete", "rule", "name="+FirewallRule) // an error if there is none
	if len(ports) == 0 {
		var missing *commandError
		if errors.As(deleted, &missing) {
			return nil
		}
		return deleted
	}
	for _, rule := range [][]string{{"protocol=TCP", "localport=" + joinPorts(ports, ",")}, {"protocol=UDP", "localport=" + strconv.Itoa(mdnsPort)}} {
		args := append([]string{"advfirewall", "firewall", "add", "rule", "name=" + FirewallRule, "dir=in", "action=allow", "profile=any", "program=" + program}, rule...)
		if err := m.run("netsh", args...); err != nil {
			return err
		}
	}
	return nil
}

// commandError is the failure of a program, with its output.
type commandError struct{ said string }

func (e *commandError) Error() string { return e.said }

// dataDirRights returns the rights of a data directory: full access for the system, administrators and the service's
// account, and none for anybody else.
func dataDirRights(sid string) string {
	return "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + sid + ")"
}

// serviceSID returns the SID of a service's account, which Windows makes of its name.
func serviceSID(name string) string {
	var b []byte
	for _, c := range utf16.Encode([]rune(strings.Map(unicode.ToUpper, name))) {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	sum := sha1.Sum(b)
	sid := "S-1-5-80"
	for i := 0; i < len(sum); i += 4 {
		sid += "-" + strconv.FormatUint(uint64(binary.LittleEndian.Uint32(sum[i:])), 10)
	}
	return sid
}

// The SIDs of the system and of administrators.
const (
	localSystem    = "S-1-5-18"
	administrators = "S-1-5-32-544"
)

// mayOwn reports whether an existing data directory may belong to an account. Its owner can take any right in it, so it
// must be the system, the administrators, the service, or the user who installs it. Any user may create folders in the
// usual place.
func mayOwn(owner, me, service string) bool {
	return slices.Contains([]string{localSystem, administrators, service, me}, owner)
}

// admits reports whether rights in SDDL may admit a service's account, directly or by a group.
func admits(sddl, sid string) bool {
	for _, who := range []string{sid, "S-1-5-80-0", "WD", "AU", "BU", "SU"} { // all services, everyone, authenticated users, users, services
		if strings.Contains(sddl, ";;;"+who+")") {
			return true
		}
	}
	return false
}

// eventTexts returns the texts of events from the output of wevtutil, oldest first.
func eventTexts(out string) []string {
	var log struct {
		Events []struct {
			Data []string `xml:"EventData>Data"`
		} `xml:"Event"`
	}
	if err := xml.Unmarshal([]byte("<log>"+out+"</log>"), &log); err != nil {
		return nil
	}
	var texts []string
	for i := range log.Events {
		texts = append(texts, strings.TrimSpace(strings.Join(log.Events[len(log.Events)-1-i].Data, " ")))
	}
	return texts
}

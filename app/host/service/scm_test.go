package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorder is a Windows that writes down what is done to it.
type recorder struct {
	calls  []string
	failed map[string]error // by the start of a call
}

func (r *recorder) call(format string, args ...any) error {
	call := fmt.Sprintf(format, args...)
	r.calls = append(r.calls, call)
	for start, err := range r.failed {
		if strings.HasPrefix(call, start) {
			return err
		}
	}
	return nil
}

func (r *recorder) register(g registration) error     { return r.call("register %+v", g) }
func (r *recorder) recover(a recoveryActions) error   { return r.call("recover %+v", a) }
func (r *recorder) copyProgram(from, to string) error { return r.call("copy %s -> %s", from, to) }
func (r *recorder) start(context.Context) error       { return r.call("start") }
func (r *recorder) stop(context.Context) error        { return r.call("stop") }
func (r *recorder) unregister() error                 { return r.call("unregister") }
func (r *recorder) removeProgram(path string) error   { return r.call("remove %s", path) }
func (r *recorder) makeDataDir(dir, rights, sid string) error {
	return r.call("mkdir %s %s", dir, rights)
}
func (r *recorder) writeSettings(dir string, content []byte) error {
	return r.call("settings %s %s", dir, content)
}
func (r *recorder) run(name string, args ...string) error {
	return r.call("run %s|%s", name, strings.Join(args, "|"))
}

func take(t *testing.T, steps []Step) {
	t.Helper()
	for _, s := range steps {
		if err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSCMCalls: exactly what is asked of Windows at an install, at a second one, and at the end.
func TestSCMCalls(t *testing.T) {
	const target, dir = `C:\Program Files\app\app.exe`, `C:\ProgramData\Wërk 1\app`
	const deleteRule = "run netsh|advfirewall|firewall|delete|rule|name=app, manufacturing operations monitoring"
	const addRule = "run netsh|advfirewall|firewall|add|rule|name=app, manufacturing operations monitoring|dir=in|action=allow|profile=any|program=" + target
	sid := serviceSID("app")
	wantRegister := "register {Binary:" + target + " Args:[serve --data-dir " + dir + `] Account:NT SERVICE\app Display:` + displayName + " Description:" + description + " DelayedStart:true OwnSID:true}"
	const wantRecover = "recover {Restart:[5s 30s 1m0s] Reset:24h0m0s NonCrash:true}"
	wantDir := "mkdir " + dir + " D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + sid + ")"
	cfg := InstallConfig{Program: `C:\Users\it\app.exe`, DataDir: dir, Settings: []byte("listen: :8443"), Ports: []int{8443, 8080}}

	for _, test := range []struct {
		name  string
		steps func(r *recorder) []Step
		fails map[string]error
		want  []string
	}{
		{"install", func(r *recorder) []Step { return scmInstall(r, cfg, target, State{}, false, false) },
			map[string]error{"run netsh|advfirewall|firewall|delete": &commandError{"No rules match the specified criteria."}},
			[]string{
				`copy C:\Users\it\app.exe -> ` + target, wantRegister, wantRecover, wantDir, "settings " + dir + " listen: :8443",
				deleteRule, addRule + "|protocol=TCP|localport=8443,8080", addRule + "|protocol=UDP|localport=5353", "stop", "start",
			}},
		{"again", func(r *recorder) []Step {
			cfg := cfg
			cfg.Program = target
			return scmInstall(r, cfg, target, State{Installed: true, Running: true}, true, true)
		}, nil, []string{wantRegister, wantRecover, wantDir, deleteRule, addRule + "|protocol=TCP|localport=8443,8080", addRule + "|protocol=UDP|localport=5353"}},
		{"for this machine alone", func(r *recorder) []Step {
			cfg := cfg
			cfg.Ports, cfg.Program = nil, target
			return scmInstall(r, cfg, target, State{Installed: true}, true, true)
		}, nil, []string{wantRegister, wantRecover, wantDir, deleteRule, "stop", "start"}},
		{"uninstall", func(r *recorder) []Step {
			return scmUninstall(r, State{Installed: true, Running: true, Binary: target})
		},
			map[string]error{"run netsh": &commandError{"No rules match the specified criteria."}},
			[]string{"stop", "unregister", deleteRule, "remove " + target}},
		{"uninstall for an MSI, which removes the program itself", func(r *recorder) []Step {
			return scmUninstall(r, State{Installed: true, Binary: target, Package: "msi"})
		}, nil, []string{"unregister", deleteRule}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &recorder{failed: test.fails}
			take(t, test.steps(r))
			if diff := cmp.Diff(test.want, r.calls); diff != "" {
				t.Error(diff)
			}
		})
	}

	for call, want := range map[string]string{"register": "no right", "mkdir": "the disk is full"} {
		r := &recorder{failed: map[string]error{call: errors.New(want)}}
		err := error(nil)
		for _, s := range scmInstall(r, cfg, target, State{}, false, false) {
			if err = s.Run(t.Context()); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(r.calls[len(r.calls)-1], call) {
			t.Errorf("%s failed: %v, calls %q", call, err, r.calls)
		}
	}
}

// TestServiceSID: Windows makes the SIDs of services from their names; this is a known one.
func TestServiceSID(t *testing.T) {
	if got, want := serviceSID("TrustedInstaller"), "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"; got != want {
		t.Errorf("serviceSID(TrustedInstaller) = %s, want %s", got, want)
	}
}

// TestAdmits: a directory that was there is used only when its rights may let the service in.
func TestAdmits(t *testing.T) {
	sid := serviceSID(Name)
	for sddl, want := range map[string]bool{
		dataDirRights(sid): true,
		"D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;S-1-5-21-1-2-3-1001)": false,
		"D:AI(A;OICIID;0x1301bf;;;BU)(A;ID;FA;;;BA)":                           true,
		"D:P(A;OICI;FA;;;WD)": true,
	} {
		if got := admits(sddl, sid); got != want {
			t.Errorf("%s: %v, want %v", sddl, got, want)
		}
	}
}

// TestMayOwn: a directory that some user has put where the data go is not used.
func TestMayOwn(t *testing.T) {
	const me, user = "S-1-5-21-1-2-3-500", "S-1-5-21-1-2-3-1001"
	sid := serviceSID(Name)
	for owner, want := range map[string]bool{localSystem: true, administrators: true, sid: true, me: true, user: false, "S-1-1-0": false, "": false} {
		if got := mayOwn(owner, me, sid); got != want {
			t.Errorf("%s: %v, want %v", owner, got, want)
		}
	}
}

// TestEventTexts: the events are read as wevtutil writes them, newest first.
func TestEventTexts(t *testing.T) {
	out := `<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'><System><Provider Name='app'/></System><EventData><Data>app: listen is &quot;x&quot;</Data></EventData></Event>` +
		"\r\n<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'><EventData><Data>first\r\n</Data></EventData></Event>\r\n"
	if diff := cmp.Diff([]string{"first", `app: listen is "x"`}, eventTexts(out)); diff != "" {
		t.Error(diff)
	}
	if texts := eventTexts("no XML <"); texts != nil {
		t.Errorf("rubbish: %q", texts)
	}
}

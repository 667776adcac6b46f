package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"opsmon/app/host/service"
)

// settingsWrong is the note of checks that need valid settings.
const settingsWrong = "not looked at: the settings are wrong"

func (e *exam) port(ctx context.Context) []Finding {
	if e.Listen == "" {
		return well(settingsWrong)
	}
	if !e.Running {
		return e.free(ctx)
	}
	lan, look := e.lan(), "ip -br address"
	if e.OS == "windows" {
		look = "ipconfig"
	}
	var found []Finding
	if e.outside() && lan == "" {
		found = append(found, wrong("this machine has no address on a network, so no other reaches the service", "connect it to the plant's network ("+look+" shows its interfaces)"))
	}
	for _, p := range e.ports() {
		host, at, err := net.SplitHostPort(p.Listen)
		if err != nil {
			continue // the check of the settings reports it
		}
		to := []string{host}
		if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
			to = []string{"127.0.0.1"}
			if lan != "" {
				to = append(to, lan)
			}
		}
		for _, host := range to {
			if err := e.Dial(ctx, net.JoinHostPort(host, at)); err != nil {
				found = append(found, wrong(fmt.Sprintf("the service runs, and nothing can connect to it at %s: %v", net.JoinHostPort(host, at), err), e.Command+" restart"))
			}
		}
	}
	if !beyond(e.Listen) {
		return orWell(found, e.Listen+" answers; it is for this machine alone")
	}
	return orWell(found, e.Listen+" answers")
}

// ports returns the ports that the service listens on.
func (e *exam) ports() (list []Port) {
	for _, p := range append([]Port{{"listen", e.Listen}, {"clearListen", e.ClearListen}}, e.More...) {
		if p.Listen != "" {
			list = append(list, p)
		}
	}
	return list
}

// outside reports whether other machines are to reach any of them.
func (e *exam) outside() bool {
	return slices.ContainsFunc(e.ports(), func(p Port) bool { return beyond(p.Listen) })
}

// lan returns the machine's first address on a network, "" if it is on none.
func (e *exam) lan() string {
	for _, host := range e.Hosts {
		if _, err := netip.ParseAddr(host); err == nil {
			return host
		}
	}
	return ""
}

// free looks whether the service could listen.
func (e *exam) free(ctx context.Context) []Finding {
	var found []Finding
	for _, p := range e.ports() {
		name, listen := p.Setting, p.Listen
		choose := fmt.Sprintf("choose another in app.yaml: %s: ADDRESS:PORT", name)
		switch err := e.Bind(listen); {
		case err == nil:
		case errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, wsaAddrInUse):
			look := "ss -ltnp 'sport = :" + strconv.Itoa(port(listen)) + "'"
			if e.OS == "windows" {
				look = "netstat -ano | findstr :" + strconv.Itoa(port(listen))
			}
			found = append(found, wrong(fmt.Sprintf("%s is %s, and another program has that port%s", name, listen, e.holder(ctx, port(listen))), "stop that program ("+look+" shows it), or "+choose))
		case errors.Is(err, syscall.EACCES):
			found = append(found, wrong(fmt.Sprintf("%s is %s, a port that this user may not use", name, listen), "ask as the administrator (the service's own user may be allowed to), or "+choose))
		default:
			found = append(found, wrong(fmt.Sprintf("%s is %s, which cannot be listened on: %v", name, listen, err), choose))
		}
	}
	return orWell(found, e.Listen+" is free")
}

// wsaAddrInUse is the Windows error for a port in use.
const wsaAddrInUse = syscall.Errno(10048)

// holder names the program that uses a port, if the system shows it.
func (e *exam) holder(ctx context.Context, port int) string {
	if e.OS == "windows" {
		return ""
	}
	out, err := e.Tool(ctx, "ss", "-Hltnp", "sport = :"+strconv.Itoa(port))
	if err != nil {
		return ""
	}
	if m := regexp.MustCompile(`\(\("([^"]+)",pid=(\d+)`).FindStringSubmatch(out); m != nil {
		return fmt.Sprintf(": %s, process %s", m[1], m[2])
	}
	return ""
}

// opening is a port that the firewall must let clients through to.
type opening struct {
	port  int
	proto string
}

func (o opening) String() string { return fmt.Sprintf("%d/%s", o.port, o.proto) }

// firewall checks whether one of the usual firewalls blocks clients.
func (e *exam) firewall(ctx context.Context) []Finding {
	if e.Listen == "" {
		return well(settingsWrong)
	}
	if !e.outside() {
		return well("not looked at: the service is for this machine alone")
	}
	var needed []opening
	for _, p := range e.ports() {
		if n := port(p.Listen); n != 0 && beyond(p.Listen) {
			needed = append(needed, opening{n, "tcp"})
		}
	}
	if e.MDNS && beyond(e.Listen) {
		needed = append(needed, opening{5353, "udp"})
	}
	if e.OS == "windows" {
		return e.netsh(ctx, needed)
	}
	for _, look := range []func(context.Context, []opening) ([]Finding, bool){e.ufw, e.firewalld, e.nft} {
		if found, has := look(ctx, needed); has {
			return found
		}
	}
	return well("none that is known is active")
}

// ufw checks the firewall of Ubuntu and Debian. It allows mDNS by default.
func (e *exam) ufw(ctx context.Context, needed []opening) (found []Finding, has bool) {
	out, err := e.Tool(ctx, "ufw", "status")
	if err != nil || !strings.Contains(out, "Status: active") {
		return e.unread("ufw", out, err)
	}
	for _, o := range needed {
		if o.proto != "tcp" {
			continue
		}
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^%d(/tcp)?(\s+on \S+)?\s+ALLOW`, o.port)).MatchString(out) {
			found = append(found, wrong(fmt.Sprintf("the firewall ufw is active and lets nobody in to port %v", o), fmt.Sprintf("ufw allow %v", o)))
		}
	}
	return orWell(found, "ufw lets clients in"), true
}

// firewalld checks the firewall of Fedora and its relatives.
func (e *exam) firewalld(ctx context.Context, needed []opening) (found []Finding, has bool) {
	out, err := e.Tool(ctx, "firewall-cmd", "--state")
	if err != nil || !strings.Contains(out, "running") || strings.Contains(out, "not running") {
		return e.unread("firewall-cmd", out, err)
	}
	for _, o := range needed {
		query := "--query-port=" + o.String()
		add := "--add-port=" + o.String()
		if o.proto == "udp" {
			query, add = "--query-service=mdns", "--add-service=mdns"
		}
		if answer, _ := e.Tool(ctx, "firewall-cmd", query); strings.TrimSpace(answer) != "yes" { // no is an exit status of 1
			found = append(found, wrong(fmt.Sprintf("the firewall firewalld is active and lets nobody in to port %v", o), "firewall-cmd --permanent "+add+" && firewall-cmd --reload"))
		}
	}
	return orWell(found, "firewalld lets clients in"), true
}

// nft reads the kernel's rules. They can be anything, so it only reports those that drop everything by default if no
// rule names the port.
func (e *exam) nft(ctx context.Context, needed []opening) (found []Finding, has bool) {
	out, err := e.Tool(ctx, "nft", "list", "ruleset")
	if err != nil {
		return e.unread("nft", out, err)
	}
	if !regexp.MustCompile(`hook input [^\n]*policy drop`).MatchString(out) {
		return nil, false
	}
	for _, o := range needed {
		if !accepts(out, o) {
			found = append(found, wrong(fmt.Sprintf("the kernel's firewall drops what no rule accepts, and no rule names port %v", o),
				fmt.Sprintf("nft add rule TABLE input %s dport %d accept (nft list ruleset shows the tables; write it to /etc/nftables.conf too)", o.proto, o.port)))
		}
	}
	return orWell(found, "nftables has rules for the ports"), true
}

// accepts reports whether an accepting rule names a port, by itself or in a set.
func accepts(rules string, o opening) bool {
	for line := range strings.Lines(rules) {
		_, ports, names := strings.Cut(line, o.proto+" dport ")
		if !names || !strings.Contains(ports, "accept") {
			continue
		}
		ports, _, _ = strings.Cut(ports, "accept")
		for _, one := range strings.FieldsFunc(ports, func(r rune) bool { return strings.ContainsRune(" {},", r) }) {
			low, high, isRange := strings.Cut(one, "-")
			from, err := strconv.Atoi(low)
			to := from
			if isRange && err == nil {
				to, err = strconv.Atoi(high)
			}
			if err == nil && from <= o.port && o.port <= to {
				return true
			}
		}
	}
	return false
}

// unread says that a firewall is there and could not be asked, if so.
func (e *exam) unread(tool, out string, err error) ([]Finding, bool) {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && regexp.MustCompile(`(?i)root|permission|not permitted|not authorized`).MatchString(out) {
		return well("not looked at: " + tool + " answers the administrator alone"), true
	}
	return nil, false
}

// netsh checks for the rule that `app install` adds. The output of netsh is in the system's language; its exit status
// is not.
func (e *exam) netsh(ctx context.Context, needed []opening) []Finding {
	out, err := e.Tool(ctx, "netsh", "advfirewall", "firewall", "show", "rule", "name="+service.FirewallRule)
	switch exit := (*exec.ExitError)(nil); {
	case errors.Is(err, exec.ErrNotFound):
		return well("not looked at: there is no netsh")
	case err != nil && !errors.As(err, &exit):
		return well("not looked at: " + err.Error())
	}
	var found []Finding
	for _, o := range needed {
		if err == nil && regexp.MustCompile(fmt.Sprintf(`\b%d\b`, o.port)).MatchString(out) {
			continue
		}
		found = append(found, wrong(fmt.Sprintf("Windows' firewall has no rule %q that lets clients in to port %v", service.FirewallRule, o),
			fmt.Sprintf("netsh advfirewall firewall add rule name=%q dir=in action=allow protocol=%s localport=%d", service.FirewallRule, strings.ToUpper(o.proto), o.port)))
	}
	return orWell(found, "Windows' firewall has the rule "+service.FirewallRule)
}

// names looks whether the machine knows itself, and whether the appliance's name leads here.
func (e *exam) names(ctx context.Context) []Finding {
	own, err := e.Addrs()
	if err != nil {
		return well("not looked at: " + err.Error())
	}
	isOwn := func(a netip.Addr) bool {
		return a.Unmap().IsLoopback() || slices.Contains(own, a.Unmap().WithZone(""))
	}
	var found []Finding
	host, err := e.Hostname()
	if err != nil {
		return well("not looked at: " + err.Error())
	}
	if list, err := e.Lookup(ctx, host); err != nil || !slices.ContainsFunc(list, isOwn) {
		problem := fmt.Sprintf("this machine's own name %s cannot be resolved", host)
		if err == nil {
			problem = fmt.Sprintf("this machine's own name %s leads to %v, which is another machine", host, list)
		}
		fix := "echo '127.0.1.1 " + host + "' >>/etc/hosts"
		if e.OS == "windows" {
			fix = "ipconfig /registerdns"
		}
		found = append(found, wrong(problem, fix))
	}
	if !e.MDNS || !e.Running || !beyond(e.Listen) || e.lan() == "" {
		return orWell(found, host+" leads here")
	}
	name := e.Name + ".local"
	if label, _, _ := strings.Cut(strings.ToLower(host), "."); label == e.Name {
		return append(found, wrong(fmt.Sprintf("the appliance's name %s is this machine's own, so the service leaves it to the operating system to answer to it", name), "give the appliance another in app.yaml: name: LABEL"))
	}
	switch who, err := e.Ask(ctx, e.Name); {
	case err != nil:
		found = append(found, Finding{OK: true, Note: fmt.Sprintf("who is %s could not be asked: %v", name, err)})
	case !who.IsValid():
		found = append(found, wrong("nothing answers to "+name+" on the network, so devices cannot find the appliance by it", "let UDP port 5353 through the firewall, and see the log for why the service does not answer: "+e.logs()))
	case !isOwn(who):
		found = append(found, wrong(fmt.Sprintf("another device, %v, answers to %s", who, name), "give one of the two another name; here in app.yaml: name: LABEL"))
	}
	return orWell(found, name+" leads here")
}

// logs returns the command that shows the service's log.
func (e *exam) logs() string {
	if e.OS == "windows" {
		return "wevtutil qe Application /rd:true /f:text /c:20 /q:\"*[System[Provider[@Name='app']]]\""
	}
	return "journalctl -u app -n 50"
}

package mdns

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// A test's network is made of processes, each in a network namespace of its own: appliances that answer, and one
// device that asks and has the bridge between them. No packet leaves them.

// testPoll is how often appliances look at their interfaces in tests.
const testPoll = 200 * time.Millisecond

// runRole plays the part that the test that started this process gave it, if it did.
func runRole() bool {
	role := os.Getenv("MDNS_TEST_ROLE")
	lines := bufio.NewScanner(os.Stdin)
	switch role {
	case "":
		return false
	case "appliance":
		fmt.Println("ready")
		lines.Scan() // the network is there, or is meant not to be
		r := start(Config{Name: "opsmon", Log: slog.New(slog.NewTextHandler(os.Stdout, nil))}, testPoll)
		lines.Scan()
		r.Close()
		fmt.Println("closed")
		lines.Scan()
	case "asker":
		fmt.Println("ready")
		for lines.Scan() {
			if name, simply := strings.CutPrefix(lines.Text(), "who is "); simply {
				fmt.Println(Ask(context.Background(), name))
				continue
			}
			fmt.Println(ask(strings.Fields(lines.Text())))
		}
	}
	return true
}

// ask sends one question and gives the answers that come within a while: "A 10.77.0.2 multicast ttl 120". how holds
// the family, the kind of record, the name, and how to ask: multicast from port 5353, legacy from another one.
func ask(how []string) string {
	family, record, name, way := how[0], how[1], how[2], how[3]
	port := 5353
	if way == "legacy" {
		port = 0
	}
	group, any := &net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: 5353}, &net.UDPAddr{IP: net.IPv4zero, Port: port}
	if family == "udp6" {
		group, any = &net.UDPAddr{IP: net.ParseIP("ff02::fb"), Port: 5353, Zone: "br0"}, &net.UDPAddr{IP: net.IPv6unspecified, Port: port}
	}
	c, err := net.ListenUDP(family, any)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	bridge, err := net.InterfaceByName("br0")
	if err != nil {
		return err.Error()
	}
	if family == "udp6" {
		p := ipv6.NewPacketConn(c)
		err = firstOf(p.JoinGroup(bridge, group), p.SetMulticastInterface(bridge), p.SetMulticastLoopback(false))
	} else {
		p := ipv4.NewPacketConn(c)
		err = firstOf(p.JoinGroup(bridge, group), p.SetMulticastInterface(bridge), p.SetMulticastLoopback(false))
	}
	if err != nil {
		return err.Error()
	}
	kind := map[string]dnsmessage.Type{"A": dnsmessage.TypeA, "AAAA": dnsmessage.TypeAAAA}[record]
	question := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 4711},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}},
	}
	packet, err := question.Pack()
	if err != nil {
		return err.Error()
	}
	if _, err := c.WriteTo(packet, group); err != nil {
		return err.Error()
	}
	var answers []string
	deadline := time.Now().Add(150 * time.Millisecond)
	buffer := make([]byte, 9000)
	for {
		_ = c.SetReadDeadline(deadline)
		n, _, err := c.ReadFrom(buffer)
		if err != nil {
			break
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:n]) != nil || !m.Response {
			continue
		}
		for _, a := range m.Answers {
			var addr netip.Addr
			switch body := a.Body.(type) {
			case *dnsmessage.AResource:
				addr = netip.AddrFrom4(body.A)
			case *dnsmessage.AAAAResource:
				addr = netip.AddrFrom16(body.AAAA)
			}
			answers = append(answers, fmt.Sprintf("%s %v %v ttl %d id %d", a.Header.Name, a.Header.Type, addr, a.Header.TTL, m.ID))
		}
	}
	return strings.Join(answers, ", ")
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// player is a process in a namespace of its own.
type player struct {
	t     *testing.T
	pid   int
	in    io.WriteCloser
	lines chan string
}

func play(t *testing.T, role string) *player {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(cmd.Environ(), "MDNS_TEST_ROLE="+role)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &player{t: t, pid: cmd.Process.Pid, in: in, lines: make(chan string, 1000)}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		in.Close()
		for range p.lines {
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	})
	p.hear("ready")
	p.run("ip", "link", "set", "lo", "up")
	return p
}

// run runs a program in the player's namespace.
func (p *player) run(command ...string) {
	p.t.Helper()
	out, err := exec.Command("nsenter", append([]string{"-t", strconv.Itoa(p.pid), "-n"}, command...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%v: %v %s", command, err, out)
	}
}

func (p *player) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// hear waits for a line with a text in it.
func (p *player) hear(text string) string {
	p.t.Helper()
	late := time.After(time.Minute)
	var heard []string
	for {
		select {
		case line, more := <-p.lines:
			if !more {
				p.t.Fatalf("ended without %q:\n%s", text, strings.Join(heard, "\n"))
			}
			if strings.Contains(line, text) {
				return line
			}
			heard = append(heard, line)
		case <-late:
			p.t.Fatalf("%q is not heard:\n%s", text, strings.Join(heard, "\n"))
		}
	}
}

func (p *player) ask(question string) string {
	p.t.Helper()
	p.say(question)
	return p.hear("")
}

// network makes the asker with its bridge.
func network(t *testing.T) *player {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root makes network namespaces")
	}
	asker := play(t, "asker")
	asker.run("ip", "link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
	asker.run("ip", "link", "set", "br0", "up")
	asker.run("ip", "addr", "add", "10.77.0.1/24", "dev", "br0")
	asker.run("ip", "addr", "add", "fd77::1/64", "dev", "br0", "nodad")
	return asker
}

// join connects a player with the bridge by an interface, and gives it addresses there.
func (p *player) join(asker *player, name string, addresses ...string) {
	p.t.Helper()
	peer := "port" + strconv.Itoa(p.pid)
	asker.run("ip", "link", "add", peer, "type", "veth", "peer", "name", name, "netns", strconv.Itoa(p.pid))
	asker.run("ip", "link", "set", peer, "master", "br0", "up")
	for _, a := range addresses {
		options := []string{"ip", "addr", "add", a, "dev", name}
		if strings.Contains(a, ":") {
			options = append(options, "nodad")
		}
		p.run(options...)
	}
	p.run("ip", "link", "set", name, "up")
}

// until asks until there is an answer with a text, or, where the text is "", none at all.
func (p *player) until(question, want string) {
	p.t.Helper()
	last := ""
	for range 30 {
		if last = p.ask(question); want != "" && strings.Contains(last, want) || want == last {
			return
		}
	}
	p.t.Errorf("%s: %q is not answered, but %q", question, want, last)
}

func TestAnApplianceOnTheNetwork(t *testing.T) {
	t.Parallel()
	asker := network(t)
	a := play(t, "appliance")
	a.say("go")
	a.hear("there is no network") // the cable comes later
	a.join(asker, "eth0", "10.77.0.2/24", "fd77::2/64")
	a.hear("answering to the appliance's name")

	asker.until("udp4 A opsmon.local. multicast", "opsmon.local. TypeA 10.77.0.2 ttl 120")
	asker.until("udp4 AAAA opsmon.local. multicast", "TypeAAAA fd77::2 ttl 120")
	asker.until("udp6 A opsmon.local. multicast", "TypeA 10.77.0.2 ttl 120")
	asker.until("udp6 AAAA opsmon.local. multicast", "TypeAAAA fd77::2 ttl 120")
	asker.until("udp4 A OPSMON.Local. multicast", "TypeA 10.77.0.2")
	if got := asker.ask("who is opsmon"); got != "10.77.0.2 <nil>" && got != "fd77::2 <nil>" {
		t.Errorf("who is opsmon: %s", got)
	}
	if got := asker.ask("who is other"); got != "invalid IP <nil>" {
		t.Errorf("who is other: %s", got)
	}
	asker.until("udp4 A opsmon.local. legacy", "TypeA 10.77.0.2 ttl 120 id 4711") // as programs without a responder ask
	for _, question := range []string{"udp4 A other.local. multicast", "udp4 A opsmon.local.example. multicast", "udp4 A opsmon. legacy"} {
		if got := asker.ask(question); got != "" {
			t.Errorf("%s: %s", question, got)
		}
	}

	// Another address, a second network, no address.
	a.run("ip", "addr", "del", "10.77.0.2/24", "dev", "eth0")
	a.run("ip", "addr", "add", "10.77.0.44/24", "dev", "eth0")
	asker.until("udp4 A opsmon.local. multicast", "TypeA 10.77.0.44")
	if got := asker.ask("udp4 A opsmon.local. multicast"); strings.Contains(got, "10.77.0.2 ") {
		t.Errorf("the old address is still told: %s", got)
	}
	a.run("ip", "link", "add", "eth1", "type", "veth", "peer", "name", "far")
	a.run("ip", "link", "set", "far", "up")
	a.run("ip", "link", "set", "eth1", "up")
	a.run("ip", "addr", "add", "10.88.0.2/24", "dev", "eth1")
	a.hear("10.88.0.2/24")
	asker.until("udp4 A opsmon.local. multicast", "TypeA 10.77.0.44")
	if got := asker.ask("udp4 A opsmon.local. multicast"); strings.Contains(got, "10.88") {
		t.Errorf("the address on another network is told: %s", got)
	}
	a.run("ip", "link", "set", "eth0", "down")
	asker.until("udp4 A opsmon.local. multicast", "")
	a.run("ip", "link", "set", "eth0", "up")
	asker.until("udp4 A opsmon.local. multicast", "TypeA 10.77.0.44")

	a.say("close")
	a.hear("closed")
	if got := asker.ask("udp4 A opsmon.local. multicast"); got != "" {
		t.Errorf("closed, it answers %s", got)
	}
}

func TestTwoAppliancesOfOneName(t *testing.T) {
	t.Parallel()
	asker := network(t)
	first, second := play(t, "appliance"), play(t, "appliance")
	first.join(asker, "eth0", "10.77.0.2/24", "fd77::2/64")
	first.say("go")
	first.hear("answering to the appliance's name")
	asker.until("udp4 A opsmon.local. multicast", "10.77.0.2")
	second.join(asker, "eth0", "10.77.0.3/24", "fd77::3/64")
	second.say("go")
	second.hear("another device answers to the appliance's name")
	if got := asker.ask("udp4 A opsmon.local. multicast"); !strings.Contains(got, "10.77.0.2") || strings.Contains(got, "10.77.0.3") {
		t.Errorf("answered is %s", got)
	}
	first.say("close")
	first.hear("closed")
	asker.until("udp4 A opsmon.local. multicast", "10.77.0.3") // the name is free
}

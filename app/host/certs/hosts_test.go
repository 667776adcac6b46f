package certs

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNamesThatTheAuthorityMayNotVouchFor(t *testing.T) {
	p := newPlant()
	dir := t.TempDir()
	p.open(t, dir).Close()
	p.mu.Lock()
	p.names = []string{"other", "other.local", "_bad-.x", "", "10.1.1.1", "müller", "Line_3.LAN."}
	p.mu.Unlock()
	p.move("203.0.113.7", "10.0.0.5", "fe80::7%eth0", "::", "224.0.0.1", "::ffff:10.0.0.6")
	a := p.open(t, dir)
	names, addresses := a.Hosts()
	if diff := cmp.Diff([]string{"line_3.lan", "localhost", "opsmon", "opsmon.local", "other.local"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(addrs("10.0.0.5", "10.0.0.6", "127.0.0.1", "::1", "fe80::7"), addresses, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	a.refresh()
	if n := strings.Count(p.logged(), "leaves out other, 203.0.113.7, since"); n != 1 {
		t.Errorf("the log tells of what is left out %d times:\n%s", n, p.logged())
	}
	met(t, serve(t, a.TLS()), "other.local", a.CA(), today)
	if list := a.Problems(); len(list) != 1 || !strings.Contains(list[0], "leaves out other, 203.0.113.7, since") || !strings.Contains(list[0], "delete ca.crt and ca.key in "+dir) {
		t.Errorf("problems: %q", list)
	}
	p.move("10.0.0.5")
	p.mu.Lock()
	p.names = nil
	p.mu.Unlock()
	a.refresh()
	if list := a.Problems(); len(list) != 0 {
		t.Errorf("problems where all is well: %q", list)
	}
}

func TestTheMachinesOwnNamesAndAddresses(t *testing.T) {
	a, err := Open(Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	address := serve(t, a.TLS())
	found, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range found {
		met(t, address, netip.MustParsePrefix(one.String()).Addr().String(), a.CA(), time.Now())
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	met(t, address, name, a.CA(), time.Now())
}

func TestHostNames(t *testing.T) {
	for _, tt := range []struct {
		name, resolver string
		want           []string
	}{
		{"plantpc", "", []string{"plantpc", "plantpc", "plantpc.local"}},
		{"plantpc", "nameserver 10.0.0.1\nsearch works.example. other.example\n", []string{"plantpc", "plantpc", "plantpc.local", "plantpc.works.example"}},
		{"plantpc", "domain a.example\nsearch b.example\n", []string{"plantpc", "plantpc", "plantpc.local", "plantpc.b.example"}},
		{"plantpc", "search .\n#search x.example", []string{"plantpc", "plantpc", "plantpc.local"}},
		{"plantpc.works.example", "search b.example", []string{"plantpc.works.example", "plantpc", "plantpc.local"}},
	} {
		if diff := cmp.Diff(tt.want, hostNames(tt.name, searchDomain(tt.resolver))); diff != "" {
			t.Errorf("%q %q: %s", tt.name, tt.resolver, diff)
		}
	}
}

func TestReachable(t *testing.T) {
	names := []string{"localhost", "opsmon", "opsmon.local", "plantpc", "plantpc.local"}
	for _, tt := range []struct {
		addrs, first string
		want         []string
	}{
		{"10.0.0.5 127.0.0.1 172.17.0.1 192.168.7.20 198.51.100.9 ::1 fd00::5 fe80::5", "192.168.7.20", []string{"192.168.7.20", "opsmon.local", "plantpc", "10.0.0.5", "198.51.100.9", "172.17.0.1", "fd00::5"}},
		{"127.0.0.1 172.17.0.1 172.20.3.4 ::1", "172.20.3.4", []string{"172.20.3.4", "opsmon.local", "plantpc", "172.17.0.1"}},
		{"127.0.0.1 172.17.0.1 192.168.7.20", "", []string{"192.168.7.20", "opsmon.local", "plantpc", "172.17.0.1"}},
		{"127.0.0.1 169.254.1.1 ::1 fd00::5", "", []string{"opsmon.local", "plantpc", "fd00::5"}},
	} {
		first := netip.Addr{}
		if tt.first != "" {
			first = netip.MustParseAddr(tt.first)
		}
		if diff := cmp.Diff(tt.want, reachable(names, addrs(strings.Fields(tt.addrs)...), "opsmon.local", first)); diff != "" {
			t.Errorf("%s: %s", tt.addrs, diff)
		}
	}
	a := newPlant().open(t, t.TempDir())
	if diff := cmp.Diff([]string{"192.168.7.20", "opsmon.local", "plantpc", "plantpc.works.example", "fd00:7::20"}, a.Reachable()); diff != "" {
		t.Error(diff)
	}
}

func TestWrongNames(t *testing.T) {
	for _, name := range []string{"Ops", "ops.local", "-ops", "ops-", "o ps", "ö", strings.Repeat("a", 64)} {
		dir := filepath.Join(t.TempDir(), "tls")
		if a, err := Open(Config{Dir: dir, Name: name}); err == nil {
			a.Close()
			t.Errorf("%q is taken", name)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q made a directory", name)
		}
	}
}

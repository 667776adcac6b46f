package certs

import (
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
)

// machine returns a function that returns the machine's names and addresses. It only uses local knowledge: asking a
// name server can take long if there is none.
func machine() func() ([]string, []netip.Addr) {
	var last []netip.Addr // used if the system does not answer
	return func() ([]string, []netip.Addr) {
		if found, err := net.InterfaceAddrs(); err == nil {
			last = last[:0:0]
			for _, one := range found {
				if p, err := netip.ParsePrefix(one.String()); err == nil {
					last = append(last, p.Addr())
				}
			}
		}
		name, err := os.Hostname()
		if err != nil {
			return nil, last
		}
		domain := ""
		if runtime.GOOS != "windows" {
			if text, err := os.ReadFile("/etc/resolv.conf"); err == nil {
				domain = searchDomain(string(text))
			}
		}
		return append(hostNames(name, domain), fullNames()...), last
	}
}

// hostNames returns the names that a machine goes by: its own with and without a domain, and the one that its operating
// system answers to on the local network.
func hostNames(name, domain string) []string {
	label, _, qualified := strings.Cut(name, ".")
	names := []string{name, label, label + ".local"}
	if !qualified && domain != "" {
		names = append(names, label+"."+domain)
	}
	return names
}

// outward returns the address that the machine uses towards other networks. Nothing is sent. The zero address is for
// machines that know no way out of their network.
func outward() netip.Addr {
	c, err := net.Dial("udp4", "192.0.2.1:9") // an address that nobody has (RFC 5737)
	if err != nil {
		return netip.Addr{}
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr()
}

// Reachable returns the names and addresses by which other machines reach this one, as Auto.Reachable does, for
// services that have no certificate. label is the appliance's.
func Reachable(label string) []string {
	names, addrs := machine()()
	return reachable(tidyNames(names), tidyAddrs(addrs), label+".local", outward())
}

// Machine returns the names and addresses of this machine, that of the appliance with this label among them.
func Machine(label string) ([]string, []netip.Addr) {
	names, addrs := machine()()
	return tidyNames(append(names, label, label+".local")), tidyAddrs(addrs)
}

// reachable orders the names and addresses that other machines can use: the first address, the first name, further
// names and further addresses. Networks in 172.16.0.0/12 come late, since most are between a machine and its own
// containers. Further names of one label below .local are left out: only the machine's operating system could answer to
// them, and many do not.
func reachable(names []string, addrs []netip.Addr, name string, first netip.Addr) []string {
	inner := netip.MustParsePrefix("172.16.0.0/12")
	rank := func(addr netip.Addr) int {
		switch {
		case addr == first:
			return 0
		case addr.Is4() && addr.IsPrivate() && !inner.Contains(addr):
			return 1
		case addr.Is4() && !inner.Contains(addr):
			return 2
		case addr.Is4():
			return 3
		}
		return 4
	}
	addrs = slices.DeleteFunc(slices.Clone(addrs), func(addr netip.Addr) bool { return addr.IsLoopback() || addr.IsLinkLocalUnicast() })
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return rank(a) - rank(b) })
	label := strings.TrimSuffix(name, ".local") // only a name server's entry would find it without
	names = slices.DeleteFunc(slices.Clone(names), func(one string) bool {
		return one == name || one == label || one == "localhost" || strings.HasSuffix(one, ".local") && strings.Count(one, ".") == 1
	})
	list := append([]string{name}, names...)
	for i, addr := range addrs {
		at := len(list)
		if i == 0 && addr.Is4() {
			at = 0
		}
		list = slices.Insert(list, at, addr.String())
	}
	return list
}

// searchDomain returns the first domain in which the machine looks up short names (resolv.conf(5)), "" if there is
// none.
func searchDomain(text string) string {
	found := ""
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) > 1 && (fields[0] == "search" || fields[0] == "domain") {
			found = strings.Trim(fields[1], ".") // the last line counts
		}
	}
	return found
}

// tidyNames returns names in the form for certificates, sorted and without duplicates. It drops names that no host can
// have.
func tidyNames(names []string) []string {
	var out []string
	for _, name := range names {
		name = strings.TrimSuffix(strings.ToLower(name), ".")
		if _, err := netip.ParseAddr(name); err != nil && IsHostName(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// tidyAddrs does the same with addresses. Those that no client can connect to are left out.
func tidyAddrs(addrs []netip.Addr) []netip.Addr {
	var out []netip.Addr
	for _, addr := range addrs {
		addr = addr.Unmap().WithZone("")
		if addr.IsValid() && !addr.IsUnspecified() && !addr.IsMulticast() {
			out = append(out, addr)
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}

// IsHostName reports whether a name, in lower case, can stand in a certificate: labels of letters, digits, hyphens
// and the underscores that Windows allows.
func IsHostName(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if !IsLabel(strings.ReplaceAll(label, "_", "0")) {
			return false
		}
	}
	return true
}

// IsLabel reports whether a text is a label of a host's name (RFC 1123 section 2.1), in lower case.
func IsLabel(text string) bool {
	if text == "" || len(text) > 63 || text[0] == '-' || text[len(text)-1] == '-' {
		return false
	}
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

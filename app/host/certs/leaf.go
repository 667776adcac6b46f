package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/netip"
	"slices"
	"time"
)

// leafLife is how long a certificate is valid. Browsers refuse those of more than 398 days, also from authorities
// that people installed; 397 days are what public authorities keep to.
const leafLife = 397 * 24 * time.Hour

// leaf is a certificate that the service answers with. It is not changed once it is made.
type leaf struct {
	tls   tls.Certificate
	names []string
	addrs []netip.Addr
}

// has reports whether the certificate is for the address that a connection came to, as far as that is known.
func (l *leaf) has(c net.Conn) bool {
	if c == nil {
		return true
	}
	at, ok := c.LocalAddr().(*net.TCPAddr)
	return !ok || slices.Contains(l.addrs, at.AddrPort().Addr().Unmap().WithZone(""))
}

// believe returns the time to use: the clock's, but not before the authority was made and not after its end.
func (a *authority) believe(clock time.Time) time.Time {
	if first := a.cert.NotBefore.Add(backdate); clock.Before(first) {
		return first
	}
	if clock.After(a.cert.NotAfter) {
		return a.cert.NotAfter
	}
	return clock
}

// issue makes a certificate for names and addresses, and a key for it.
func (a *authority) issue(clock time.Time, names []string, addrs []netip.Addr) (*leaf, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	from := a.believe(clock).Add(-backdate).UTC().Truncate(time.Second)
	to := from.Add(leafLife - time.Second) // the last second counts
	if to.After(a.cert.NotAfter) {
		to = a.cert.NotAfter
	}
	ips := make([]net.IP, len(addrs))
	for i, addr := range addrs {
		ips[i] = addr.AsSlice()
	}
	template := &x509.Certificate{ // the serial number is random by default
		Subject:               pkix.Name{Organization: []string{"opsmon"}, CommonName: commonName(names)},
		NotBefore:             from,
		NotAfter:              to,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		DNSNames:              names,
		IPAddresses:           ips,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &leaf{tls: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: cert}, names: names, addrs: addrs}, nil
}

// commonName returns the first name of at most 64 characters, the limit of a subject's name. Clients do not use it.
func commonName(names []string) string {
	if i := slices.IndexFunc(names, func(name string) bool { return len(name) <= 64 }); i >= 0 {
		return names[i]
	}
	return "opsmon"
}

// stale returns why a certificate must be replaced, "" if it is still right.
func (a *authority) stale(l *leaf, clock time.Time, names []string, addrs []netip.Addr) string {
	cert := l.tls.Leaf
	switch now := a.believe(clock); {
	case !slices.Equal(l.names, names) || !slices.Equal(l.addrs, addrs):
		return "the names or addresses of the machine changed"
	case !a.timely(l, clock):
		return "the clock shows a time that the last one does not hold"
	case now.After(cert.NotAfter.Add(-cert.NotAfter.Sub(cert.NotBefore)/3)) && cert.NotAfter.Before(a.cert.NotAfter):
		return "a third of the last one's time is left"
	}
	return ""
}

// timely reports whether the time that is believed is within the certificate's.
func (a *authority) timely(l *leaf, clock time.Time) bool {
	now := a.believe(clock)
	return !now.Before(l.tls.Leaf.NotBefore) && !now.After(l.tls.Leaf.NotAfter)
}

package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The authority's files in Config.Dir: PEM, readable by the service's user alone. The certificate is no secret; whoever
// has the key can pose as the appliance to every device that trusts it.
const (
	CAFile    = "ca.crt"
	CAKeyFile = "ca.key"
)

const (
	caYears  = 10
	backdate = 24 * time.Hour // clocks differ, and a machine set to another zone by mistake is half a day off
)

// youngest is when this program was written: a clock that shows less is wrong.
var youngest = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// CA is the authority's certificate, which is for everybody to see. The zero value is not usable.
type CA struct {
	cert *x509.Certificate
}

// ReadCA reads the authority's certificate from its directory, whether or not the service runs. Errors: os.ErrNotExist
// if there is none yet; a file without an authority's certificate.
func ReadCA(dir string) (*CA, error) {
	name := filepath.Join(dir, CAFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	cert, err := parseCA(text)
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return &CA{cert}, nil
}

func parseCA(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("holds no certificate in PEM")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("holds a damaged certificate: %w", err)
	}
	if !cert.IsCA {
		return nil, errors.New("holds a certificate that may not issue others")
	}
	return cert, nil
}

// DER returns the certificate as devices install it. Its SHA-256 is the fingerprint. The caller must not change it.
func (c *CA) DER() []byte { return c.cert.Raw }

// PEM returns the certificate as text.
func (c *CA) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.cert.Raw})
}

// Fingerprint returns the SHA-256 of the certificate in the usual form, 32 pairs of hexadecimal digits in capitals with
// colons between: what people compare before they trust it.
func (c *CA) Fingerprint() string { return fingerprint(c.cert.Raw) }

func fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	pairs := make([]string, len(sum))
	for i, b := range sum {
		pairs[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(pairs, ":")
}

// Name returns the name under which devices list the authority.
func (c *CA) Name() string { return c.cert.Subject.CommonName }

// Expires returns the end of the authority's time. Nothing renews it: a new authority has to be trusted by each device
// anew, so a person decides when, by deleting ca.crt and ca.key and starting the service again.
func (c *CA) Expires() time.Time { return c.cert.NotAfter }

// lastYear is how long before the authority's end that end is a problem: many devices have to trust a new one by then.
const lastYear = 365 * 24 * time.Hour

// Problems returns the problems of an authority at a time, as sentences for people that say what to do; none if all is
// well.
func (c *CA) Problems(now time.Time, dir string) []string {
	switch end := c.cert.NotAfter; {
	case now.Before(c.cert.NotBefore):
		return []string{fmt.Sprintf("the clock shows %s, before the certificate authority was made on %s: set the clock; if it was wrong then and is right now, %s", day(now), day(c.cert.NotBefore), anew(dir))}
	case now.After(end):
		return []string{fmt.Sprintf("the certificate authority ended on %s, and devices refuse it: %s", day(end), anew(dir))}
	case now.After(end.Add(-lastYear)):
		return []string{fmt.Sprintf("the certificate authority ends on %s: before that, %s", day(end), anew(dir))}
	}
	return nil
}

// anew returns the instructions for a new authority.
func anew(dir string) string {
	return fmt.Sprintf("delete %s and %s in %s and start the service again, after which every device has to trust the new authority", CAFile, CAKeyFile, dir)
}

// authority is a CA with its key.
type authority struct {
	CA
	key crypto.Signer
}

// openAuthority loads the authority, or creates it. The key is written first, so that a certificate without its key
// means that the key was lost, and not that the process was killed.
func openAuthority(d disk, now time.Time, label string, names []string, addrs []netip.Addr, log *slog.Logger) (*authority, error) {
	advice := fmt.Sprintf("bring %s and %s back from a backup, or delete both to make a new authority, which every device has to trust anew", CAFile, CAKeyFile)
	key, err := readKey(d.path(CAKeyFile))
	missing := errors.Is(err, os.ErrNotExist)
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("%w; give the files in %s to the user that the service runs as", err, d.dir)
	}
	if err != nil && !missing {
		return nil, fmt.Errorf("%s: %w; %s", d.path(CAKeyFile), err, advice)
	}
	ca, err := ReadCA(d.dir)
	switch {
	case err == nil && missing:
		return nil, fmt.Errorf("%s is there and its key %s is not; %s", d.path(CAFile), CAKeyFile, advice)
	case err == nil:
		if !belongs(key, ca.cert) {
			return nil, fmt.Errorf("the key %s does not belong to the certificate %s; %s", d.path(CAKeyFile), CAFile, advice)
		}
		return loaded(d, &authority{*ca, key}, now, log)
	case !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%w; %s", err, advice)
	}
	if missing {
		if key, err = writeKey(d); err != nil {
			return nil, fmt.Errorf("write the authority's key: %w", err)
		}
	}
	cert, err := makeCA(key, now, label, names, addrs)
	if err != nil {
		return nil, fmt.Errorf("make the authority's certificate: %w", err)
	}
	made := &authority{CA{cert}, key}
	if err := d.write(CAFile, made.PEM()); err != nil {
		return nil, fmt.Errorf("write the authority's certificate: %w", err)
	}
	log.Info("made a certificate authority", slog.String("name", made.Name()), slog.String("fingerprint", made.Fingerprint()), slog.Time("expires", made.Expires()))
	return made, nil
}

// loaded logs the problems of an authority that existed.
func loaded(d disk, a *authority, now time.Time, log *slog.Logger) (*authority, error) {
	for _, name := range []string{CAFile, CAKeyFile} {
		changed, err := d.private(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.path(name), err)
		}
		if changed && name == CAKeyFile {
			log.Warn("other users of this machine could read the authority's key; now they cannot, but one of them may have a copy", slog.String("file", d.path(name)))
		}
	}
	return a, nil
}

func readKey(path string) (crypto.Signer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("it holds no key in PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it holds a damaged key") // the library's error may show parts of the key
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("it holds a key that cannot sign")
	}
	return signer, nil
}

func writeKey(d disk) (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return key, d.write(CAKeyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// belongs reports whether a key is that of a certificate.
func belongs(key crypto.Signer, cert *x509.Certificate) bool {
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(cert.PublicKey)
}

// makeCA signs the authority's certificate with its own key. label is the appliance's; names and addrs are those of the
// machine in addition to those that every authority permits.
func makeCA(key crypto.Signer, now time.Time, label string, names []string, addrs []netip.Addr) (*x509.Certificate, error) {
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	// Two authorities of one name confuse clients that know both, so the key is in it.
	mark := sha256.Sum256(public)
	if now.Before(youngest) {
		now = youngest
	}
	from := now.Add(-backdate).UTC().Truncate(time.Second)
	template := &x509.Certificate{ // the serial number is random by default
		Subject:               pkix.Name{Organization: []string{"opsmon"}, CommonName: fmt.Sprintf("%.40s.local CA %s", label, hex.EncodeToString(mark[:3]))},
		NotBefore:             from,
		NotAfter:              from.AddDate(caYears, 0, 0).Add(-time.Second), // the last second counts
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true, MaxPathLen: 0, MaxPathLenZero: true,
		PermittedDNSDomainsCritical: true, // of the addresses too: they are one extension
		PermittedDNSDomains:         permittedNames(names),
		PermittedIPRanges:           permittedRanges(addrs),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// permittedNames returns the names that the authority may vouch for, and all below each.
func permittedNames(names []string) []string {
	list := []string{"localhost", "local", "lan", "internal", "home.arpa"}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(domain string) bool { return within(name, domain) }) {
			list = append(list, name)
		}
	}
	return list
}

func permittedRanges(addrs []netip.Addr) []*net.IPNet {
	prefixes := []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"),
		netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("169.254.0.0/16"),
		netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fc00::/7"), netip.MustParsePrefix("fe80::/10"),
	}
	for _, addr := range addrs {
		if slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			continue
		}
		bits := 64
		if addr.Is4() {
			bits = 24
		}
		if p, err := addr.Prefix(bits); err == nil { // it only fails for addresses with a zone
			prefixes = append(prefixes, p)
		}
	}
	ranges := make([]*net.IPNet, len(prefixes))
	for i, p := range prefixes {
		ranges[i] = &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
	}
	return ranges
}

// within reports whether a name is a domain or below it.
func within(name, domain string) bool { return name == domain || strings.HasSuffix(name, "."+domain) }

// permitsName reports whether clients that hold to the name constraints accept a name from this authority.
func (c *CA) permitsName(name string) bool {
	return slices.ContainsFunc(c.cert.PermittedDNSDomains, func(domain string) bool { return within(name, domain) })
}

// permitsAddr reports the same for an address.
func (c *CA) permitsAddr(addr netip.Addr) bool {
	return slices.ContainsFunc(c.cert.PermittedIPRanges, func(r *net.IPNet) bool { return r.Contains(addr.AsSlice()) })
}

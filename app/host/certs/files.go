package certs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"opsmon/app/host/namedfile"
)

// FilesConfig configures OpenFiles.
type FilesConfig struct {
	Cert  string           // file with the certificate first and then its issuers', PEM
	Key   string           // file with its key, PEM
	Clock func() time.Time // nil = time.Now
	Log   *slog.Logger     // nil = none
}

// pollFiles is how often the files are read.
const pollFiles = 5 * time.Second

// endsSoon is how long before its end a certificate counts as a problem. Most are renewed a month before.
const endsSoon = 14 * 24 * time.Hour

// Files answers with the plant's own certificate and follows its files. It may be used by many goroutines at once.
type Files struct {
	cfg     FilesConfig
	current atomic.Pointer[pair]
	stop    context.CancelFunc
	done    chan struct{}

	// Of the watch alone:
	refused [sha256.Size]byte // contents that could not be taken
	reason  string            // why
	said    bool              // the log has it
	told    time.Time         // when the problems were last logged
}

// pair is a certificate with its key, and the hash of the files that it came from.
type pair struct {
	tls tls.Certificate
	sum [sha256.Size]byte
}

// OpenFiles loads a certificate and its key, and reloads them when the files change, until Close. New files that cannot
// be used, or whose certificate is not valid now, are logged, and the old ones stay in use. Errors: a file that cannot
// be read or holds something else; a key that does not belong to the certificate. A certificate that browsers may
// refuse is no error, since the machine's clock may be wrong: see Problems, which are logged as well.
func OpenFiles(cfg FilesConfig) (*Files, error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	f := &Files{cfg: cfg, done: make(chan struct{})}
	cert, key, err := f.read()
	if err != nil {
		return nil, err
	}
	first, err := f.load(cert, key)
	if err != nil {
		return nil, err
	}
	f.current.Store(first)
	f.tell(cfg.Clock())
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	go f.watch(ctx)
	return f, nil
}

// Close ends the watch over the files. The certificate in use stays as it is.
func (f *Files) Close() {
	f.stop()
	<-f.done
}

// TLS returns a listener's configuration: TLS 1.2 or later with forward secrecy, HTTP/2, and the certificate that is in
// use when a client connects.
func (f *Files) TLS() *tls.Config {
	return configuration(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &f.current.Load().tls, nil })
}

// CA returns nil: the plant's own certificate has an issuer that others know.
func (f *Files) CA() *CA { return nil }

// Fingerprint returns the SHA-256 of the certificate in use, as CA.Fingerprint does.
func (f *Files) Fingerprint() string { return fingerprint(f.current.Load().tls.Leaf.Raw) }

// Hosts returns the names and addresses in the certificate in use. The caller must not change them.
func (f *Files) Hosts() ([]string, []netip.Addr) {
	cert := f.current.Load().tls.Leaf
	var addrs []netip.Addr
	for _, ip := range cert.IPAddresses {
		if addr, ok := netip.AddrFromSlice(ip); ok {
			addrs = append(addrs, addr.Unmap())
		}
	}
	return cert.DNSNames, addrs
}

// Reachable returns the names and addresses in the certificate in use by which other machines reach this one, names
// first. One with a wildcard is no name.
func (f *Files) Reachable() []string { return named(f.current.Load().tls.Leaf) }

// NamedIn returns what Files.Reachable would return for a certificate's file; nothing if the file cannot be read or
// holds something else.
func NamedIn(file string) []string {
	text, err := namedfile.Read(file)
	if err != nil {
		return nil
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil
		}
		return named(cert)
	}
	return nil
}

func named(cert *x509.Certificate) []string {
	var list []string
	for _, name := range cert.DNSNames {
		if name != "localhost" && !strings.Contains(name, "*") {
			list = append(list, name)
		}
	}
	for _, ip := range cert.IPAddresses {
		if !ip.IsLoopback() {
			list = append(list, ip.String())
		}
	}
	return list
}

// Expires returns the end of the time of the certificate in use.
func (f *Files) Expires() time.Time { return f.current.Load().tls.Leaf.NotAfter }

// Problems returns the problems of the current certificate, as sentences for people; none if all is well. Browsers may
// refuse it: it is expired or soon will be, not yet valid, not for servers, names no host, its issuers' certificates
// are missing or in the wrong order, or others can read its key.
func (f *Files) Problems() []string {
	now := f.cfg.Clock()
	cert := f.current.Load().tls
	list := untimely(cert.Leaf, now)
	if left := cert.Leaf.NotAfter.Sub(now); left >= 0 && left < endsSoon {
		list = append(list, "the certificate ends soon, on "+day(cert.Leaf.NotAfter))
	}
	if len(cert.Leaf.DNSNames)+len(cert.Leaf.IPAddresses) == 0 {
		list = append(list, "the certificate names no host among its alternative names, and browsers look nowhere else")
	}
	if usages := cert.Leaf.ExtKeyUsage; len(usages) > 0 && !slices.Contains(usages, x509.ExtKeyUsageServerAuth) && !slices.Contains(usages, x509.ExtKeyUsageAny) {
		list = append(list, "the certificate is not for servers")
	}
	if broken := chain(cert); broken != "" {
		list = append(list, broken)
	}
	if info, err := os.Stat(f.cfg.Key); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0 {
		list = append(list, fmt.Sprintf("every user of this machine can read the key %s: chmod o= %[1]s", f.cfg.Key))
	}
	return list
}

// untimely returns the problem of a certificate that is not valid now; none otherwise.
func untimely(cert *x509.Certificate, now time.Time) []string {
	switch {
	case now.After(cert.NotAfter):
		return []string{fmt.Sprintf("the certificate expired on %s; this machine's clock shows %s", day(cert.NotAfter), day(now))}
	case now.Before(cert.NotBefore):
		return []string{fmt.Sprintf("the certificate is not valid before %s; this machine's clock shows %s", day(cert.NotBefore), day(now))}
	}
	return nil
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// chain returns the problem of the certificates after the first. Whether devices trust the last one's issuer cannot be
// known here.
func chain(cert tls.Certificate) string {
	last := cert.Leaf
	for i, der := range cert.Certificate[1:] {
		issuer, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Sprintf("certificate %d of the file is damaged", i+2)
		}
		if last.CheckSignatureFrom(issuer) != nil {
			return fmt.Sprintf("certificate %d of the file is not the issuer of the one before it: the server's comes first, then each one's issuer", i+2)
		}
		last = issuer
	}
	if len(cert.Certificate) == 1 && !bytes.Equal(last.RawIssuer, last.RawSubject) {
		return fmt.Sprintf("the file holds one certificate and not that of its issuer %q: devices that do not trust this issuer itself will refuse it, so append the certificates between", last.Issuer.CommonName)
	}
	return ""
}

func (f *Files) read() (cert, key []byte, err error) {
	if cert, err = namedfile.Read(f.cfg.Cert); err != nil {
		return nil, nil, fmt.Errorf("read the certificate: %w", err)
	}
	if key, err = namedfile.Read(f.cfg.Key); err != nil {
		return nil, nil, fmt.Errorf("read the certificate's key: %w", err)
	}
	return cert, key, nil
}

// load makes a pair of the files' contents.
func (f *Files) load(cert, key []byte) (*pair, error) {
	if !holds(cert, func(kind string) bool { return kind == "CERTIFICATE" }) {
		return nil, fmt.Errorf("%s holds no certificate in PEM (a text with BEGIN CERTIFICATE)", f.cfg.Cert)
	}
	if holds(key, func(kind string) bool { return kind == "ENCRYPTED PRIVATE KEY" }) || bytes.Contains(key, []byte("Proc-Type: 4,ENCRYPTED")) {
		return nil, fmt.Errorf("the key %s is protected by a passphrase, which nobody types when the machine starts: take it off with openssl pkey -in %[1]s -out NEW", f.cfg.Key)
	}
	if !holds(key, func(kind string) bool { return strings.HasSuffix(kind, "PRIVATE KEY") }) {
		return nil, fmt.Errorf("%s holds no key in PEM (a text with BEGIN PRIVATE KEY)", f.cfg.Key)
	}
	made, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("the certificate %s and the key %s cannot be used together: %s", f.cfg.Cert, f.cfg.Key, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return &pair{tls: made, sum: sum(cert, key)}, nil
}

func holds(text []byte, want func(kind string) bool) bool {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return false
		}
		if want(block.Type) {
			return true
		}
		text = rest
	}
}

func sum(cert, key []byte) [sha256.Size]byte {
	a, b := sha256.Sum256(cert), sha256.Sum256(key)
	return sha256.Sum256(append(a[:], b[:]...))
}

func (f *Files) watch(ctx context.Context) {
	defer close(f.done)
	tick := time.NewTicker(pollFiles)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f.look()
		case <-ctx.Done():
			return
		}
	}
}

// look loads the files if their contents are new and good. It reads them whole, since they are small, and times and
// sizes may stay the same when the contents change. A failure is logged once, and only the second time in a row: the
// two files are never replaced at the same moment.
func (f *Files) look() {
	now := f.cfg.Clock()
	defer f.tell(now)
	var seen [sha256.Size]byte
	cert, key, err := f.read()
	if err == nil {
		seen = sum(cert, key)
		if seen == f.current.Load().sum {
			f.reason = ""
			return
		}
		var fresh *pair
		if fresh, err = f.load(cert, key); err == nil {
			if wrong := untimely(fresh.tls.Leaf, now); len(wrong) > 0 {
				err = errors.New(wrong[0])
			} else {
				f.current.Store(fresh)
				f.reason, f.told = "", time.Time{}
				f.cfg.Log.Info("took the new certificate", slog.String("file", f.cfg.Cert), slog.Time("expires", fresh.tls.Leaf.NotAfter))
				return
			}
		}
	}
	if seen != f.refused || f.reason == "" {
		f.refused, f.reason, f.said = seen, err.Error(), false
		return
	}
	if !f.said {
		f.said = true
		f.cfg.Log.Error("the new certificate cannot be taken; the last one stays in use", slog.String("error", f.reason))
	}
}

// tell logs the problems of the current certificate once a day.
func (f *Files) tell(now time.Time) {
	if now.Sub(f.told).Abs() < 24*time.Hour {
		return
	}
	f.told = now
	for _, problem := range f.Problems() {
		f.cfg.Log.Warn("browsers may refuse the certificate: "+problem, slog.String("file", f.cfg.Cert))
	}
}

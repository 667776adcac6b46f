package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// leafOptions say how a certificate of the plant's own differs from a good one.
type leafOptions struct {
	from, to time.Time // zero = a month ago, in a year
	rsa      bool
	client   bool // for clients
	nameless bool
	selfMade bool // signed by itself
}

// texts are a certificate, its issuer and its key in PEM.
type texts struct{ cert, issuer, key string }

func writeLeaf(t *testing.T, o leafOptions) texts {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if o.from.IsZero() {
		o.from = today.AddDate(0, -1, 0)
	}
	if o.to.IsZero() {
		o.to = today.AddDate(1, 0, 0)
	}
	root, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	var key crypto.Signer
	if o.rsa {
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	} else {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	must(err)
	issuer := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Works CA"}, NotBefore: today.AddDate(-1, 0, 0), NotAfter: today.AddDate(9, 0, 0),
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageCertSign,
	}
	issuerDER, err := x509.CreateCertificate(rand.Reader, issuer, issuer, root.Public(), root)
	must(err)
	parsed, err := x509.ParseCertificate(issuerDER)
	must(err)
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "opsmon.works.example"}, NotBefore: o.from, NotAfter: o.to,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"opsmon.works.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if o.client {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	if o.nameless {
		template.DNSNames, template.IPAddresses = nil, nil
	}
	by, with := parsed, crypto.Signer(root)
	if o.selfMade {
		by, with = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by, key.Public(), with)
	must(err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	must(err)
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return texts{cert: text("CERTIFICATE", der), issuer: text("CERTIFICATE", issuerDER), key: text("PRIVATE KEY", keyDER)}
}

// put writes two files as an operator does.
func put(t *testing.T, dir, cert, key string) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = filepath.Join(dir, "plant.crt"), filepath.Join(dir, "plant.key")
	for name, text := range map[string]string{certFile: cert, keyFile: key} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

func (p *plant) files(certFile, keyFile string) FilesConfig {
	return FilesConfig{Cert: certFile, Key: keyFile, Clock: p.clock, Log: slog.New(slog.NewTextHandler(p, nil))}
}

func TestThePlantsOwnCertificate(t *testing.T) {
	for _, kind := range []string{"ecdsa", "rsa"} {
		p := newPlant()
		own := writeLeaf(t, leafOptions{rsa: kind == "rsa"})
		f, err := OpenFiles(p.files(put(t, t.TempDir(), own.cert+own.issuer, own.key)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ca, err := parseCA([]byte(own.issuer))
		if err != nil {
			t.Fatal(err)
		}
		address := serve(t, f.TLS())
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			c, err := connect(address, "opsmon.works.example", &CA{ca}, today, func(cfg *tls.Config) { cfg.MaxVersion = version })
			if err != nil {
				t.Errorf("%s: %v", kind, err)
				continue
			}
			if state := c.ConnectionState(); state.Version != version || state.NegotiatedProtocol != "h2" || len(state.PeerCertificates) != 2 {
				t.Errorf("%s: version %x, protocol %q, %d certificates", kind, state.Version, state.NegotiatedProtocol, len(state.PeerCertificates))
			}
			c.Close()
		}
		if problems := f.Problems(); len(problems) > 0 {
			t.Errorf("%s: %v", kind, problems)
		}
		if !f.Expires().Equal(today.AddDate(1, 0, 0)) {
			t.Errorf("%s: ends %v", kind, f.Expires())
		}
		want := []string{"opsmon.works.example"} // loopback is for this machine alone
		if diff := cmp.Diff(want, f.Reachable()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want, NamedIn(f.cfg.Cert)); diff != "" {
			t.Error(diff)
		}
		if names, addrs := f.Hosts(); !slices.Equal(names, want) || len(addrs) != 1 || addrs[0].String() != "127.0.0.1" {
			t.Errorf("hosts: %v %v", names, addrs)
		}
		if got := append(NamedIn(f.cfg.Key), NamedIn(f.cfg.Cert+".old")...); len(got) > 0 {
			t.Errorf("named in no certificate: %v", got)
		}
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	own, other := writeLeaf(t, leafOptions{}), writeLeaf(t, leafOptions{})
	for _, tt := range []struct{ name, cert, key, says string }{
		{"another key", own.cert, other.key, "does not match"},
		{"issuer first", own.issuer + own.cert, own.key, "does not match"},
		{"swapped", own.key, own.cert, "plant.crt holds no certificate"},
		{"no key", own.cert, "", "plant.key holds no key"},
		{"key with a passphrase", own.cert, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", "passphrase"},
		{"old key with a passphrase", own.cert, "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n", "passphrase"},
		{"not PEM", "\x30\x82", own.key, "holds no certificate"},
		{"damaged", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", own.key, "cannot be used together"},
	} {
		cfg := newPlant().files(put(t, t.TempDir(), tt.cert, tt.key))
		f, err := OpenFiles(cfg)
		if err == nil {
			f.Close()
			t.Errorf("%s: opened", tt.name)
		} else if !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	cfg := newPlant().files(put(t, t.TempDir(), own.cert, own.key))
	for _, gone := range []string{cfg.Key, cfg.Cert} {
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFiles(cfg); err == nil || !strings.Contains(err.Error(), gone) {
			t.Errorf("without %s: %v", gone, err)
		}
	}
}

func TestProblemsAreSaidAtTheStart(t *testing.T) {
	good, other := writeLeaf(t, leafOptions{}), writeLeaf(t, leafOptions{})
	expired := writeLeaf(t, leafOptions{to: today.Add(-time.Hour)})
	early := writeLeaf(t, leafOptions{from: today.Add(time.Hour)})
	ending := writeLeaf(t, leafOptions{to: today.Add(13 * 24 * time.Hour)})
	client, nameless, selfMade := writeLeaf(t, leafOptions{client: true}), writeLeaf(t, leafOptions{nameless: true}), writeLeaf(t, leafOptions{selfMade: true})
	for _, tt := range []struct{ name, cert, key, says string }{
		{"expired", expired.cert + expired.issuer, expired.key, "expired on 2026-11-20 07:15 UTC; this machine's clock shows 2026-11-20 08:15 UTC"},
		{"early", early.cert + early.issuer, early.key, "not valid before 2026-11-20 09:15 UTC"},
		{"ending", ending.cert + ending.issuer, ending.key, "ends soon, on 2026-12-03"},
		{"no chain", good.cert, good.key, `not that of its issuer "Works CA"`},
		{"another chain", good.cert + other.issuer, good.key, "certificate 2 of the file is not the issuer"},
		{"damaged chain", good.cert + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", good.key, "certificate 2 of the file is damaged"},
		{"for clients", client.cert + client.issuer, client.key, "not for servers"},
		{"nameless", nameless.cert + nameless.issuer, nameless.key, "names no host"},
		{"made by itself", selfMade.cert, selfMade.key, ""},
	} {
		p := newPlant()
		f, err := OpenFiles(p.files(put(t, t.TempDir(), tt.cert, tt.key)))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		defer f.Close()
		problems := strings.Join(f.Problems(), "\n")
		if !strings.Contains(problems, tt.says) || strings.Contains(problems, "\n") || (problems == "") != (tt.says == "") {
			t.Errorf("%s: %q", tt.name, problems)
		}
		if told := strings.Contains(p.logged(), "browsers may refuse"); told != (tt.says != "") {
			t.Errorf("%s: the log has\n%s", tt.name, p.logged())
		}
	}
	p := newPlant()
	cfg := p.files(put(t, t.TempDir(), good.cert+good.issuer, good.key))
	if err := os.Chmod(cfg.Key, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFiles(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if problems := f.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "chmod o= "+cfg.Key) {
		t.Errorf("a key that everybody can read: %v", problems)
	}
}

func TestFilesAreTakenWhenTheyChange(t *testing.T) {
	dir := t.TempDir()
	first, second, third := writeLeaf(t, leafOptions{}), writeLeaf(t, leafOptions{}), writeLeaf(t, leafOptions{})
	late := writeLeaf(t, leafOptions{from: today.Add(time.Hour)})
	old := writeLeaf(t, leafOptions{to: today.Add(-time.Hour)})
	synctest.Test(t, func(t *testing.T) {
		p := newPlant()
		cfg := p.files(put(t, dir, first.cert+first.issuer, first.key))
		f, err := OpenFiles(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		get := f.TLS().GetCertificate
		uses := func(want texts, polls int) {
			t.Helper()
			time.Sleep(time.Duration(polls) * pollFiles)
			synctest.Wait()
			got, err := get(nil)
			if err != nil {
				t.Fatal(err)
			}
			if text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: got.Certificate[0]}); string(text) != want.cert {
				t.Errorf("another certificate is in use")
			}
		}
		failures := func(want int) {
			t.Helper()
			if n := strings.Count(p.logged(), "level=ERROR"); n != want {
				t.Errorf("the log has %d errors, want %d:\n%s", n, want, p.logged())
			}
		}
		uses(first, 3)

		// A program replaces one file after the other: nothing is told of the moment between.
		put(t, dir, second.cert+second.issuer, first.key)
		uses(first, 1)
		put(t, dir, second.cert+second.issuer, second.key)
		uses(second, 1)
		failures(0)

		// The same times and sizes hide nothing.
		info, err := os.Stat(cfg.Cert)
		if err != nil {
			t.Fatal(err)
		}
		put(t, dir, third.cert+third.issuer, third.key)
		for _, name := range []string{cfg.Cert, cfg.Key} {
			if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}
		uses(third, 1)

		// What cannot be used is told once, and the last one stays.
		put(t, dir, "rubbish", "rubbish")
		uses(third, 50)
		failures(1)
		put(t, dir, second.cert, first.key)
		uses(third, 50)
		failures(2)
		if err := os.Remove(cfg.Key); err != nil {
			t.Fatal(err)
		}
		uses(third, 50)
		failures(3)
		put(t, dir, old.cert+old.issuer, old.key)
		uses(third, 50)
		failures(4)

		// One that is not valid yet is taken when it is.
		put(t, dir, late.cert+late.issuer, late.key)
		uses(third, 50)
		failures(5)
		p.set(today.Add(2 * time.Hour))
		uses(late, 1)
		put(t, dir, first.cert, first.key)
		uses(first, 1)
		failures(5)
		if !strings.Contains(p.logged(), "append the certificates between") {
			t.Error("what is wrong with the new certificate is not told when it is taken")
		}
	})
}

func TestTheEndOfTheCertificateIsToldOnceADay(t *testing.T) {
	dir := t.TempDir()
	own := writeLeaf(t, leafOptions{to: today.Add(15 * 24 * time.Hour)})
	synctest.Test(t, func(t *testing.T) {
		p := newPlant()
		f, err := OpenFiles(p.files(put(t, dir, own.cert+own.issuer, own.key)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		told := map[time.Duration]int{}
		for _, days := range []time.Duration{0, 2, 3, 3, 20} {
			p.set(today.Add(days * 24 * time.Hour))
			time.Sleep(10 * pollFiles)
			synctest.Wait()
			told[days] = strings.Count(p.logged(), "level=WARN")
		}
		if diff := cmp.Diff(map[time.Duration]int{0: 0, 2: 1, 3: 2, 20: 3}, told); diff != "" {
			t.Errorf("%s\n%s", diff, p.logged())
		}
	})
}

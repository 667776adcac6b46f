package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestClientsThatTrustTheAuthorityConnectByEveryNameAndAddress(t *testing.T) {
	p := newPlant()
	a := p.open(t, t.TempDir())
	address := serve(t, a.TLS())
	for _, name := range []string{"opsmon.local", "plantpc", "PLANTPC", "plantpc.works.example", "localhost", "192.168.7.20", "fd00:7::20", "127.0.0.1", "::1"} {
		c, err := connect(address, name, a.CA(), today)
		if err != nil {
			t.Error(err)
			continue
		}
		state := c.ConnectionState()
		if state.Version != tls.VersionTLS13 || state.NegotiatedProtocol != "h2" {
			t.Errorf("to %s: version %x, protocol %q", name, state.Version, state.NegotiatedProtocol)
		}
		c.Close()
	}
	for _, name := range []string{"other.local", "plantpc.other.example", "192.168.7.21", "fd00:7::21"} {
		if c, err := connect(address, name, a.CA(), today); err == nil {
			c.Close()
			t.Errorf("%s, which is not the machine's, is vouched for", name)
		}
	}
	if _, err := tls.Dial("tcp", address, &tls.Config{ServerName: "opsmon.local", Time: p.clock}); err == nil {
		t.Error("a client that does not trust the authority connects")
	}
}

func TestProtocols(t *testing.T) {
	p := newPlant()
	a := p.open(t, t.TempDir())
	address := serve(t, a.TLS())
	only := func(version uint16, suites ...uint16) func(*tls.Config) {
		return func(cfg *tls.Config) { cfg.MinVersion, cfg.MaxVersion, cfg.CipherSuites = version, version, suites }
	}
	if v := a.TLS().MinVersion; v != tls.VersionTLS12 {
		t.Errorf("the lowest version is %x", v)
	}
	for _, suite := range []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256} {
		c, err := connect(address, "localhost", a.CA(), today, only(tls.VersionTLS12, suite))
		if err != nil {
			t.Errorf("TLS 1.2 with %s: %v", tls.CipherSuiteName(suite), err)
			continue
		}
		c.Close()
	}
	for _, change := range []func(*tls.Config){
		only(tls.VersionTLS11, tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA),
		only(tls.VersionTLS12, tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA),
	} {
		if c, err := connect(address, "localhost", a.CA(), today, change); err == nil {
			c.Close()
			t.Errorf("connected with version %x, %s", c.ConnectionState().Version, tls.CipherSuiteName(c.ConnectionState().CipherSuite))
		}
	}

	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pool(a.CA()), Time: p.clock}}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Get("https://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err != nil || string(body) != "hello" || answer.ProtoMajor != 2 {
		t.Errorf("%s over %s, %v", body, answer.Proto, err)
	}
}

func TestTheAuthoritysCertificate(t *testing.T) {
	p := newPlant()
	p.move("192.168.7.20", "198.51.100.9", "2001:db8:1:2::9")
	dir := t.TempDir()
	a := p.open(t, dir)
	cert := a.CA().cert
	if !cert.IsCA || !cert.MaxPathLenZero || cert.MaxPathLen != 0 || cert.KeyUsage != x509.KeyUsageCertSign|x509.KeyUsageCRLSign {
		t.Errorf("authority %v, path length %d, usage %b", cert.IsCA, cert.MaxPathLen, cert.KeyUsage)
	}
	if diff := cmp.Diff([]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, cert.ExtKeyUsage); diff != "" {
		t.Error(diff)
	}
	if key, ok := cert.PublicKey.(*ecdsa.PublicKey); !ok || key.Curve != elliptic.P256() {
		t.Errorf("its key is a %T", cert.PublicKey)
	}
	if from, to := today.Add(-24*time.Hour), time.Date(2036, time.November, 19, 8, 14, 59, 0, time.UTC); !cert.NotBefore.Equal(from) || !cert.NotAfter.Equal(to) {
		t.Errorf("valid from %v to %v", cert.NotBefore, cert.NotAfter)
	}
	if bits := cert.SerialNumber.BitLen(); bits < 64 || bits > 159 {
		t.Errorf("its serial number has %d bits", bits)
	}
	if !cert.PermittedDNSDomainsCritical {
		t.Error("clients that do not know name constraints would trust it for every name")
	}
	want := []string{"localhost", "local", "lan", "internal", "home.arpa", "opsmon", "plantpc", "plantpc.works.example"}
	if diff := cmp.Diff(want, cert.PermittedDNSDomains); diff != "" {
		t.Error(diff)
	}
	var ranges []string
	for _, r := range cert.PermittedIPRanges {
		ranges = append(ranges, r.String())
	}
	want = []string{"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "::1/128", "fc00::/7", "fe80::/10", "198.51.100.0/24", "2001:db8:1:2::/64"}
	if diff := cmp.Diff(want, ranges); diff != "" {
		t.Error(diff)
	}
	other := p.open(t, t.TempDir())
	if other.CA().Name() == a.CA().Name() || other.CA().cert.SerialNumber.Cmp(cert.SerialNumber) == 0 {
		t.Errorf("two authorities are called %s with number %d", a.CA().Name(), cert.SerialNumber)
	}
	if p := a.Fingerprint(); len(p) != 32*3-1 || p == other.Fingerprint() {
		t.Errorf("its fingerprint is %s", p)
	}
	read, err := ReadCA(dir)
	if err != nil {
		t.Fatal(err)
	}
	if read.Fingerprint() != a.Fingerprint() {
		t.Error("the file has another authority")
	}
}

// A thief of the key can make what he likes; the clients must not take it.
func TestClientsRefuseWhatIsOutsideTheConstraints(t *testing.T) {
	p := newPlant()
	a := p.open(t, t.TempDir())
	for _, tt := range []struct {
		names []string
		addrs []netip.Addr
		ask   string
		taken bool
	}{
		{[]string{"line3.local"}, nil, "line3.local", true},
		{[]string{"pc.home.arpa"}, nil, "pc.home.arpa", true},
		{nil, addrs("10.1.2.3"), "10.1.2.3", true},
		{nil, addrs("fd12::3"), "fd12::3", true},
		{[]string{"bank.example"}, nil, "bank.example", false},
		{[]string{"works.example"}, nil, "works.example", false},
		{[]string{"notlocal"}, nil, "notlocal", false},
		{nil, addrs("203.0.113.5"), "203.0.113.5", false},
		{nil, addrs("2001:db8::5"), "2001:db8::5", false},
		{[]string{"opsmon.local", "bank.example"}, nil, "opsmon.local", false}, // one wrong name spoils all
	} {
		l, err := a.ca.issue(today, tt.names, tt.addrs)
		if err != nil {
			t.Fatal(err)
		}
		address := serve(t, &tls.Config{Certificates: []tls.Certificate{l.tls}})
		c, err := connect(address, tt.ask, a.CA(), today)
		if (err == nil) != tt.taken {
			t.Errorf("%v %v: %v", tt.names, tt.addrs, err)
		}
		if err == nil {
			c.Close()
		} else if invalid := (x509.CertificateInvalidError{}); !errors.As(err, &invalid) || invalid.Reason != x509.CANotAuthorizedForThisName {
			t.Errorf("%v %v is refused for another reason: %v", tt.names, tt.addrs, err)
		}
	}

	// Nor may there be an authority below it.
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sub := *a.ca.cert
	sub.Subject.CommonName, sub.SerialNumber = "sub", nil
	der, err := x509.CreateCertificate(rand.Reader, &sub, a.ca.cert, key.Public(), a.ca.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&authority{CA{cert}, key}).issue(today, []string{"line3.local"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.tls.Certificate = append(l.tls.Certificate, der)
	if c, err := connect(serve(t, &tls.Config{Certificates: []tls.Certificate{l.tls}}), "line3.local", a.CA(), today); err == nil {
		c.Close()
		t.Error("an authority below the authority is taken")
	}
}

func TestACertificateIsValidFor397DaysAndFromADayAgo(t *testing.T) {
	p := newPlant()
	a := p.open(t, t.TempDir())
	cert := a.current.Load().tls.Leaf
	if life := cert.NotAfter.Sub(cert.NotBefore) + time.Second; life != 397*24*time.Hour {
		t.Errorf("valid for %v", life)
	}
	if !cert.NotBefore.Equal(today.Add(-24 * time.Hour)) {
		t.Errorf("valid from %v", cert.NotBefore)
	}
	if !a.Expires().Equal(cert.NotAfter) {
		t.Errorf("Expires gives %v", a.Expires())
	}
	if diff := cmp.Diff([]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, cert.ExtKeyUsage); diff != "" || cert.IsCA || cert.KeyUsage != x509.KeyUsageDigitalSignature {
		t.Errorf("it is for %v %b", cert.ExtKeyUsage, cert.KeyUsage)
	}
}

// Addresses and time change while somebody is connected: the connection goes on, and the next one is met by a
// certificate that is right. The bubble's clock makes the watch tick at once.
func TestRenewalAndNewAddressesWhileAConnectionIsOpen(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant()
		a, err := Open(p.config(dir))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		dial := func(name string) *tls.Conn {
			t.Helper()
			inside, outside := net.Pipe()
			server := tls.Server(inside, a.TLS())
			go func() {
				_, _ = io.Copy(server, server) // an echo, until the client closes
				server.Close()
			}()
			client := tls.Client(outside, &tls.Config{ServerName: name, RootCAs: pool(a.CA()), Time: p.clock})
			if err := client.Handshake(); err != nil {
				outside.Close()
				t.Fatalf("to %s at %v: %v", name, p.clock(), err)
			}
			return client
		}
		say := func(c *tls.Conn) {
			t.Helper()
			if _, err := c.Write([]byte("ping")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c, make([]byte, 4)); err != nil {
				t.Fatal(err)
			}
		}
		first := dial("192.168.7.20")
		defer first.NetConn().Close()
		say(first)
		serial := func() string { return a.current.Load().tls.Leaf.SerialNumber.String() }
		before := serial()

		p.move("192.168.7.99", "fd00:7::99")
		time.Sleep(pollHosts + time.Second)
		say(first)
		dial("192.168.7.99").NetConn().Close()
		dial("fd00:7::99").NetConn().Close()
		if _, addrs := a.Hosts(); slices.Contains(addrs, netip.MustParseAddr("192.168.7.20")) {
			t.Error("the address that the machine has no more is still in the certificate")
		}
		if serial() == before {
			t.Error("two certificates have one serial number")
		}

		p.mu.Lock()
		p.names = []string{"line3.lan"}
		p.mu.Unlock()
		time.Sleep(pollHosts)
		dial("line3.lan").NetConn().Close()

		before = serial()
		time.Sleep(10 * pollHosts)
		if serial() != before {
			t.Error("a certificate was made although nothing changed")
		}
		ends := a.Expires()
		third := 397 * 24 * time.Hour / 3
		p.set(ends.Add(-third - time.Hour))
		time.Sleep(2 * pollHosts)
		if serial() != before {
			t.Error("it is renewed although more than a third of its time is left")
		}
		p.set(ends.Add(-third + time.Hour))
		time.Sleep(2 * pollHosts)
		if serial() == before || !a.Expires().After(ends.Add(200*24*time.Hour)) {
			t.Errorf("with a third of its time left it ends %v, was %v", a.Expires(), ends)
		}
		say(first)
		dial("192.168.7.99").NetConn().Close()
	})
}

// Whatever the clock does, the next handshake is met by a certificate that its time holds.
func TestAClockThatJumps(t *testing.T) {
	p := newPlant()
	a := p.open(t, t.TempDir())
	address := serve(t, a.TLS())
	year := 365 * 24 * time.Hour
	for _, now := range []time.Time{
		today, today.Add(3 * year), today.Add(year), today, today.Add(9 * year), today.Add(-20 * time.Hour), today.Add(300 * 24 * time.Hour), today.Add(3 * year).Add(-time.Minute),
	} {
		p.set(now)
		cert := met(t, address, "opsmon.local", a.CA(), now)
		if now.Before(cert.NotBefore) || now.After(cert.NotAfter) {
			t.Errorf("at %v: valid from %v to %v", now, cert.NotBefore, cert.NotAfter)
		}
	}
	// A clock that shows what cannot be does not make certificates that nobody can use.
	for wrong, believed := range map[time.Time]time.Time{
		time.Unix(0, 0):                  today,
		today.Add(-400 * 24 * time.Hour): today,
		today.Add(50 * year):             a.CA().Expires(),
	} {
		p.set(wrong)
		cert := met(t, address, "opsmon.local", a.CA(), believed)
		if again := met(t, address, "opsmon.local", a.CA(), believed); !again.Equal(cert) {
			t.Errorf("at %v each handshake makes a certificate", wrong)
		}
	}
	p.set(time.Unix(0, 0))
	a.refresh()
	if !strings.Contains(p.logged(), "before the certificate authority was made") {
		t.Errorf("the log does not tell of the clock:\n%s", p.logged())
	}
}

func TestAnAuthorityMadeByAClockThatLost(t *testing.T) {
	p := newPlant()
	p.set(time.Unix(0, 0))
	a := p.open(t, t.TempDir())
	p.set(today)
	met(t, serve(t, a.TLS()), "opsmon.local", a.CA(), today)
}

func TestTheAuthoritysEndIsTold(t *testing.T) {
	p := newPlant()
	a := p.open(t, t.TempDir())
	end := a.CA().Expires()
	p.set(end.Add(-366 * 24 * time.Hour))
	a.refresh()
	if strings.Contains(p.logged(), "authority end") {
		t.Error("told too early")
	}
	p.set(end.Add(-300 * 24 * time.Hour))
	for range 3 {
		a.refresh()
	}
	if n := strings.Count(p.logged(), "authority end"); n != 1 {
		t.Errorf("told %d times in a day", n)
	}
	cert := a.current.Load().tls.Leaf
	if !cert.NotAfter.Equal(end) {
		t.Errorf("a certificate is valid to %v, its authority to %v", cert.NotAfter, end)
	}
	p.set(end.Add(-time.Hour))
	a.refresh()
	if a.current.Load().tls.Leaf != cert {
		t.Error("one that cannot last longer is made anew all the time")
	}
	for at, want := range map[time.Time]string{
		end.Add(-300 * 24 * time.Hour): "authority ends on 2036-11-", end.Add(24 * time.Hour): "authority ended on 2036-11-",
		today.AddDate(-1, 0, 0): "set the clock", today: "",
	} {
		p.set(at)
		if list := a.Problems(); len(list) > 1 || !strings.Contains(strings.Join(list, ""), want) || (len(list) == 0) != (want == "") {
			t.Errorf("problems at %v: %q", at, list)
		}
	}
}

func TestCloseEndsTheWatch(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant()
		a, err := Open(p.config(dir))
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
		a.Close()
		p.move("10.9.9.9")
		time.Sleep(time.Hour)
		if _, addrs := a.Hosts(); slices.Contains(addrs, netip.MustParseAddr("10.9.9.9")) {
			t.Error("the watch goes on")
		}
		if _, err := a.TLS().GetCertificate(&tls.ClientHelloInfo{Conn: nil}); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkGet(b *testing.B) {
	a, err := Open(Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	for b.Loop() {
		if _, err := a.get(&tls.ClientHelloInfo{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRefresh(b *testing.B) {
	a, err := Open(Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	b.Run("nothing changed", func(b *testing.B) {
		for b.Loop() {
			a.refresh()
		}
	})
	b.Run("issue", func(b *testing.B) {
		names, addrs := a.Hosts()
		for b.Loop() {
			if _, err := a.ca.issue(today, names, addrs); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A machine that has just moved is reached at its new address before its addresses are looked at again.
func TestAConnectionToANewAddress(t *testing.T) {
	p := newPlant()
	a := p.open(t, t.TempDir())
	l, err := net.Listen("tcp", "127.7.7.7:0")
	if err != nil {
		t.Skipf("this system has one loopback address: %v", err)
	}
	l.Close()
	address := serveOn(t, "127.7.7.7:0", a.TLS())
	if c, err := connect(address, "127.7.7.7", a.CA(), today); err == nil {
		c.Close()
		t.Fatal("the certificate is for 127.7.7.7 before the machine has that, so this test shows nothing")
	}
	p.move("127.7.7.7")
	met(t, address, "127.7.7.7", a.CA(), today)
}

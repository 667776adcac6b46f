package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"opsmon/app/host/config"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
)

// letIn lets everybody in.
type letIn struct{ mqtt.HookBase }

func (*letIn) Provides(b byte) bool                                    { return b == mqtt.OnConnectAuthenticate || b == mqtt.OnACLCheck }
func (*letIn) OnConnectAuthenticate(*mqtt.Client, packets.Packet) bool { return true }
func (*letIn) OnACLCheck(*mqtt.Client, string, bool) bool              { return true }

// authority is one that a plant has of its own.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert, a.key = a.issue(&x509.Certificate{Subject: pkix.Name{CommonName: "the plant's own"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue makes a certificate, its own authority's when there is none yet.
func (a *authority) issue(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

// file returns the authority as a file in PEM.
func (a *authority) file() string {
	a.t.Helper()
	path := filepath.Join(a.t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// broker runs a plant's broker with a certificate for a host, and gives its port, and why clients went away at once.
func (a *authority) broker(host string, ip net.IP) (b *mqtt.Server, port string, gone chan error) {
	a.t.Helper()
	template := &x509.Certificate{Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip != nil {
		template.IPAddresses = []net.IP{ip}
	}
	cert, key := a.issue(template)
	b = mqtt.New(&mqtt.Options{InlineClient: true, Logger: slog.New(slog.DiscardHandler)})
	if err := b.AddHook(new(letIn), nil); err != nil {
		a.t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}})
	if err != nil {
		a.t.Fatal(err)
	}
	gone = make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				if err := c.(*tls.Conn).Handshake(); err != nil {
					c.Close()
					select {
					case gone <- err:
					default:
					}
					return
				}
				_ = b.EstablishConnection("tls", c)
			})
		}
	})
	a.t.Cleanup(func() {
		l.Close()
		b.Close()
		running.Wait()
	})
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return b, port, gone
}

// TestPlantBrokerOverTLS: signals come from the plant's broker over TLS, with a certificate of the plant's own
// authority. One that is for another host, or of another authority, or of one that the machine does not know, brings
// none.
func TestPlantBrokerOverTLS(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	loopback := net.IPv4(127, 0, 0, 1)
	for _, tt := range []struct {
		name string
		of   *authority
		host string
		ip   net.IP
		ca   string
		up   bool
	}{
		{"of the authority that is trusted", ours, "broker.plant.example", loopback, ours.file(), true},
		{"of another authority", others, "broker.plant.example", loopback, ours.file(), false},
		{"of one that the machine does not know", ours, "broker.plant.example", loopback, "", false},
		{"for another host", ours, "broker.plant.example", nil, ours.file(), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.of.t = t
			b, port, gone := tt.of.broker(tt.host, tt.ip)
			cfg := testConfig(t)
			cfg.PlantBroker = config.PlantBroker{URL: "mqtts://127.0.0.1:" + port, CA: tt.ca, Topics: "line/#", Template: "line/{station}"}
			if err := cfg.Check(); err != nil {
				t.Fatal(err)
			}
			r := serve(t, cfg)
			if !tt.up {
				select {
				case err := <-gone:
					if !strings.Contains(err.Error(), "remote error: tls: ") {
						t.Errorf("it went away for another reason: %v", err)
					}
				case <-time.After(20 * time.Second):
					t.Error("it does not go away")
				}
				if list := r.plantGauges(); list[0].Value != 0 {
					t.Error("it is connected")
				}
				return
			}
			apptest.Eventually(t, "a subscription", func() bool { return len(b.Topics.Subscribers("line/"+starterStation).Subscriptions) == 1 })
			if err := b.Publish("line/"+starterStation, []byte(`{"production_complete":1}`), false, 1); err != nil {
				t.Fatal(err)
			}
			apptest.Eventually(t, "the signal", func() bool {
				list, err := r.services.Signals.Of("northgate", starterStation, signal.Day(time.Now().UnixMilli()))
				return err == nil && len(list) == 1
			})
			if list := r.plantGauges(); list[0].Value != 1 {
				t.Error("it is not told to be connected")
			}
		})
	}
}

package mdns

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestWhichInterfacesSuit(t *testing.T) {
	const up = net.FlagUp | net.FlagRunning | net.FlagMulticast
	for flags, want := range map[net.Flags]bool{
		up | net.FlagBroadcast: true, up: true, up | net.FlagLoopback: false, up | net.FlagPointToPoint: false,
		up &^ net.FlagMulticast: false, up &^ net.FlagUp: false, up &^ net.FlagRunning: false, 0: false,
	} {
		if got := suits(flags); got != want {
			t.Errorf("%v: %v", flags, got)
		}
	}
}

// log keeps what is told.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// Nothing is opened where there is no interface, so this touches no network.
func TestWithoutANetworkItWaits(t *testing.T) {
	for _, tt := range []struct {
		answer error
		says   string
	}{{nil, "there is no network"}, {errors.New("no rights"), "no rights"}} {
		var l log
		asked := make(chan bool)
		r := start(Config{
			Name: "opsmon", Log: slog.New(slog.NewTextHandler(&l, nil)),
			Interfaces: func() ([]net.Interface, error) { asked <- true; return nil, tt.answer },
		}, time.Millisecond)
		for range 5 {
			<-asked
		}
		go func() {
			for range asked { // what is asked until it stops
			}
		}()
		r.Close()
		close(asked)
		if n := l.count(tt.says); n != 1 {
			t.Errorf("%q is told %d times", tt.says, n)
		}
	}
}

func TestOwnAddresses(t *testing.T) {
	for text, want := range map[string]bool{"127.0.0.1": true, "::ffff:127.0.0.1": true, "192.0.2.77": false, "2001:db8::77": false} {
		if got := own(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestOneAddressIsOnOneNetwork(t *testing.T) {
	for text, want := range map[string]int{"127.0.0.1": 1, "192.0.2.77": 0} {
		r := &Responder{cfg: Config{Interfaces: net.Interfaces, Address: netip.MustParseAddr(text)}}
		list, on, err := r.usable()
		if err != nil || len(list) != want || want == 1 && !strings.Contains(on, text) {
			t.Errorf("%s: %d interfaces, %q, %v", text, len(list), on, err)
		}
	}
}

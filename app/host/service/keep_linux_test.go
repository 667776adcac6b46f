package service

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"opsmon/app/host/control"
)

// manager is systemd's side of sd_notify.
type manager struct{ said chan string }

func newManager(t *testing.T, watchdog time.Duration) *manager {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", strconv.FormatInt(watchdog.Microseconds(), 10))
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	m := &manager{make(chan string, 1000)}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := c.Read(b)
			if err != nil {
				return
			}
			m.said <- string(b[:n])
		}
	}()
	return m
}

// next returns what is said next, "" for nothing within d.
func (m *manager) next(d time.Duration) string {
	select {
	case s := <-m.said:
		return s
	case <-time.After(d):
		return ""
	}
}

// TestKeep: systemd is told that the service is ready when it answers, that it lives after each probe that returned,
// with or without an error, nothing while a probe hangs, and that it stops.
func TestKeep(t *testing.T) {
	const watchdog, long = 300 * time.Millisecond, 10 * time.Second
	m := newManager(t, watchdog)
	dir := t.TempDir()
	probe := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Keep(ctx, KeepConfig{DataDir: dir, URL: "https://x", Probe: func() error { return <-probe }, Log: slog.New(slog.DiscardHandler)})
	}()
	if said := m.next(watchdog); said != "" {
		t.Errorf("before the service answers: %q", said)
	}
	l, err := control.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"result":{"ready":true}}`))
	})}
	go s.Serve(l)
	defer s.Close()
	if said := m.next(long); said != "STATUS=Serving on https://x\nREADY=1" {
		t.Errorf("when it answers: %q", said)
	}
	if said := m.next(watchdog); said != "" {
		t.Errorf("while the probe hangs: %q", said)
	}
	for _, step := range []struct {
		err  error
		want string
	}{{nil, "WATCHDOG=1"}, {errors.New("the disk is full\nREADY=0"), "STATUS=Not serving fully: the disk is full READY=0\nWATCHDOG=1"}, {nil, "STATUS=Serving on https://x\nWATCHDOG=1"}} {
		probe <- step.err
		if said := m.next(long); said != step.want {
			t.Errorf("after a probe with %v: %q, want %q", step.err, said, step.want)
		}
	}
	cancel()
	close(probe) // a probe may be on its way
	<-ended
	var last []string
	for said := m.next(long); said != ""; said = m.next(50 * time.Millisecond) {
		last = append(last, said)
	}
	if !slices.Contains(last, "STATUS=Stopping\nSTOPPING=1") {
		t.Errorf("at the end: %q", last)
	}
}

// TestKeepDamaged: a service that answers and is not ready has started all the same; it must not be started again.
func TestKeepDamaged(t *testing.T) {
	m := newManager(t, 0)
	dir := t.TempDir()
	l, err := control.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(`{"result":{"ready":false,"reason":"the store is damaged"}}`))
	})}
	go s.Serve(l)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Keep(ctx, KeepConfig{DataDir: dir, Log: slog.New(slog.DiscardHandler)})
	}()
	if said := m.next(10 * time.Second); said != "STATUS=Not serving fully: the store is damaged\nREADY=1" {
		t.Errorf("it is told %q", said)
	}
	cancel()
	<-ended
}

// TestJournal: the priority of each line, in one write, without what the journal has itself.
func TestJournal(t *testing.T) {
	var out strings.Builder
	log := slog.New(newJournalHandler(&out, slog.LevelInfo)).With(slog.String("room", "a b"))
	log.Debug("unseen")
	log.Info("one")
	log.WithGroup("g").Warn("two\nlines", slog.Int("level", 3))
	log.Error("three")
	complain(&out, "app: four\n  five\n")
	want := "<6>msg=one room=\"a b\"\n<4>msg=\"two\\nlines\" room=\"a b\" g.level=3\n<3>msg=three room=\"a b\"\n<3>app: four\n<3>  five\n"
	if out.String() != want {
		t.Errorf("it writes\n%s\nwant\n%s", &out, want)
	}
}

package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// TestReceive takes a backup from elsewhere whole or not at all.
func TestReceive(t *testing.T) {
	s := openStore(t, t.TempDir())
	fill(t, s, 0, 400)
	plain := []byte(readFile(t, made(t, Config{Store: s})))
	sealed := []byte(readFile(t, made(t, Config{Store: s, Passphrase: "a b c d e f g"})))
	flipped := bytes.Clone(plain)
	flipped[len(flipped)/2] ^= 1
	broken := errors.New("the line broke")
	for name, c := range map[string]struct {
		from       io.Reader
		passphrase string
		there      string // what has the name already
		overwrite  bool
		want       error
	}{
		"plain":                           {from: bytes.NewReader(plain)},
		"replaced":                        {from: bytes.NewReader(plain), there: "other", overwrite: true},
		"taken":                           {from: bytes.NewReader(plain), there: "other", want: ErrExists},
		"encrypted":                       {from: bytes.NewReader(sealed), passphrase: "a b c d e f g"},
		"encrypted, passphrase not known": {from: bytes.NewReader(sealed)},
		"wrong passphrase":                {from: bytes.NewReader(sealed), passphrase: "a b c d e f", want: ErrPassphrase},
		"flipped":                         {from: bytes.NewReader(flipped), want: ErrDamaged},
		"cut":                             {from: bytes.NewReader(plain[:len(plain)-1]), want: ErrDamaged},
		"nothing":                         {from: strings.NewReader(""), want: ErrDamaged},
		"something else":                  {from: strings.NewReader(strings.Repeat("x", 1000)), overwrite: true, there: "other", want: ErrDamaged},
		"more":                            {from: io.MultiReader(bytes.NewReader(plain), strings.NewReader("x")), want: ErrDamaged},
		"broken line":                     {from: io.MultiReader(bytes.NewReader(plain[:500]), iotest.ErrReader(broken)), want: broken},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "plant.backup")
			if c.there != "" {
				writeFile(t, path, c.there)
			}
			r, err := Receive(t.Context(), ReceiveConfig{Path: path, Passphrase: c.passphrase, Overwrite: c.overwrite}, c.from)
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			switch {
			case c.want == nil:
				expectOnly(t, dir, "plant.backup")
				if int(r.Bytes) != len(readFile(t, path)) || r.File != path || r.Manifest.App != "1.2.3" {
					t.Errorf("%+v", r)
				}
			case c.there != "":
				expectOnly(t, dir, "plant.backup")
				if readFile(t, path) != c.there {
					t.Error("what had the name is gone")
				}
			default:
				expectOnly(t, dir)
			}
		})
	}
}

// TestKeeperAsks calls what the caller gives it around each backup, begins after a delay, and waits for whoever is at
// work without calling that a failure.
func TestKeeperAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		k, s := keeper(t, folder, Policy{Daily: 7})
		cfg := k.cfg
		var mu sync.Mutex // of both
		var done []error
		missing := errors.New("no passphrase")
		before := missing
		cfg.Delay, cfg.Log = 5*time.Minute, slog.New(slog.DiscardHandler)
		fill(t, s, 50, 2000)
		cfg.Before = func(c *Config) error {
			*c = Config{Store: c.Store, Version: "2", Passphrase: "a secret of all", WorkFactor: 1, Clock: c.Clock}
			mu.Lock()
			defer mu.Unlock()
			return before
		}
		cfg.Done = func(_ Result, err error) { mu.Lock(); defer mu.Unlock(); done = append(done, err) }
		ends := func() []error { mu.Lock(); defer mu.Unlock(); return slices.Clone(done) }
		k = NewKeeper(cfg)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan bool)
		go func() { k.Run(ctx); close(ended) }()
		time.Sleep(4 * time.Minute)
		expectOnly(t, folder)
		time.Sleep(2 * time.Minute)
		if s, done := k.Status(), ends(); len(done) != 1 || !errors.Is(done[0], missing) || s.Failures != 1 || s.Healthy() {
			t.Errorf("%v, %+v", done, s)
		}
		mu.Lock()
		before = nil
		mu.Unlock()
		unlock, err := lockWork(filepath.Dir(s.Path()))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(70 * time.Minute)
		if s, done := k.Status(), ends(); len(done) != 1 || s.Failures != 1 {
			t.Errorf("%v, %+v", done, s)
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if s, done := k.Status(), ends(); len(done) != 2 || done[1] != nil || !s.Healthy() || s.Failures != 1 {
			t.Errorf("%v, %+v", done, s)
		}
		if m, err := Inspect(filepath.Join(folder, k.Status().Newest.Name), ""); err != nil || !m.Encrypted || m.App != "2" {
			t.Errorf("%+v, %v", m, err)
		}
		if parts, err := os.ReadDir(filepath.Join(folder, partsDir)); err != nil || len(parts) == 0 {
			t.Errorf("nothing is shared: %v", err)
		}
		cancel()
		<-ended
	})
}

// TestKeeperSeesManual: a backup that somebody asked for ends a failure and keeps the schedule from being overdue, and
// the schedule goes on.
func TestKeeperSeesManual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "away")
		k, s := keeper(t, folder, Policy{Daily: 7})
		if _, err := k.Make(t.Context()); !errors.Is(err, ErrNotReady) {
			t.Fatal(err)
		}
		time.Sleep(7 * time.Hour)
		if s := k.Status(); !s.Overdue || s.Error == "" {
			t.Errorf("%+v", s)
		}
		if err := Folder(folder).Make(); err != nil {
			t.Fatal(err)
		}
		name := ManualName(time.Now())
		if _, err := Create(t.Context(), Config{Store: s, Version: "1"}, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(folder, ManualName(time.Now().Add(time.Hour))), "from the future")
		k.Refresh()
		if s := k.Status(); s.Overdue || s.Error != "" || s.Newest.Name != name || !s.Next.IsZero() {
			t.Errorf("%+v", s)
		}
		if _, err := k.Make(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := k.Status(); s.Newest.Name == name || s.Next.IsZero() {
			t.Errorf("%+v", s)
		}
	})
}

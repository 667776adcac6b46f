package account

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

// TestTogether updates and applies from 64 writers during reads: every acknowledged change has its own revision, the
// numbers have no gap, a writer reads its change or a later one, and finally the newest revision is read.
func TestTogether(t *testing.T) {
	h := newPlant(t)
	const writers, rounds = 64, 6
	var mu sync.Mutex
	acknowledged := map[uint64]string{} // revision -> expected content
	conflicts := 0
	note := func(revision uint64, path, value string) {
		mu.Lock()
		defer mu.Unlock()
		if other, ok := acknowledged[revision]; ok {
			t.Errorf("revision %d was acknowledged as %s and as %s=%s", revision, other, path, value)
		}
		acknowledged[revision] = path + "=" + value
		if now := h.now().Account.Revision; now < revision {
			t.Errorf("revision %d is answered and %d is read", revision, now)
		}
	}
	stop := make(chan struct{})
	var readers, all sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			last := uint64(0)
			for {
				select {
				case <-stop:
					return
				default:
				}
				snap := h.now()
				if snap.Account.Revision < last {
					t.Errorf("revision %d is read after %d", snap.Account.Revision, last)
				}
				last = snap.Account.Revision
				if _, err := snap.Resolve("OVEN-1"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for w := range writers {
		all.Go(func() {
			for round := range rounds {
				value := fmt.Sprintf("0.%d%02d", w+10, round)
				switch {
				case w%8 == 0: // a manifest
					r, err := h.Apply(boss(), ApplyInput{Raw: edit(t, plantFile, `skus[0].value = `+value)})
					if err != nil || !r.Changed {
						t.Errorf("apply: %+v, %v", r, err)
						continue
					}
					note(r.Revision, "skus[0].value", value)
				case w%8 == 1: // with If-Match, often outdated
					a, err := h.Update(boss(), decode(t, []byte(`{"electricalCo2PerKwh": `+value+`}`)), ParseMatch(h.now().Document().ETag))
					if errdefs.KindOf(err) == errdefs.Conflict {
						mu.Lock()
						conflicts++
						mu.Unlock()
					} else if err != nil {
						t.Error(err)
					} else {
						note(a.Revision, "electricalCo2PerKwh", value)
					}
				default:
					a, err := h.Update(boss(), decode(t, []byte(`{"electricalPricePerKwh": `+value+`}`)), nil)
					if err != nil {
						t.Error(err)
						continue
					}
					note(a.Revision, "electricalPricePerKwh", value)
				}
			}
		})
	}
	all.Wait()
	close(stop)
	readers.Wait()

	newest := h.now().Account.Revision
	if newest != uint64(len(acknowledged))+1 || len(acknowledged)+conflicts != writers*rounds {
		t.Errorf("revision %d after %d acknowledged changes and %d conflicts", newest, len(acknowledged), conflicts)
	}
	for n := uint64(2); n <= newest; n++ {
		rep, err := h.Revision(boss(), n)
		if err != nil {
			t.Fatal(err)
		}
		doc := at(t, decode(t, rep.Bytes()), "account")
		matches := false
		for _, path := range []string{"skus[0].value", "electricalCo2PerKwh", "electricalPricePerKwh"} {
			matches = matches || acknowledged[n] == path+"="+string(manifest.Encode(at(t, doc, path)))
		}
		if !matches {
			t.Errorf("revision %d does not hold %s", n, acknowledged[n])
		}
	}
	before := body(h.now().Answer(true))
	h.reopen()
	if after := body(h.now().Answer(true)); after != before {
		t.Errorf("published was\n%.300s\nand stored is\n%.300s", before, after)
	}
	h.whole()
}

// TestPublishOrder checks that an outdated state is never published, in any order of goroutines.
func TestPublishOrder(t *testing.T) {
	h := newPlant(t)
	older := h.now()
	h.post(`{"currency": "USD"}`)
	h.publish(older)
	if h.now().Account.Revision != 2 {
		t.Error("an older state was published")
	}
	// A change that was committed together with another manifest finds the arrays in the store.
	a := h.now().Account.clone()
	h.apply(edit(t, plantFile, `skus -`))
	newest := body(h.now().Document())
	a.Sequence += 2
	if err := h.publishRecord(a); err != nil {
		t.Fatal(err)
	}
	if body(h.now().Document()) != newest {
		t.Error("a different document was published")
	}
}

// TestApplyIsNotStarved checks that a manifest can be applied while a setting changes continuously.
func TestApplyIsNotStarved(t *testing.T) {
	h := newPlant(t)
	var stop atomic.Bool
	var busy sync.WaitGroup
	defer busy.Wait()
	defer stop.Store(true)
	for w := range 4 {
		busy.Go(func() {
			for i := 0; !stop.Load(); i++ {
				h.post(fmt.Sprintf(`{"electricalPricePerKwh": %d.%d}`, w, i))
			}
		})
	}
	slow := edit(t, plantFile, `skus[0].name = "Rye"`)
	done := make(chan error, 1)
	go func() {
		_, err := h.Apply(boss(), ApplyInput{Raw: slow})
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the manifest was never applied")
	}
}

// TestMoved checks that an Apply retries after a conflicting change, and that its last attempt blocks other writers.
func TestMoved(t *testing.T) {
	h := newPlant(t)
	doc, err := readDocument(edit(t, plantFile, `currency = "CHF"`), false, start)
	if err != nil {
		t.Fatal(err)
	}
	stale := h.now()
	h.post(`{"electricalPricePerKwh": 9}`)
	// Restores the state that the writer starts from, as if the change came after it was read.
	all := map[string]*Snapshot{"northfield": stale}
	h.current.Store(&all)
	if _, err := h.Service.apply(boss(), ApplyInput{}, doc); !errors.Is(err, errConflicting) {
		t.Fatalf("an overtaken writer: %v", err)
	}
	if h.now().Account.Revision != 2 {
		t.Error("the newer state was not read")
	}
	r, err := h.applyInTurn(boss(), ApplyInput{}, doc, true)
	if err != nil || r.Revision != 3 {
		t.Errorf("then: %+v, %v", r, err)
	}
	turn := h.changeLock(boss().AccountID)
	turn.RLock()
	waits := make(chan struct{})
	go func() {
		defer close(waits)
		if _, err := h.applyInTurn(boss(), ApplyInput{}, doc, true); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-waits:
		t.Error("the last attempt did not wait for the lock")
	case <-time.After(20 * time.Millisecond):
	}
	turn.RUnlock()
	<-waits
}

// TestClosedStore checks that a change that could not be stored is not visible.
func TestClosedStore(t *testing.T) {
	h := newPlant(t)
	before := body(h.now().Answer(true))
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	for what, fn := range map[string]func() error{
		"update": func() error { _, err := h.Update(boss(), map[string]any{"currency": "USD"}, nil); return err },
		"apply": func() error {
			_, err := h.Apply(boss(), ApplyInput{Raw: edit(t, plantFile, `currency = "USD"`)})
			return err
		},
		"new plant": func() error {
			_, err := h.Apply(boss(), ApplyInput{Raw: edit(t, plantFile, `plants[1].code = "new"`)})
			return err
		},
		"set":       func() error { _, err := h.Set(auth.Local("northfield"), "appUrls", "x"); return err },
		"archive":   func() error { _, err := h.SetArchived(auth.Local("northfield"), true); return err },
		"revisions": func() error { _, _, err := h.Revisions(boss(), 1, 0); return err },
		"revision":  func() error { _, err := h.Revision(boss(), 7); return err },
		"check":     func() error { return h.check(start, func(string) {}) },
	} {
		if err := fn(); !errors.Is(err, kv.ErrClosed) || errdefs.KindOf(err) != errdefs.Unavailable {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := New(Config{Store: h.store}); !errors.Is(err, kv.ErrClosed) {
		t.Errorf("new: %v", err)
	}
	if after := body(h.now().Answer(true)); after != before {
		t.Error("the account changed nevertheless")
	}
}

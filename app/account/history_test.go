package account

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/account/manifest"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
)

// TestChangedIsTold checks which changes of an account call Config.Changed, and that they can be read by then.
func TestChangedIsTold(t *testing.T) {
	h := newHouse(t)
	var mu sync.Mutex
	var told []uint64
	s, err := New(Config{Store: h.store, Clock: h.clock.Now, Changed: func(id string) {
		snap, err := h.Get(id)
		if err != nil {
			t.Errorf("told of %s: %v", id, err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		told = append(told, snap.Account.Sequence)
	}})
	if err != nil {
		t.Fatal(err)
	}
	h.Service = s
	step := func(what string, want int, do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if len(told) != want || want > 0 && told[want-1] != h.now().Account.Sequence {
			t.Errorf("%s: told of %v", what, told)
		}
	}
	changed := edit(t, plantFile, `currency = "USD"`)
	step("created", 1, func() error { return h.tryCreate(CreateInput{Manifest: plantFile}, false) })
	step("the same applied", 1, func() error { _, err := h.Apply(boss(), ApplyInput{Raw: plantFile}); return err })
	step("a dry run", 1, func() error { _, err := h.Apply(boss(), ApplyInput{Raw: changed, DryRun: true}); return err })
	step("applied", 2, func() error { _, err := h.Apply(boss(), ApplyInput{Raw: changed}); return err })
	step("a setting", 3, func() error { _, err := h.Update(boss(), map[string]any{"currency": "GBP"}, nil); return err })
	step("the same setting", 3, func() error { _, err := h.Update(boss(), map[string]any{"currency": "GBP"}, nil); return err })
	step("restored", 4, func() error { _, err := h.Restore(boss(), 1, "", nil); return err })
	local := auth.Local("northfield")
	step("archived", 5, func() error { _, err := h.SetArchived(local, true); return err })
	step("refused", 5, func() error {
		if _, err := h.Update(boss(), map[string]any{"currency": "GBP"}, nil); err == nil {
			t.Error("an archived account was changed")
		}
		return nil
	})
	step("back", 6, func() error { _, err := h.SetArchived(local, false); return err })
}

// TestAManifestAwaits checks that a changed manifest is stored after Config.Await returns; an unchanged one and a dry
// run do not wait.
func TestAManifestAwaits(t *testing.T) {
	h := newPlant(t)
	var awaited []uint64
	s, err := New(Config{Store: h.store, Clock: h.clock.Now, Await: func(id string) {
		snap, err := h.Get(id)
		if err != nil {
			t.Error(err)
			return
		}
		awaited = append(awaited, snap.Account.Revision)
	}})
	if err != nil {
		t.Fatal(err)
	}
	h.Service = s
	changed := edit(t, plantFile, `currency = "USD"`)
	for _, in := range []ApplyInput{{Raw: plantFile}, {Raw: changed, DryRun: true}, {Raw: changed}, {Raw: changed}} {
		if _, err := h.Apply(boss(), in); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(awaited, []uint64{1}) || h.now().Account.Revision != 2 {
		t.Errorf("manifests awaited at revisions %v, and the account is at %d", awaited, h.now().Account.Revision)
	}
}

// TestManifestOf reads every revision in its typed form.
func TestManifestOf(t *testing.T) {
	h := newPlant(t)
	var was []*manifest.Manifest
	keep := func() {
		m, err := h.now().Manifest()
		if err != nil {
			t.Fatal(err)
		}
		was = append(was, m)
	}
	keep()
	h.clock.tick()
	h.post(`{"electricalPricePerKwh": 0.25, "excludeReasonCodes": ["x"]}`)
	keep()
	h.clock.tick()
	h.apply(edit(t, plantFile, `plants[0].name = "Elsewhere"`))
	keep()
	h.reopen()
	for i, want := range was {
		got, err := h.ManifestOf("northfield", uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(timeless(want), timeless(got)); diff != "" {
			t.Errorf("revision %d (-want +got):\n%s", i+1, diff)
		}
	}
	for _, n := range []uint64{0, 4, math.MaxUint64} {
		_, err := h.ManifestOf("northfield", n)
		wantKind(t, err, errdefs.NotFound)
	}
	_, err := h.ManifestOf("nowhere", 1)
	wantKind(t, err, errdefs.NotFound)
}

// timeless returns a manifest without lifetimes.
func timeless(m *manifest.Manifest) *manifest.Manifest {
	c := *m
	c.Plants = slices.Clone(c.Plants)
	for i := range c.Plants {
		p := &c.Plants[i]
		p.Life, p.Groups = manifest.Lifetime{}, slices.Clone(p.Groups)
		for j := range p.Groups {
			g := &p.Groups[j]
			g.Life, g.Stations = manifest.Lifetime{}, slices.Clone(g.Stations)
			for k := range g.Stations {
				g.Stations[k].Life = manifest.Lifetime{}
			}
		}
	}
	return &c
}

// TestGoneStations checks which stations have been removed, and when.
func TestGoneStations(t *testing.T) {
	h := newPlant(t)
	m, err := h.now().Manifest()
	if err != nil {
		t.Fatal(err)
	}
	code := m.Plants[0].Groups[0].Stations[0].Code
	h.clock.tick()
	h.apply(edit(t, plantFile, "plants[0].stationGroups[0].stations[0] -", "skus = []", "plants[0].totalEnergyStationCodes = null", "plants[0].stationGroups[0].totalEnergyStationCodes = null"))
	gone, err := h.GoneStations("northfield")
	if life, ok := gone[code]; err != nil || len(gone) != 1 || !ok || !life.ArchivedAt.Equal(h.clock.Now()) || !life.CreatedAt.Equal(start) {
		t.Errorf("%s left at %v: %v, %v", code, h.clock.Now(), gone, err)
	}
	h.clock.tick()
	h.apply(plantFile)
	if gone, err := h.GoneStations("northfield"); err != nil || len(gone) != 0 {
		t.Errorf("all are back: %v, %v", gone, err)
	}
}

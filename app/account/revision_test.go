package account

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"opsmon/app/account/manifest"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// TestRevisions checks that every change creates a revision with number, time, author and note, and that they are
// listed newest first, in pages.
func TestRevisions(t *testing.T) {
	h := newPlant(t)
	times := []string{start.Format(instant.Layout)}
	note := func(p auth.Principal, i int, note string) {
		times = append(times, h.clock.tick())
		if _, err := h.Apply(p, ApplyInput{Raw: edit(t, plantFile, fmt.Sprintf(`electricalPricePerKwh = 0.%d`, i)), Note: note}); err != nil {
			t.Fatal(err)
		}
	}
	note(boss(), 2, "as measured")
	note(auth.Local("northfield"), 3, "")
	times = append(times, h.clock.tick())
	h.post(`{"currency": "USD"}`)
	times = append(times, h.clock.tick())
	if _, err := h.Restore(person(auth.Member), 1, "", nil); err != nil {
		t.Fatal(err)
	}
	all, total, err := h.Revisions(person(auth.Readonly), 100, 0)
	if err != nil || total != 5 {
		t.Fatalf("%d revisions: %v", total, err)
	}
	want := []RevisionInfo{
		{5, times[4], "member@northfield.example", "restored revision 1"}, {4, times[3], "admin@northfield.example", ""},
		{3, times[2], "local administrator", ""}, {2, times[1], "admin@northfield.example", "as measured"}, {1, times[0], "local administrator", "first manifest"},
	}
	if fmt.Sprint(all) != fmt.Sprint(want) {
		t.Errorf("revisions are\n%v\nwant\n%v", all, want)
	}
	for limit := range 8 {
		for skip := range 8 {
			page, n, err := h.Revisions(boss(), limit, skip)
			if expected := all[min(skip, 5):min(skip+limit, 5)]; err != nil || n != 5 || fmt.Sprint(page) != fmt.Sprint(expected) || page == nil {
				t.Errorf("limit %d, skip %d: %v of %d, %v; want %v", limit, skip, page, n, err, expected)
			}
		}
	}
	h.whole()
}

// TestShowRevision checks that a revision is the whole former document, which can be applied again; that the newest
// is the current one; and that equal documents are stored once.
func TestShowRevision(t *testing.T) {
	h := newPlant(t)
	second := edit(t, plantFile, `skus -`, `currency = "CHF"`)
	h.apply(second)
	h.post(`{"currency": "USD"}`)
	h.apply(plantFile)
	show := func(n uint64) []byte {
		t.Helper()
		rep, err := h.Revision(person(auth.Readonly), n)
		if err != nil {
			t.Fatal(err)
		}
		if len(rep.Bytes()) != rep.Size || !strings.HasPrefix(rep.ETag, fmt.Sprintf(`"%d-`, n)) {
			t.Errorf("revision %d has %d bytes, size %d and tag %s", n, len(rep.Bytes()), rep.Size, rep.ETag)
		}
		return rep.Bytes()
	}
	exact(t, "revision 1", plantFile, show(1))
	exact(t, "revision 2", second, show(2))
	exact(t, "revision 3", edit(t, second, `currency = "USD"`), show(3))
	exact(t, "revision 4", plantFile, show(4))
	if !bytes.Equal(show(4), h.now().Document().Bytes()) {
		t.Error("the newest revision is not what is read")
	}
	for n := range uint64(4) {
		if report := Validate(show(n+1), start); !report.Valid {
			t.Errorf("revision %d cannot be applied: %v", n+1, report.Details)
		}
	}
	for _, n := range []uint64{0, 5, 1 << 63} {
		_, err := h.Revision(boss(), n)
		wantKind(t, err, errdefs.NotFound)
		_, err = h.Restore(boss(), n, "", nil)
		wantKind(t, err, errdefs.NotFound)
	}
	count := 0
	if err := h.store.View(func(tx *kv.Tx) error { count = documents.Count(tx); return nil }); err != nil || count != 2 {
		t.Errorf("%d documents are kept, want 2: %v", count, err)
	}
}

// TestRestore checks that restoring a former state creates a new revision, and that restoring the current one does
// not.
func TestRestore(t *testing.T) {
	h := newPlant(t)
	h.apply(edit(t, plantFile, `plants[1] -`, `currency = "CHF"`))
	r, err := h.Restore(boss(), 1, "the south works are back", nil)
	if err != nil || r.Revision != 3 || r.TotalChanges != 6 {
		t.Fatalf("restored: %+v, %v", r, err)
	}
	exact(t, "restored", plantFile, h.now().Document().Bytes())
	for _, n := range []uint64{1, 3} {
		if r, err := h.Restore(boss(), n, "", nil); err != nil || r.Changed || r.Revision != 3 {
			t.Errorf("again: %+v, %v", r, err)
		}
	}
	_, err = h.Restore(boss(), 2, strings.Repeat("n", 201), nil)
	wantKind(t, err, errdefs.Invalid)
	if got, want := h.field("currency"), `"EUR"`; got != want {
		t.Errorf("currency is %s", got)
	}
	h.whole()
}

// TestCheckDamage damages the records in different ways: Check must report each one and never panic.
func TestCheckDamage(t *testing.T) {
	apptest.Long(t)
	key := func(n uint64) kv.Pair[string, uint64] { return kv.Pair[string, uint64]{A: "northfield", B: n} }
	record := func(tx *kv.Tx, change func(a *Account)) error {
		a, err := accounts.Get(tx, "northfield")
		if err != nil {
			return err
		}
		change(&a)
		return accounts.Put(tx, "northfield", a)
	}
	for _, c := range []struct {
		name   string
		damage func(tx *kv.Tx) error
		want   string
	}{
		{"a revision is missing", func(tx *kv.Tx) error { return revisions.Delete(tx, key(2)) }, "account northfield: revision 3 is where 2 should be"},
		{"the newest is missing", func(tx *kv.Tx) error { return revisions.Delete(tx, key(3)) }, "account northfield: 2 revisions are there, and its record says 3"},
		{"a revision has another number", func(tx *kv.Tx) error {
			r, err := revisions.Get(tx, key(2))
			if err != nil {
				return err
			}
			r.Number = 7
			return revisions.Put(tx, key(2), r)
		}, "account northfield: revision 7 is where 2 should be"},
		{"the manifest is missing", func(tx *kv.Tx) error { return rendered.Delete(tx, "northfield") }, "account northfield: its manifest: "},
		{"the manifest is empty", func(tx *kv.Tx) error { return rendered.Put(tx, "northfield", nil) }, "account northfield: its manifest is not the one that its record names"},
		{"the manifest is another", func(tx *kv.Tx) error { return rendered.Put(tx, "northfield", []byte(`{"plants":[]}`)) }, "account northfield: its manifest is not the one that its record names"},
		{"a document is missing", func(tx *kv.Tx) error {
			r, err := revisions.Get(tx, key(1))
			if err != nil {
				return err
			}
			return documents.Delete(tx, r.Account.Document)
		}, "account northfield: document of revision 1: "},
		{"a document is no archive", func(tx *kv.Tx) error {
			r, err := revisions.Get(tx, key(1))
			if err != nil {
				return err
			}
			return documents.Put(tx, r.Account.Document, []byte("nonsense"))
		}, "account northfield: document of revision 1: "},
		{"a document is another", func(tx *kv.Tx) error {
			r, err := revisions.Get(tx, key(1))
			if err != nil {
				return err
			}
			return documents.Put(tx, r.Account.Document, compress([]byte(`{}`)))
		}, "account northfield: document of revision 1 is not what its name says"},
		{"a setting breaks a rule", func(tx *kv.Tx) error { return record(tx, func(a *Account) { a.Own["currency"] = []byte(`"EURO"`) }) },
			`account northfield: manifest: account.currency must be an ISO 4217 currency code such as EUR; it is "EURO"`},
		{"a setting has a wrong shape", func(tx *kv.Tx) error { return record(tx, func(a *Account) { a.Own["enableTasks"] = []byte(`7`) }) },
			"account northfield: manifest: account.enableTasks must be one of on, off, or null; it is 7"},
		{"the record names another document", func(tx *kv.Tx) error { return record(tx, func(a *Account) { a.Document = Hash{1} }) },
			"account northfield: its manifest and the document of its newest revision are not the same"},
		{"a manifest of nobody", func(tx *kv.Tx) error { return rendered.Put(tx, "nobody", []byte("{}")) }, "manifest of account nobody: there is no such account"},
		{"a revision of nobody", func(tx *kv.Tx) error {
			return revisions.Put(tx, kv.Pair[string, uint64]{A: "nobody", B: 1}, Revision{})
		},
			"revision of account nobody: there is no such account"},
		{"a document of nobody", func(tx *kv.Tx) error { return documents.Put(tx, Hash{7}, compress([]byte(`{}`))) }, "no revision that can be read names it"},
		{"a place of nobody", func(tx *kv.Tx) error { return gone.Put(tx, kv.Pair[string, goneKey]{A: "nobody"}, storedLifetime{}) },
			"earlier place of account nobody: there is no such account"},
		{"a record under another key", func(tx *kv.Tx) error {
			a, err := accounts.Get(tx, "northfield")
			if err != nil {
				return err
			}
			return accounts.Put(tx, "other", a)
		}, `account other: its record is that of "northfield"`},
		{"two accounts of one domain", func(tx *kv.Tx) error {
			a, err := accounts.Get(tx, "northfield")
			if err != nil {
				return err
			}
			a.ID = "other"
			return accounts.Put(tx, "other", a)
		}, "too"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newPlant(t)
			h.apply(edit(t, plantFile, `skus -`))
			h.post(`{"currency": "USD"}`)
			h.whole()
			if err := h.store.Update(c.damage); err != nil {
				t.Fatal(err)
			}
			var got []string
			if err := h.check(start, func(problem string) { got = append(got, problem) }); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(got, "\n"); !strings.Contains(text, c.want) {
				t.Errorf("check says %q, want %q", text, c.want)
			}
		})
	}
}

// TestDamagedRevision checks that a revision with a missing document is reported as damage, not as unknown.
func TestDamagedRevision(t *testing.T) {
	h := newPlant(t)
	first := h.now().Account.Document
	h.apply(edit(t, plantFile, `skus -`))
	if err := h.store.Update(func(tx *kv.Tx) error { return documents.Delete(tx, first) }); err != nil {
		t.Fatal(err)
	}
	_, err := h.Revision(boss(), 1)
	wantKind(t, err, errdefs.Internal)
}

// TestCompare checks that comparing any two revisions, in either direction, returns the changes of the update between
// them.
func TestCompare(t *testing.T) {
	h := newPlant(t)
	h.clock.tick()
	second, err := h.Apply(boss(), ApplyInput{Raw: edit(t, plantFile, `currency = "CHF"`)})
	if err != nil || second.TotalChanges == 0 {
		t.Fatal(second, err)
	}
	h.post(`{"currency": "USD"}`)
	compare := func(from, to uint64) *Difference {
		t.Helper()
		d, err := h.Compare("northfield", from, to)
		if err != nil || d.From != from || d.To != to || d.Changes == nil || len(d.Changes) != d.TotalChanges {
			t.Fatalf("%d to %d: %+v, %v", from, to, d, err)
		}
		return d
	}
	show := func(list []manifest.Change) string {
		b, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if d := compare(1, 2); show(d.Changes) != show(second.Changes) {
		t.Errorf("1 to 2 is %s, and applying it changed %s", show(d.Changes), show(second.Changes))
	}
	if got := show(compare(3, 2).Changes); got != `[{"path":"currency","kind":"changed","from":"USD","to":"CHF"}]` {
		t.Errorf("3 to 2 is %s", got)
	}
	if d := compare(2, 2); d.TotalChanges != 0 {
		t.Errorf("2 to 2 is %s", show(d.Changes))
	}
	before := bytes.Clone(h.now().Document().Bytes())
	compare(1, 3) // 3 is the current revision
	if !bytes.Equal(before, h.now().Document().Bytes()) {
		t.Error("comparing changes what is in force")
	}
	for _, pair := range [][2]uint64{{1, 9}, {9, 1}, {0, 1}} {
		if _, err := h.Compare("northfield", pair[0], pair[1]); errdefs.KindOf(err) != errdefs.NotFound {
			t.Errorf("%v: %v", pair, err)
		}
	}
}

package account

import (
	"bytes"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/account/manifest"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
	"opsmon/kv/kvtest"
	"opsmon/schema/strictjson"
)

var update = flag.Bool("update", false, "write the golden files anew")

// plantFile is a realistic plant that uses every setting, with digits, escapes and unknown properties that must be
// preserved.
//
//go:embed testdata/plant.json
var plantFile []byte

// start is the initial time of every test's clock, in winter.
var start = time.Date(2026, 1, 12, 8, 0, 0, 0, time.UTC)

// watch is a clock that the test advances.
type watch struct {
	mu  sync.Mutex
	now time.Time
}

func (w *watch) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// tick advances the clock by a minute and returns its time in the format of documents.
func (w *watch) tick() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(time.Minute)
	return w.now.Format(instant.Layout)
}

// house is a service on a real store.
type house struct {
	*Service
	t     testing.TB
	store *kv.Store
	clock *watch
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, clock: &watch{now: start}}
	h.store = kvtest.New(t, func(c *kv.Config) {
		c.Buckets = slices.Concat(Buckets(), audit.Buckets())
		c.Clock = h.clock.Now
	})
	h.reopen()
	t.Cleanup(func() { h.Close() })
	return h
}

// newPlant returns a house with the account of plantFile.
func newPlant(t testing.TB) *house {
	t.Helper()
	h := newHouse(t)
	h.create(CreateInput{Manifest: plantFile})
	return h
}

// reopen replaces the service by a new one on the same store.
func (h *house) reopen() {
	h.t.Helper()
	s, err := New(Config{Store: h.store, Clock: h.clock.Now})
	if err != nil {
		h.t.Fatal(err)
	}
	h.Service = s
}

// tryCreate creates an account as the appliance does.
func (h *house) tryCreate(in CreateInput, first bool) error {
	d, err := h.Draft(in)
	if err != nil {
		return err
	}
	var done func()
	if err := h.store.Update(func(tx *kv.Tx) (err error) {
		done, err = h.CreateTx(tx, d, first, auth.Local(""))
		return err
	}); err != nil {
		return err
	}
	done()
	return nil
}

func (h *house) create(in CreateInput) {
	h.t.Helper()
	if err := h.tryCreate(in, false); err != nil {
		h.t.Fatal(err)
	}
}

// boss is an admin of the account of plantFile.
func boss() auth.Principal { return person(auth.Admin) }

func person(role auth.Role) auth.Principal {
	return auth.Principal{Type: auth.TypeSession, SessionID: "s1", Email: string(role) + "@northfield.example", AccountID: "northfield", Role: role, UserRole: auth.UserRoleCustomer}
}

// apply applies a manifest.
func (h *house) apply(raw []byte) *ApplyResult {
	h.t.Helper()
	r, err := h.Apply(boss(), ApplyInput{Raw: raw})
	if err != nil {
		h.t.Fatalf("apply: %v%s", err, detailsOf(err))
	}
	return r
}

// post updates the account as POST /account does.
func (h *house) post(body string) *Account {
	h.t.Helper()
	a, err := h.Update(boss(), decode(h.t, []byte(body)), nil)
	if err != nil {
		h.t.Fatalf("update %s: %v%s", body, err, detailsOf(err))
	}
	return a
}

// now returns the current snapshot of the account.
func (h *house) now() *Snapshot {
	h.t.Helper()
	s, err := h.Get("northfield")
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// field returns a member of the answer of GET /account, or of the manifest, as JSON.
func (h *house) field(path string) string {
	h.t.Helper()
	v := at(h.t, decode(h.t, h.now().Answer(true).Bytes()), "result."+path)
	return string(manifest.Encode(v))
}

// whole checks that Check reports no problem.
func (h *house) whole() {
	h.t.Helper()
	if err := h.check(h.clock.Now(), func(problem string) { h.t.Errorf("check: %s", problem) }); err != nil {
		h.t.Error(err)
	}
}

func decode(t testing.TB, raw []byte) any {
	t.Helper()
	v, err := strictjson.Decode(raw)
	if err != nil {
		t.Fatalf("%v in %.200s", err, raw)
	}
	return v
}

// wantKind checks the kind of an error.
func wantKind(t testing.TB, err error, kind errdefs.Kind) {
	t.Helper()
	if err == nil || errdefs.KindOf(err) != kind {
		t.Errorf("error is %v (kind %v), want kind %v", err, errdefs.KindOf(err), kind)
	}
}

// detailsOf returns the details of an error, one per line.
func detailsOf(err error) string {
	var b strings.Builder
	var e *errdefs.Error
	if errors.As(err, &e) {
		for _, d := range e.Details {
			fmt.Fprintf(&b, "\n%s %s", d.Field, d.Issue)
		}
	}
	return b.String()
}

// golden compares with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got), -update writes it anew:\n%s", name, diff)
	}
}

// steps splits a dotted path with indices: "account.plants[0].code".
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// at returns the value at a path of a decoded document.
func at(t testing.TB, v any, path string) any {
	t.Helper()
	for _, step := range steps(path) {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(x) {
				t.Fatalf("%s: there is no %s", path, step)
			}
			v = x[i]
		default:
			t.Fatalf("%s: %s stands in a %T", path, step, v)
		}
	}
	return v
}

// edit changes a document and returns the new one. An edit is "path = JSON", "path += JSON" (append an element), or
// "path -" (remove). Without a leading dot a path starts at account.
func edit(t testing.TB, raw []byte, edits ...string) []byte {
	t.Helper()
	doc := decode(t, raw)
	for _, e := range edits {
		path, text, found := strings.Cut(e, " ")
		op, text, _ := strings.Cut(text, " ")
		if path[0] != '.' {
			path = "account." + path
		}
		all := steps(path)
		parent, last := strings.Join(all[:len(all)-1], "."), all[len(all)-1]
		holder := at(t, doc, parent)
		i, _ := strconv.Atoi(last)
		switch {
		case found && op == "-":
			if list, ok := holder.([]any); ok {
				list = slices.Delete(slices.Clone(list), i, i+1)
				setAt(t, doc, parent, list)
			} else {
				delete(holder.(map[string]any), last)
			}
		case op == "=" && text != "":
			setAt(t, doc, path, decode(t, []byte(text)))
		case op == "+=" && text != "":
			list, _ := at(t, doc, path).([]any)
			setAt(t, doc, path, append(slices.Clone(list), decode(t, []byte(text))))
		default:
			t.Fatalf("edit %q is none", e)
		}
	}
	return manifest.Encode(doc)
}

// setAt sets the value at a path.
func setAt(t testing.TB, doc any, path string, v any) {
	t.Helper()
	all := steps(path)
	last := all[len(all)-1]
	switch x := at(t, doc, strings.Join(all[:len(all)-1], ".")).(type) {
	case map[string]any:
		x[last] = v
	case []any:
		i, err := strconv.Atoi(last)
		if err != nil {
			t.Fatal(err)
		}
		x[i] = v
	default:
		t.Fatalf("%s stands in a %T", path, x)
	}
}

// body returns a document as one line, for comparisons.
func body(r *Representation) string { return string(bytes.TrimSpace(r.Bytes())) }

// check runs Check on this house's store.
func (h *house) check(now time.Time, report func(string)) error {
	return h.store.View(func(tx *kv.Tx) error { Check(tx, now, report); return nil })
}

package station

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// start is the first time of every test's clock.
var start = time.Date(2026, 1, 12, 8, 0, 0, 0, time.UTC)

// small is a manifest with two plants, three groups and four stations.
const small = `{"version":"v1","account":{"id":"millbrook","domain":"millbrook.example",
 "shiftPatterns":[
  {"code":"two","title":"Two shifts","shifts":[{"name":"early","startHour":6,"duration":8,"weekDay":"1"},{"name":"late","startHour":14.5,"duration":8,"weekDay":"1"}]},
  {"code":"night","title":"Nights","shifts":[{"name":"night","startHour":22,"duration":8,"weekDay":"1"}]}],
 "reasons":[
  {"code":"jam","name":"Jam","type":["downtime"]},
  {"code":"setup","name":"Setup","oee":"setup","reasons":[{"code":"tool","oee":"changeover"},{"code":"clean","type":["non_production"],"oee":"planned"}]},
  {"code":"off","type":[]}],
 "tasks":[{"code":"T1","title":"Look","taskListCodes":[{"code":"start","order":1}]}],
 "taskLists":[{"code":"start","name":"Start of shift"}],
 "skus":[
  {"code":"A","name":"Part A","cycleTime":12000,"partsPerCycle":2,"minimumCycleTime":0,"lineSpeedTarget":30,"downtimeDurationThresholdMultiplier":3,"value":4.5},
  {"code":"B","name":"Part B","unitsPerHour":90,"stationCodes":["PRESS-1"]},
  {"code":"C","name":"Part C","unitsPerMinute":4,"stationGroupCodes":["weld"]}],
 "plants":[
  {"code":"leeds","name":"Leeds","timezone":"Europe/London","dayStartHour":6,"weekStartDay":0,"totalEnergyStationCodes":["PRESS-2"],"stationGroups":[
   {"code":"press","name":"Presses","shiftPatternCode":"two","stations":[{"code":"PRESS-1","name":"Press 1"},{"code":"PRESS-2","name":"Press 2","shiftPatternCode":"night"}]},
   {"code":"weld","name":"Welding","stations":[{"code":"WELD-1","name":"Welder"}]}]},
  {"code":"graz","name":"Graz","timezone":"Europe/Vienna","dayStartHour":0,"weekStartDay":6,"stationGroups":[
   {"code":"press","name":"Pressen","shiftPatternCode":"two","stations":[{"code":"PRESSE-1","name":"Presse 1"}]}]}]}}`

// edit changes a document. An edit is "path = JSON", "path += JSON" (append an item) or "path -" (delete). Paths start
// at account.
func edit(t testing.TB, doc string, edits ...string) string {
	t.Helper()
	var root any
	if err := json.Unmarshal([]byte(doc), &root); err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		path, rest, _ := strings.Cut(e, " ")
		op, text, _ := strings.Cut(rest, " ")
		var value any
		if op != "-" {
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				t.Fatalf("%s: %v", e, err)
			}
		}
		steps := strings.FieldsFunc("account."+path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
		root = change(t, root, steps, op, value)
	}
	out, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func change(t testing.TB, v any, steps []string, op string, value any) any {
	t.Helper()
	if len(steps) == 0 {
		if op == "+=" {
			list, _ := v.([]any)
			return append(slices.Clone(list), value)
		}
		return value
	}
	switch x := v.(type) {
	case map[string]any:
		if op == "-" && len(steps) == 1 {
			delete(x, steps[0])
			return x
		}
		x[steps[0]] = change(t, x[steps[0]], steps[1:], op, value)
		return x
	case []any:
		i, err := strconv.Atoi(steps[0])
		if err != nil || i >= len(x) {
			t.Fatalf("there is no %s", steps[0])
		}
		if op == "-" && len(steps) == 1 {
			return slices.Delete(x, i, i+1)
		}
		x[i] = change(t, x[i], steps[1:], op, value)
		return x
	}
	t.Fatalf("%v stands in a %T", steps, v)
	return nil
}

// watch is a clock that is set by hand.
type watch struct {
	mu  sync.Mutex
	now time.Time
}

func (w *watch) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// set moves the clock to a moment after start.
func (w *watch) set(after time.Duration) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = start.Add(after)
	return w.now.UnixMilli()
}

// house is a real store with accounts and timelines.
type house struct {
	t        testing.TB
	clock    *watch
	store    *kv.Store
	accounts *account.Service
	*Timelines
}

// newHouse creates the account of a manifest at start.
func newHouse(t testing.TB, manifest string) *house {
	t.Helper()
	h := &house{t: t, clock: &watch{now: start}}
	h.store = kvtest.New(t, func(c *kv.Config) {
		c.Buckets = slices.Concat(account.Buckets(), audit.Buckets(), Buckets())
		c.Clock = h.clock.Now
	})
	h.reopen()
	d, err := h.accounts.Draft(account.CreateInput{Manifest: []byte(manifest)})
	if err != nil {
		t.Fatal(err)
	}
	var done func()
	if err := h.store.Update(func(tx *kv.Tx) (err error) {
		done, err = h.accounts.CreateTx(tx, d, true, auth.Local(""))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	done()
	return h
}

// reopen opens accounts and timelines again, with only what is stored.
func (h *house) reopen() {
	h.t.Helper()
	var err error
	if h.accounts, err = account.New(account.Config{Store: h.store, Clock: h.clock.Now, Effect: EffectOf}); err != nil {
		h.t.Fatal(err)
	}
	h.Timelines = New(Config{Accounts: h.accounts, Store: h.store})
}

func boss() auth.Principal {
	return auth.Principal{Type: auth.TypeSession, SessionID: "s1", Email: "boss@millbrook.example", AccountID: "millbrook", Role: auth.Admin, UserRole: auth.UserRoleCustomer}
}

// apply applies a manifest at a time after start and returns it in ms.
func (h *house) apply(after time.Duration, manifest string) (at int64) {
	h.t.Helper()
	at = h.clock.set(after)
	if _, err := h.accounts.Apply(boss(), account.ApplyInput{Raw: []byte(manifest)}); err != nil {
		h.t.Fatal(err)
	}
	return at
}

// post changes settings as POST /account does.
func (h *house) post(after time.Duration, body map[string]any) (at int64) {
	h.t.Helper()
	at = h.clock.set(after)
	if _, err := h.accounts.Update(boss(), body, nil); err != nil {
		h.t.Fatal(err)
	}
	return at
}

func (h *house) line() *Timeline {
	h.t.Helper()
	line, err := h.Of("millbrook")
	if err != nil {
		h.t.Fatal(err)
	}
	return line
}

// at returns a station at a time after start.
func (h *house) at(after time.Duration, code string) *Station {
	h.t.Helper()
	p, err := h.line().At(start.Add(after).UnixMilli())
	if err != nil {
		h.t.Fatal(err)
	}
	return p.Of(code)
}

// resolved resolves a station of a manifest without a store.
func resolved(t testing.TB, manifest, code string) *Station {
	t.Helper()
	s := newHouse(t, manifest).at(0, code)
	if s == nil {
		t.Fatalf("there is no station %s", code)
	}
	return s
}

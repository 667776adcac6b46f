// Package floortest gives tests a plant: a temporary store with an account, the log of signals and a Floor, on a clock
// that moves only when it is told to. It opens its rooms itself and not by package services, which imports the work rooms:
// their tests, which use this package, could not.
package floortest

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/history"
	"opsmon/app/engine/ledger"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/kv"
	"opsmon/kv/kvtest"
)

// Account is the id of the plant's account.
const Account = "works"

// Manifest is a small plant: the station PRESS, with the SKU BOWL at 60 units a minute, in one shift that never ends in
// UTC; PACK beside it, in another group, with a shift from 6 to 14 on weekdays.
const Manifest = `{"version":"v1","account":{"id":"works","domain":"works.example",
"enableManualDowntime":"on","enableQuickScheduleStart":"on","enableScheduleCutShort":"on","enableManualProduction":"on","enableRejectProduction":"on",
"enableProductionCorrection":"on","enableHistoricalCorrection":"on","enableAutoEndOnQuantityComplete":"on","enableTasks":"on","enableLostProductionCost":"on",
"includeTaskListCodes":["START","ROUND","CLEAN"],
"shiftPatterns":[{"code":"early","title":"Early","shifts":[
 {"name":"Early","startHour":6,"duration":8,"weekDay":"1"},{"name":"Early","startHour":6,"duration":8,"weekDay":"2"},{"name":"Early","startHour":6,"duration":8,"weekDay":"3"},
 {"name":"Early","startHour":6,"duration":8,"weekDay":"4"},{"name":"Early","startHour":6,"duration":8,"weekDay":"5"}]}],
"reasons":[{"code":"JAM","name":"Jam","type":["downtime"]},{"code":"SETUP","name":"Set-up","type":["downtime","non_production"],"oee":"setup"},
 {"code":"BREAK","name":"Break","type":["non_production"],"oee":"planned"}],
"tasks":[{"code":"CHECK","title":"Check the tool","taskListCodes":[{"code":"START","order":1}]},{"code":"WALK","title":"Walk round","requireNotes":true,"taskListCodes":[{"code":"ROUND","order":1}]},
 {"code":"WIPE","title":"Wipe","taskListCodes":[{"code":"CLEAN","order":1}]}],
"taskLists":[{"code":"START","name":"At the start","trigger":{"type":"schedule"}},{"code":"ROUND","name":"Round","trigger":{"type":"cron","pattern":"0 */2 * * *","availableBeforeDeadlineMinutes":30}},
 {"code":"CLEAN","name":"Cleaning","trigger":{"type":"on_demand"}}],
"skus":[{"code":"BOWL","name":"Bowl","unitsPerMinute":60,"value":0.5,"allowUseInQuickSchedule":true},{"code":"PLATE","name":"Plate","cycleTime":2000,"partsPerCycle":4,"value":0.25,"stationCodes":null}],
"plants":[{"code":"main","name":"Main works","timezone":"UTC","dayStartHour":6,"weekStartDay":0,"stationGroups":[
 {"code":"shaping","name":"Shaping","stations":[{"code":"PRESS","name":"Press","downtimeDetectionMode":"utilisation","utilisationDowntimeThreshold":120000},
  {"code":"PRESS-2","name":"Press 2","downtimeDetectionMode":"production"}]},
 {"code":"packing","name":"Packing","shiftPatternCode":"early","stations":[{"code":"PACK","name":"Packing","utilisationDowntimeThreshold":120000}]}]}]}}`

// Start is the first moment of a Rig's clock: a Monday.
var Start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// Rig is a plant for tests.
type Rig struct {
	T         testing.TB
	Store     *kv.Store
	Accounts  *account.Service
	Timelines *station.Timelines
	Signals   *signal.Log
	History   *history.Store
	Events    *event.Hub
	Floor     *floor.Floor

	Retention time.Duration // of signals; 0 = the usual one
	Quiet     bool          // what the Floor fails at is expected

	mu  sync.Mutex
	now time.Time
	cfg func(*floor.Config)
	set []floor.Rule
}

// Buckets are those that a Rig's store has, for who adds more.
func Buckets() []string {
	return slices.Concat(account.Buckets(), audit.Buckets(), signal.Buckets(), ledger.Buckets(), floor.Buckets(), history.Buckets(), station.Buckets())
}

// New makes a Rig of a manifest, whose account is Account; more names further buckets. Open must be called before the
// Floor is used.
func New(t testing.TB, manifest string, more ...string) *Rig {
	t.Helper()
	r := &Rig{T: t, now: Start}
	r.Store = kvtest.New(t, func(c *kv.Config) { c.Buckets, c.Clock = append(Buckets(), more...), r.Now })
	var err error
	r.Accounts, err = account.New(account.Config{Effect: station.EffectOf, Store: r.Store, Clock: r.Now, Log: slog.New(slog.DiscardHandler), Changed: func(id string) {
		if r.Floor != nil {
			r.Floor.Changed(id)
		}
	}})
	r.must(err)
	d, err := r.Accounts.Draft(account.CreateInput{Manifest: json.RawMessage(manifest)})
	r.must(err)
	var done func()
	r.must(r.Store.Update(func(tx *kv.Tx) (err error) {
		done, err = r.Accounts.CreateTx(tx, d, true, auth.Local(""))
		return err
	}))
	done()
	r.History, err = history.New(history.Config{Store: r.Store, Clock: r.Now})
	r.must(err)
	t.Cleanup(r.Close)
	return r
}

// Open makes the Floor and the log; called again, it does so as after a restart: what was in memory only is gone. cfg
// may change the Floor's settings.
func (r *Rig) Open(cfg func(*floor.Config), rules ...floor.Rule) *Rig {
	r.T.Helper()
	if r.Floor != nil {
		r.Floor.Close()
	}
	r.cfg, r.set = cfg, rules
	r.Events = event.NewHub(0)
	var err error
	r.History, err = history.New(history.Config{Store: r.Store, Clock: r.Now, Signals: r.Retention})
	r.must(err)
	r.Signals, err = signal.NewLog(signal.Config{Store: r.Store, Clock: r.Now, Retention: r.Retention, Log: slog.New(slog.DiscardHandler), Appended: func(list []signal.Signal) { r.Floor.Arrived(list) }})
	r.must(err)
	r.Timelines = station.New(station.Config{Accounts: r.Accounts, Store: r.Store})
	c := floor.Config{
		History: r.History, Accounts: r.Accounts,
		Store: r.Store, Signals: r.Signals, Events: r.Events, Timelines: r.Timelines, Clock: r.Now, Log: slog.New(trouble{slog.DiscardHandler, r.T, &r.Quiet}),
	}
	if cfg != nil {
		cfg(&c)
	}
	r.Floor = floor.New(c)
	r.Floor.Use(rules...)
	return r
}

// Through returns up to when the history of a station is kept, ms.
func (r *Rig) Through(stationCode string) (through int64) {
	r.T.Helper()
	r.must(r.Store.View(func(tx *kv.Tx) (err error) {
		through, err = r.History.Through(tx, Account, stationCode)
		return err
	}))
	return through
}

// Reopen opens the Floor anew as it was, as after a restart.
func (r *Rig) Reopen() *Rig { return r.Open(r.cfg, r.set...) }

// Forget removes what is kept of a station and opens the Floor anew, and waits until all of it is computed again from
// the log.
func (r *Rig) Forget(stationCode string) {
	r.T.Helper()
	r.Floor.Close()
	r.Floor = nil
	r.must(r.Store.Update(func(tx *kv.Tx) error { return r.History.Forget(tx, Account, stationCode, 0) }))
	r.Open(r.cfg, r.set...)
	r.Compute()
}

// Compute lets the Floor work until no station is late.
func (r *Rig) Compute() {
	r.T.Helper()
	err := r.Floor.Pass(Account)
	for tries := 1; err != nil && tries < 10; tries++ { // a large plant is still being read
		err = r.Floor.Pass(Account)
	}
	r.must(err)
	for turns := 0; r.Floor.Health(Account).Late > 0; turns++ {
		if turns == 1000 {
			r.T.Fatal("a station stays late")
		}
		r.Pass(time.Second, 0)
	}
}

// ForgetAll removes what is kept of all stations, and leaves the Floor closed.
func (r *Rig) ForgetAll() {
	r.T.Helper()
	if r.Floor != nil {
		r.Floor.Close()
		r.Floor = nil
	}
	snap, err := r.Accounts.Get(Account)
	r.must(err)
	m, err := snap.Manifest()
	r.must(err)
	for _, p := range m.Plants {
		for _, g := range p.Groups {
			for _, s := range g.Stations {
				r.must(r.Store.Update(func(tx *kv.Tx) error { return r.History.Forget(tx, Account, s.Code, 0) }))
			}
		}
	}
}

// Damage makes the packed signals of a station unreadable, until they are mended.
func (r *Rig) Damage(stationCode string) (mend func()) {
	r.T.Helper()
	r.Quiet = true
	parts := kv.NewBucket("signal", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.Uint64))), kv.Raw)
	var whole []kv.Item[kv.Pair[string, kv.Pair[string, kv.Pair[uint64, uint64]]], []byte]
	r.must(r.Store.Update(func(tx *kv.Tx) error {
		whole = whole[:0]
		for item, err := range parts.Scan(tx, kv.Under(parts, Account)) {
			if err == nil && item.Key.B.A == stationCode {
				whole = append(whole, item)
			}
		}
		for _, item := range whole {
			if err := parts.Put(tx, item.Key, []byte("damaged")); err != nil {
				return err
			}
		}
		return nil
	}))
	return func() {
		r.must(r.Store.Update(func(tx *kv.Tx) error {
			for _, item := range whole {
				if err := parts.Put(tx, item.Key, item.Value); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// Close ends what Open began.
func (r *Rig) Close() {
	if r.Floor != nil {
		r.Floor.Close()
	}
	r.Accounts.Close()
}

func (r *Rig) must(err error) {
	r.T.Helper()
	if err != nil {
		r.T.Fatal(err)
	}
}

// Now is the Rig's time.
func (r *Rig) Now() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// Pass lets time pass, a step at a time; after each the Floor does what there is to do. A step of 0 is the whole.
func (r *Rig) Pass(d, step time.Duration) {
	r.T.Helper()
	if step == 0 {
		step = d
	}
	for d > 0 {
		r.mu.Lock()
		r.now = r.now.Add(min(step, d))
		r.mu.Unlock()
		d -= min(step, d)
		r.must(r.Floor.Pass(Account))
	}
}

// Pause lets time pass of which the Floor knows nothing, as when the service is off.
func (r *Rig) Pause(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// At returns the moment so long after Start, ms.
func At(after time.Duration) int64 { return Start.Add(after).UnixMilli() }

// Send stores signals as they arrive now, and lets the Floor take them in. With At 0 a signal is of now.
func (r *Rig) Send(list ...signal.Signal) {
	r.T.Helper()
	for i := range list {
		s := &list[i]
		s.Account, s.Arrived = Account, r.Now().UnixMilli()
		if s.At == 0 {
			s.At = s.Arrived
		}
		if s.Source == "" {
			s.Source = "device:works/gateway"
		}
	}
	_, err := r.Signals.Append(list)
	r.must(err)
	r.must(r.Floor.Pass(Account))
}

// StoreUntold stores signals as they arrive now without the Floor's being told, and opens it anew: as when the power
// fails between their commit and what follows it.
func (r *Rig) StoreUntold(list ...signal.Signal) {
	r.T.Helper()
	r.Floor.Close()
	log, err := signal.NewLog(signal.Config{Store: r.Store, Clock: r.Now})
	r.must(err)
	for i := range list {
		s := &list[i]
		s.Account, s.Arrived = Account, r.Now().UnixMilli()
		if s.At == 0 {
			s.At = s.Arrived
		}
		s.Source = "device:works/gateway"
	}
	_, err = log.Append(list)
	r.must(err)
	r.Open(r.cfg, r.set...)
}

// Signal makes a signal of a station with the fields given.
func Signal(stationCode string, at int64, fields map[signal.Field]float64) signal.Signal {
	s := signal.Signal{Station: stationCode, At: at}
	for f, v := range fields {
		s.Set(f, v)
	}
	return s
}

// trouble writes what the Floor warns of to the test's log, and fails the test for an error.
type trouble struct {
	slog.Handler
	t     testing.TB
	quiet *bool
}

// Handle implements slog.Handler.
func (h trouble) Handle(ctx context.Context, r slog.Record) error {
	h.t.Helper()
	if r.Level >= slog.LevelError && !*h.quiet {
		text := r.Message
		r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
		h.t.Error(text)
	}
	return nil
}

// Enabled implements slog.Handler.
func (trouble) Enabled(context.Context, slog.Level) bool { return true }

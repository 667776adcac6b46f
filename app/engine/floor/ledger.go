package floor

import (
	"errors"
	"fmt"

	"opsmon/app/audit"
	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

type placeKey = kv.Pair[string, kv.Pair[string, kv.Pair[uint64, uint64]]]

// The room's buckets.
var (
	ledger    = kv.NewBucket("ledger", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.Uint64))), kv.JSON[record]())
	lateMarks = kv.NewBucket("ledgerLate", kv.PairOf(kv.String, kv.String), kv.JSON[int64]())
	backfills = kv.NewBucket("ledgerAgain", kv.PairOf(kv.String, kv.String), kv.JSON[backfillRecord]())
)

// Buckets names the buckets of this room, for kv.Config.Buckets.
func Buckets() []string {
	return []string{ledger.Name(), lateMarks.Name(), backfills.Name(), links.Name()}
}

// record is an entry of the ledger: an input other than a signal. It is stored: a changed field needs a migration.
type record struct {
	Kind      uint8           `json:"kind"` // monitor.InputKind
	Source    string          `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Up        bool            `json:"up,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Schedule  *scheduleRecord `json:"schedule,omitempty"`
	Entry     *entryRecord    `json:"entry,omitempty"`
	Recorded  int64           `json:"recordedAt"` // ms
	By        audit.Actor     `json:"by"`
	Cancelled int64           `json:"cancelledAt,omitempty"` // ms; it no longer counts
}

// scheduleRecord is a monitor.Schedule as it is stored: a changed field needs a migration.
type scheduleRecord struct {
	ID              string  `json:"id"`
	NonProduction   bool    `json:"nonProduction,omitempty"`
	SKU             string  `json:"skuCode,omitempty"`
	Reason          string  `json:"reasonCode,omitempty"`
	Quantity        float64 `json:"quantity,omitempty"`
	CycleTime       float64 `json:"cycleTime,omitempty"` // ms
	UnitsPerMinute  float64 `json:"unitsPerMinute,omitempty"`
	UnitsPerHour    float64 `json:"unitsPerHour,omitempty"`
	LineSpeedTarget float64 `json:"lineSpeedTarget,omitempty"`
	PartsPerCycle   float64 `json:"partsPerCycle,omitempty"`
	ExtendShift     bool    `json:"extendShift,omitempty"`
	WorkOrder       string  `json:"workOrderReference,omitempty"`
}

// entryRecord is a monitor.Entry as it is stored: a changed field needs a migration.
type entryRecord struct {
	Schedule   string  `json:"scheduleId,omitempty"`
	Good       float64 `json:"good,omitempty"`
	Bad        float64 `json:"bad,omitempty"`
	Reject     float64 `json:"reject,omitempty"`
	Correction bool    `json:"correction,omitempty"`
}

func newRecord(in *monitor.Input, now int64, by audit.Actor) (record, error) {
	r := record{Kind: uint8(in.Kind), Source: in.Source, ID: in.ID, Up: in.Up, Reason: in.Reason, Recorded: now, By: by}
	switch in.Kind {
	case monitor.InputScheduleStart, monitor.InputScheduleChange:
		s := &in.Schedule
		r.Schedule = &scheduleRecord{s.ID, s.NonProduction, s.SKU, s.Reason, s.Quantity, s.CycleTime, s.UnitsPerMinute, s.UnitsPerHour, s.LineSpeedTarget, s.PartsPerCycle, s.ExtendShift, s.WorkOrder}
	case monitor.InputEntry:
		r.Entry = &entryRecord{in.Entry.Schedule, in.Entry.Good, in.Entry.Bad, in.Entry.Reject, in.Entry.Correction}
	case monitor.InputScheduleEnd, monitor.InputQuantityEnd, monitor.InputManualStart, monitor.InputManualEnd, monitor.InputLink:
	default:
		return r, fmt.Errorf("an input of kind %d cannot be stored in the ledger", in.Kind)
	}
	return r, nil
}

func (r *record) input(at int64) monitor.Input {
	in := monitor.Input{At: at, Kind: monitor.InputKind(r.Kind), Source: r.Source, ID: r.ID, Up: r.Up, Reason: r.Reason}
	if s := r.Schedule; s != nil {
		in.Schedule = monitor.Schedule{
			ID: s.ID, NonProduction: s.NonProduction, SKU: s.SKU, Reason: s.Reason, Quantity: s.Quantity,
			Rate:            monitor.Rate{CycleTime: s.CycleTime, UnitsPerMinute: s.UnitsPerMinute, UnitsPerHour: s.UnitsPerHour},
			LineSpeedTarget: s.LineSpeedTarget, PartsPerCycle: s.PartsPerCycle, ExtendShift: s.ExtendShift, WorkOrder: s.WorkOrder,
		}
	}
	if e := r.Entry; e != nil {
		in.Entry = monitor.Entry{Schedule: e.Schedule, Good: e.Good, Bad: e.Bad, Reject: e.Reject, Correction: e.Correction}
	}
	return in
}

func ledgerKey(account, station string, at int64, number uint64) placeKey {
	return placeKey{A: account, B: kv.Pair[string, kv.Pair[uint64, uint64]]{A: station, B: kv.Pair[uint64, uint64]{A: uint64(max(at, 0)), B: number}}}
}

// readLedger returns the inputs of a station in [from, to), other than signals.
func readLedger(tx *kv.Tx, account, station string, from, to int64) (list []monitor.Input, err error) {
	for item, err := range ledger.Scan(tx, ledger.Between(ledgerKey(account, station, from, 0), ledgerKey(account, station, to, 0))) {
		if err != nil {
			return nil, fmt.Errorf("read the ledger of %s: %w", station, err)
		}
		if item.Value.Cancelled == 0 {
			list = append(list, item.Value.input(int64(item.Key.B.B.A)))
		}
	}
	return list, nil
}

// markLate notes in the transaction that a station is to be computed again from a moment on.
func markLate(tx *kv.Tx, account, station string, at int64) error {
	k := kv.Pair[string, string]{A: account, B: station}
	old, err := lateMarks.Get(tx, k)
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	if err == nil && old <= at {
		return nil
	}
	return lateMarks.Put(tx, k, at)
}

// Check reports entries of the ledger that cannot be read or that belong to an unknown account.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	for item, err := range ledger.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("the ledger: %v", err))
			return
		}
		if !known[item.Key.A] {
			report(fmt.Sprintf("the ledger has an entry at %s of the account %q, which does not exist", item.Key.B.A, item.Key.A))
		}
	}
	for item, err := range links.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("the live connections: %v", err))
			return
		}
		if !known[item.Key.A] {
			report(fmt.Sprintf("a live connection names the account %q, which does not exist", item.Key.A))
		}
	}
	for item, err := range lateMarks.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("the marks of late entries: %v", err))
			return
		}
		if !known[item.Key.A] {
			report(fmt.Sprintf("a mark of a late entry names the account %q, which does not exist", item.Key.A))
		}
	}
	for item, err := range backfills.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("records of backfills: %v", err))
			return
		}
		if !known[item.Key.A] {
			report(fmt.Sprintf("a backfill names the account %q, which does not exist", item.Key.A))
		}
	}
}

var errNoRecord = errdefs.New(errdefs.NotFound, "there is no such entry in the ledger")

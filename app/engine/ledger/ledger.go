// Package ledger stores the inputs of stations other than signals: schedules, manual downtime, entered counts, and the
// connections of devices. Together with the log of signals they are the source data that history is computed from
// (monitoring.md section 2). It also stores which stations are late because of them.
//
// The bucket tree:
//
//	ledger     (account, (station, (at ms, number))) -> the input and its author: as long as signals are stored, and
//	           longer for what is ongoing
//	ledgerLink (account, (station, device)) -> since when, ms: the live connections
//	ledgerLate (account, station) -> earliest moment, ms, from which the station must be recomputed
package ledger

import (
	"errors"
	"fmt"
	"iter"

	"opsmon/app/audit"
	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

type (
	entryKey   = kv.Pair[string, kv.Pair[string, kv.Pair[uint64, uint64]]]
	stationKey = kv.Pair[string, string]
	linkKey    = kv.Pair[string, kv.Pair[string, string]]
)

var (
	entries = kv.NewBucket("ledger", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.Uint64))), kv.JSON[record]())
	links   = kv.NewBucket("ledgerLink", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String)), kv.JSON[int64]())
	late    = kv.NewBucket("ledgerLate", kv.PairOf(kv.String, kv.String), kv.JSON[int64]())
)

// Buckets names the buckets of this room, for kv.Config.Buckets.
func Buckets() []string { return []string{entries.Name(), links.Name(), late.Name()} }

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

func keyOf(account, station string, at int64, number uint64) entryKey {
	return entryKey{A: account, B: kv.Pair[string, kv.Pair[uint64, uint64]]{A: station, B: kv.Pair[uint64, uint64]{A: uint64(max(at, 0)), B: number}}}
}

// Add stores an input of a station, with its author and the time it was recorded, in ms. It returns the number that
// identifies the entry together with its moment.
func Add(tx *kv.Tx, account, station string, in *monitor.Input, now int64, by audit.Actor) (number uint64, err error) {
	r, err := newRecord(in, now, by)
	if err != nil {
		return 0, err
	}
	if number, err = entries.Next(tx); err != nil {
		return 0, err
	}
	if err := entries.Put(tx, keyOf(account, station, in.At, number), r); err != nil {
		return 0, fmt.Errorf("record at %s: %w", station, err)
	}
	return number, nil
}

// Cancel marks an entry as cancelled at a time, in ms: it stays stored and no longer counts. It returns the input;
// false if it was cancelled before. errdefs.NotFound if there is no such entry.
func Cancel(tx *kv.Tx, account, station string, at int64, number uint64, now int64) (in monitor.Input, cancelled bool, err error) {
	k := keyOf(account, station, at, number)
	r, err := entries.Get(tx, k)
	if errors.Is(err, kv.ErrNotFound) {
		return in, false, errdefs.New(errdefs.NotFound, "there is no such entry in the ledger")
	}
	if err != nil || r.Cancelled != 0 {
		return in, false, err
	}
	r.Cancelled = now
	return r.input(at), true, entries.Put(tx, k, r)
}

// Read returns the inputs of a station in [from, to), ms, that are not cancelled, in order.
func Read(tx *kv.Tx, account, station string, from, to int64) (list []monitor.Input, err error) {
	for item, err := range entries.Scan(tx, entries.Between(keyOf(account, station, from, 0), keyOf(account, station, to, 0))) {
		if err != nil {
			return nil, fmt.Errorf("read the ledger of %s: %w", station, err)
		}
		if item.Value.Cancelled == 0 {
			list = append(list, item.Value.input(int64(item.Key.B.B.A)))
		}
	}
	return list, nil
}

// First returns the moment of a station's first entry in [from, to), ms, cancelled or not; false if there is none.
func First(tx *kv.Tx, account, station string, from, to int64) (at int64, ok bool, err error) {
	for item, err := range entries.Scan(tx, entries.Between(keyOf(account, station, from, 0), keyOf(account, station, to, 0))) {
		return int64(item.Key.B.B.A), err == nil, err
	}
	return 0, false, nil
}

// MarkLate marks a station for recomputation from a moment on, in ms.
func MarkLate(tx *kv.Tx, account, station string, at int64) error {
	old, ok, err := Late(tx, account, station)
	if err != nil || ok && old <= at {
		return err
	}
	return late.Put(tx, stationKey{A: account, B: station}, at)
}

// Late returns the moment from which on a station must be recomputed, in ms; false if there is none.
func Late(tx *kv.Tx, account, station string) (at int64, ok bool, err error) {
	at, err = late.Get(tx, stationKey{A: account, B: station})
	if errors.Is(err, kv.ErrNotFound) {
		return 0, false, nil
	}
	return at, err == nil, err
}

// Unmark removes the mark of a late station.
func Unmark(tx *kv.Tx, account, station string) error {
	if k := (stationKey{A: account, B: station}); late.Has(tx, k) {
		return late.Delete(tx, k)
	}
	return nil
}

// Link is a live connection of a device, at one of its stations.
type Link struct {
	Station, Device string
	Since           int64 // ms
}

// Linked reports whether a device has a live connection at a station.
func Linked(tx *kv.Tx, account, station, device string) bool {
	return links.Has(tx, keyOfLink(account, station, device))
}

// SetLink stores that a device has a live connection at a station, since a moment, in ms.
func SetLink(tx *kv.Tx, account string, l Link) error {
	return links.Put(tx, keyOfLink(account, l.Station, l.Device), l.Since)
}

// DeleteLink removes the live connection of a device at a station.
func DeleteLink(tx *kv.Tx, account, station, device string) error {
	return links.Delete(tx, keyOfLink(account, station, device))
}

// Links yields the live connections of an account. The last pair has the error, if any.
func Links(tx *kv.Tx, account string) iter.Seq2[Link, error] {
	return func(use func(Link, error) bool) {
		for item, err := range links.Scan(tx, kv.Under(links, account)) {
			if !use(Link{item.Key.B.A, item.Key.B.B, item.Value}, err) || err != nil {
				return
			}
		}
	}
}

func keyOfLink(account, station, device string) linkKey {
	return linkKey{A: account, B: kv.Pair[string, string]{A: station, B: device}}
}

// Check reports entries that cannot be read or that belong to an unknown account.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	for item, err := range entries.Scan(tx, kv.Range{}) {
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
	for item, err := range late.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("the marks of late entries: %v", err))
			return
		}
		if !known[item.Key.A] {
			report(fmt.Sprintf("a mark of a late entry names the account %q, which does not exist", item.Key.A))
		}
	}
}

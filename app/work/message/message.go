// Package message stores the messages of the people at a station for the next shift (monitoring.md section 8): a short
// text with initials, open until somebody marks it as done.
//
// Only the mark changes a message, and the first one wins: if two tablets mark a message, both show the first mark.
// Messages are stored for 31 days, and at most 200 for each station.
//
// The bucket tree:
//
//	message (account, (station, (written at ms, number))) -> the message, and who marked it as done
package message

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"opsmon/app/auth"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Retention of a station's messages.
const (
	maxAge  = 31 * 24 * time.Hour
	maxKept = 200
)

// record is a message as stored: a changed field needs a migration. Times are Unix ms.
type record struct {
	Text     string `json:"text"`
	Initials string `json:"initials"`
	Shift    string `json:"shift,omitempty"` // name of the shift in which it was written
	Noted    int64  `json:"noted"`           // when the service received it
	Done     int64  `json:"done,omitempty"`  // 0: not done
	DoneBy   string `json:"doneBy,omitempty"`
	DoneTold int64  `json:"doneTold,omitempty"`
}

type key = kv.Pair[string, kv.Pair[string, kv.Pair[uint64, uint64]]]

var messages = kv.NewBucket("message", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.Uint64))), kv.JSON[record]())

// Buckets returns the names of the package's buckets, for kv.Config.Buckets.
func Buckets() []string { return []string{messages.Name()} }

func keyOf(account, station string, at int64, number uint64) key {
	return key{A: account, B: kv.Pair[string, kv.Pair[uint64, uint64]]{A: station, B: kv.Pair[uint64, uint64]{A: uint64(max(at, 0)), B: number}}}
}

// of returns the key range of a station's messages.
func of(account, station string) kv.Range {
	return messages.Between(keyOf(account, station, 0, 0), keyOf(account, station, 1<<62, 0))
}

// idOf returns the public ID: the station's code, the time of writing and a number, both in base 36.
func idOf(k key) string {
	return k.B.A + "." + strconv.FormatUint(k.B.B.A, 36) + "." + strconv.FormatUint(k.B.B.B, 36)
}

// parseID parses a public ID; false if it is invalid.
func parseID(account, id string) (key, bool) {
	parts := strings.Split(id, ".")
	if len(parts) != 3 || parts[0] == "" {
		return key{}, false
	}
	at, err := strconv.ParseUint(parts[1], 36, 62)
	number, errNumber := strconv.ParseUint(parts[2], 36, 64)
	k := keyOf(account, parts[0], int64(at), number)
	return k, err == nil && errNumber == nil && idOf(k) == id
}

// View is a message at a station for the next shift.
//
//openapi:schema Message
type View struct {
	ID          string `json:"id"`
	StationCode string `json:"stationCode"`
	Text        string `json:"text"`
	Initials    string `json:"initials"` // initials of the author
	// Name of the shift in which it was written; null outside shifts or for a shift without a name.
	ShiftName      *string       `json:"shiftName"`
	At             instant.Time  `json:"at"`             // when it was written
	RecordedAt     instant.Time  `json:"recordedAt"`     // when the service received it
	DoneAt         *instant.Time `json:"doneAt"`         // when it was done; null if it is not
	DoneBy         *string       `json:"doneBy"`         // initials of the person who marked it as done
	DoneRecordedAt *instant.Time `json:"doneRecordedAt"` // when the service received that
}

func viewOf(k key, r record) *View {
	v := &View{ID: idOf(k), StationCode: k.B.A, Text: r.Text, Initials: r.Initials, At: instant.OfMs(int64(k.B.B.A)), RecordedAt: instant.OfMs(r.Noted)}
	if r.Shift != "" {
		v.ShiftName = &r.Shift
	}
	if r.Done != 0 {
		v.DoneBy, v.DoneAt, v.DoneRecordedAt = &r.DoneBy, new(instant.OfMs(r.Done)), new(instant.OfMs(r.DoneTold))
	}
	return v
}

// Config has the dependencies of a Service.
type Config struct {
	Store *kv.Store
	// Authorize checks in the transaction of a change that the caller's credential is still valid and has the role.
	Authorize func(*kv.Tx, auth.Principal, auth.Role) error
}

// Service stores the messages of shifts. Its methods may be called from any goroutine.
type Service struct{ cfg Config }

// New returns a Service. The caller must call Sweep regularly.
func New(cfg Config) *Service { return &Service{cfg} }

// Sweep deletes messages older than 31 days. now must be a trusted time. Errors are the store's.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	oldest := uint64(max(now.Add(-maxAge).UnixMilli(), 0))
	if _, err := messages.Sweep(ctx, s.cfg.Store, kv.Sweeper[key]{
		Keep: func(k key) bool { return k.B.B.A >= oldest },
		Next: func(k key) key { return keyOf(k.A, k.B.A+"\x00", 0, 0) },
	}); err != nil {
		return fmt.Errorf("remove old messages: %w", err)
	}
	return nil
}

// Check reads every record and reports those that are unreadable or belong to no account.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	for item, err := range messages.Scan(tx, kv.Range{}) {
		switch {
		case err != nil:
			report(fmt.Sprintf("message: %v", err))
		case !known[item.Key.A]:
			report(fmt.Sprintf("message %s: its account %s is not there", idOf(item.Key), item.Key.A))
		}
	}
}

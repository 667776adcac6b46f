package issue

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/monitor"
	"opsmon/kv"
)

// Limits of one record.
const (
	MaxParts     = 50   // parts of a split
	MaxEvents    = 200  // events of one issue; further entries are refused
	MaxNote      = 1000 // characters
	MaxEscalated = 5    // highest escalation level
)

// Record is what people entered about one issue. It is stored: a changed field needs a migration.
type Record struct {
	// Start is the issue's start when the record was made, Unix ms; with Type it identifies the record. Until is the
	// issue's end, or the time of the entry if the issue was in progress.
	Start int64             `json:"start"`
	Type  monitor.IssueType `json:"type"`
	Until int64             `json:"until"`

	// Cuts split the issue into parts. Each part lasts from its At to that of the next cut, the last one to the issue's
	// end. The first cut is at the issue's start. Empty: nobody entered a cause.
	Cuts         []Cut         `json:"cuts,omitempty"`
	CausedAt     int64         `json:"causedAt,omitempty"` // time of the newest entry about Cuts, Unix ms
	HeardAt      int64         `json:"heardAt,omitempty"`  // when the service received that entry, Unix ms
	Note         string        `json:"note,omitempty"`
	Acknowledged *Acknowledged `json:"acknowledged,omitempty"`
	Estimate     *Estimate     `json:"estimate,omitempty"`
	Escalation   *Escalation   `json:"escalation,omitempty"`
	Excluded     bool          `json:"excluded,omitempty"`
	Manual       *Manual       `json:"manual,omitempty"` // only of manual downtime
	Events       []Event       `json:"events"`
}

// Cut begins a part of an issue. Cause is a reason's code; "": not entered.
type Cut struct {
	At        int64  `json:"at"` // Unix ms
	Cause     string `json:"cause,omitempty"`
	EnteredAt int64  `json:"said,omitempty"` // when, Unix ms
}

// Acknowledged is the acknowledgement of an issue. All times in a Record are Unix ms.
type Acknowledged struct {
	At       int64  `json:"at"`
	By       string `json:"by"`
	Initials string `json:"initials,omitempty"`
}

// Estimate is the expected end of an issue.
type Estimate struct {
	At    int64  `json:"at"`
	By    string `json:"by"`
	EndAt int64  `json:"endAt"`
}

// Escalation is the level to which an issue was escalated.
type Escalation struct {
	At    int64  `json:"at"`
	By    string `json:"by"`
	Level int    `json:"level"` // 1 to MaxEscalated
	Text  string `json:"text,omitempty"`
}

// Manual is the stored state of a manual downtime.
type Manual struct {
	End      int64  `json:"end,omitempty"` // Unix ms; 0: in progress
	StartSeq uint64 `json:"startSeq"`
	EndSeq   uint64 `json:"endSeq,omitempty"`
}

// Event is one entry or action.
type Event struct {
	At         int64  `json:"at"`         // when it was done, which is before RecordedAt if a tablet was offline
	RecordedAt int64  `json:"recordedAt"` // when the service received it
	By         string `json:"by"`         // e-mail address or name of a credential
	Initials   string `json:"initials,omitempty"`
	Action     Action `json:"action"`
	Value      string `json:"value,omitempty"` // the object of the action: a reason's code, a level or a time
	Note       string `json:"note,omitempty"`
}

// Action is the kind of an Event.
type Action string

const (
	ActionStart       Action = "start" // of manual downtime
	ActionEnd         Action = "end"
	ActionAcknowledge Action = "acknowledge"
	ActionEstimate    Action = "estimate"
	ActionEscalate    Action = "escalate"
	ActionCause       Action = "cause"
	ActionSplit       Action = "split"
	ActionExclude     Action = "exclude"
	ActionInclude     Action = "include" // reverses an exclusion
)

type place = kv.Pair[string, kv.Pair[string, kv.Pair[time.Time, string]]]

var (
	records = kv.NewBucket("issue", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Time, kv.String))), kv.JSON[Record]())
	reaches = kv.NewBucket("issueReach", kv.PairOf(kv.String, kv.String), kv.JSON[int64]())
	opens   = kv.NewBucket("issueOpen", kv.PairOf(kv.String, kv.String), kv.JSON[int64]())
)

// Buckets returns the names of the package's buckets, for kv.Config.Buckets.
func Buckets() []string { return []string{records.Name(), reaches.Name(), opens.Name()} }

func at(account, station string, start int64, typ string) place {
	return place{A: account, B: kv.Pair[string, kv.Pair[time.Time, string]]{A: station, B: kv.Pair[time.Time, string]{A: time.UnixMilli(start).UTC(), B: typ}}}
}

// get reads the record with a type and a start; nil if there is no such record.
func get(tx *kv.Tx, account, station string, t monitor.IssueType, start int64) (*Record, error) {
	r, err := records.Get(tx, at(account, station, start, t.String()))
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was said of a stop: %w", err)
	}
	return &r, nil
}

// put stores a record and updates the longest range of its station.
func put(tx *kv.Tx, account, station string, r *Record) error {
	if err := records.Put(tx, at(account, station, r.Start, r.Type.String()), *r); err != nil {
		return fmt.Errorf("store what was said of a stop: %w", err)
	}
	reach, err := reachOf(tx, account, station)
	if err == nil && r.Until-r.Start > reach {
		err = reaches.Put(tx, kv.Pair[string, string]{A: account, B: station}, r.Until-r.Start)
	}
	return err
}

func reachOf(tx *kv.Tx, account, station string) (int64, error) {
	reach, err := reaches.Get(tx, kv.Pair[string, string]{A: account, B: station})
	if errors.Is(err, kv.ErrNotFound) {
		return 0, nil
	}
	return reach, err
}

// about returns the records of a station whose ranges overlap [from, to), ordered by start.
func about(tx *kv.Tx, account, station string, from, to int64) ([]*Record, error) {
	reach, err := reachOf(tx, account, station)
	if err != nil {
		return nil, fmt.Errorf("read what was said of stops: %w", err)
	}
	var out []*Record
	for item, err := range records.Scan(tx, records.Between(at(account, station, from-reach, ""), at(account, station, to, ""))) {
		if err != nil {
			return nil, fmt.Errorf("read what was said of stops: %w", err)
		}
		if r := item.Value; r.end() > from {
			out = append(out, &r)
		}
	}
	return out, nil
}

// end returns the end of the record's time range, at least one millisecond after its start.
func (r *Record) end() int64 { return max(r.Until, r.Start+1) }

// clone returns a deep copy.
func (r *Record) clone() *Record {
	c := *r
	c.Cuts, c.Events = slices.Clone(r.Cuts), slices.Clone(r.Events)
	return &c
}

// ID returns the public ID of an issue, in the format of package floor.
func ID(station string, t monitor.IssueType, start int64) string {
	return floor.IssueID(station, &monitor.Issue{Type: t, Start: start})
}

// ParseID parses an ID made by ID.
func ParseID(id string) (station string, t monitor.IssueType, start int64, ok bool) {
	station, rest, _ := strings.Cut(id, ".") // a station's code has no dot
	name, number, _ := strings.Cut(rest, "-")
	t, ok = ParseType(name)
	start, err := strconv.ParseInt(number, 10, 64)
	ok = ok && err == nil && 0 < start && start < 1<<53 && station != ""
	return station, t, start, ok && ID(station, t, start) == id
}

// ParseType returns the type with a name.
func ParseType(name string) (monitor.IssueType, bool) {
	for _, t := range []monitor.IssueType{monitor.IssueStop, monitor.IssueSlow, monitor.IssueManual} {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}

// Check reads every record and reports those that are unreadable or inconsistent. known has the IDs of all accounts.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	for item, err := range records.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("issues: %v", err))
			continue
		}
		r, station := item.Value, item.Key.B.A
		what := fmt.Sprintf("issue %s of %s", item.Key.B.B.B, station)
		if !known[item.Key.A] {
			report(fmt.Sprintf("%s: its account %s is not there", what, item.Key.A))
		}
		if r.Type < monitor.IssueStop || r.Type > monitor.IssueManual {
			report(fmt.Sprintf("%s: its type is %d", what, r.Type))
			continue
		}
		if item.Key != at(item.Key.A, station, r.Start, r.Type.String()) {
			report(fmt.Sprintf("%s: it calls itself %s", what, ID(station, r.Type, r.Start)))
		}
		if r.Type == monitor.IssueManual != (r.Manual != nil) {
			report(fmt.Sprintf("%s: what the ledger knows of it does not fit its type", what))
		}
		if !slices.IsSortedFunc(r.Cuts, func(a, b Cut) int { return int(a.At - b.At) }) || len(r.Cuts) > 0 && r.Cuts[0].At != r.Start {
			report(fmt.Sprintf("%s: its parts are not in order", what))
		}
		if r.Type == monitor.IssueManual && r.Manual != nil {
			if open, err := openOf(tx, item.Key.A, station); err != nil || (open == r.Start) != (r.Manual.End == 0) {
				report(fmt.Sprintf("%s: its two records of whether it is open differ", what))
			}
		}
		if reach, err := reachOf(tx, item.Key.A, station); err != nil || reach < r.Until-r.Start {
			report(fmt.Sprintf("%s: it reaches further than is noted for the station", what))
		}
	}
	for item, err := range reaches.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("reach of issues: %v", err))
		} else if !known[item.Key.A] {
			report(fmt.Sprintf("reach of issues of %s: its account %s is not there", item.Key.B, item.Key.A))
		}
	}
	for item, err := range opens.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("manual downtime that goes on: %v", err))
		} else if !records.Has(tx, at(item.Key.A, item.Key.B, item.Value, monitor.IssueManual.String())) {
			report(fmt.Sprintf("manual downtime that goes on at %s: nothing is known of it", item.Key.B))
		}
	}
}

// remove deletes a record whose content became part of another record.
func remove(tx *kv.Tx, account, station string, r *Record) error {
	return records.Delete(tx, at(account, station, r.Start, r.Type.String()))
}

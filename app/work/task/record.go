package task

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"opsmon/kv"
)

// State is the state of an Instance (http-api.md section 3).
type State string

// The states. Withdrawn Instances are deleted, but published as events.
const (
	Pending   State = "pending"
	Completed State = "completed"
	Missed    State = "missed"
	withdrawn State = "withdrawn"
)

// Text has the texts of a Task and its list. It is stored: a changed field needs a migration.
type Text struct {
	TaskCode     string  `json:"taskCode"`
	Title        string  `json:"title"`
	Description  string  `json:"description,omitempty"`
	RequireNotes bool    `json:"requireNotes,omitempty"`
	Order        float64 `json:"order,omitempty"`
	ListCode     string  `json:"listCode,omitempty"` // "": a SKU names the Task
	ListName     string  `json:"listName,omitempty"`
	Trigger      Trigger `json:"trigger"`
}

// textRecord is a Text as stored: a changed field needs a migration.
type textRecord struct {
	Text
	Used int64 `json:"used"` // when an Instance was last made with it, ms, within textStep
}

// record is an Instance as stored: a changed field needs a migration. Times are Unix ms.
type record struct {
	Text     []byte `json:"text"` // key of its texts
	State    State  `json:"state"`
	Deadline int64  `json:"deadline,omitempty"` // the fire, or the end of the schedule; 0: none yet
	Schedule string `json:"schedule,omitempty"`
	Started  string `json:"started,omitempty"` // initials of the person who started the list
	Done     int64  `json:"done,omitempty"`    // when it was completed
	Noted    int64  `json:"noted,omitempty"`   // when the service received the completion
	Initials string `json:"initials,omitempty"`
	Note     string `json:"note,omitempty"`
}

// stationRecord is the progress of a station. It is stored: a changed field needs a migration.
type stationRecord struct {
	Through int64 `json:"through"` // ms: fires up to here were processed
	Count   int   `json:"count"`   // number of Instances
}

type (
	place   = kv.Pair[string, string]                                   // account, station
	key     = kv.Pair[string, kv.Pair[string, kv.Pair[uint64, uint64]]] // account, station, available from, number
	bucket  = kv.Bucket[key, record]
	textKey = kv.Pair[string, string]
)

var (
	instances *bucket = kv.NewBucket("task", keyForm, kv.JSON[record]())
	currents          = kv.NewBucket("taskCurrent", keyForm, kv.Raw)
	texts             = kv.NewBucket("taskText", kv.PairOf(kv.String, kv.String), kv.JSON[textRecord]())
	stations          = kv.NewBucket("taskStation", kv.PairOf(kv.String, kv.String), kv.JSON[stationRecord]())
)

var keyForm = kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.Uint64)))

// Buckets returns the names of the package's buckets, for kv.Config.Buckets.
func Buckets() []string {
	return []string{instances.Name(), currents.Name(), texts.Name(), stations.Name()}
}

func keyOf(account, station string, at int64, number uint64) key {
	return key{A: account, B: kv.Pair[string, kv.Pair[uint64, uint64]]{A: station, B: kv.Pair[uint64, uint64]{A: uint64(max(at, 0)), B: number}}}
}

// during returns the key range of a station's Instances that became available in [from, to).
func during(account, station string, from, to int64) kv.Range {
	return instances.Between(keyOf(account, station, from, 0), keyOf(account, station, to, 0))
}

const forever = int64(1) << 60

// instance is an Instance with its key and its texts.
type instance struct {
	key  key
	text Text
	record
	let bool // removed from the current ones
}

func (i *instance) station() string { return i.key.B.A }
func (i *instance) at() int64       { return int64(i.key.B.B.A) }

// same reports whether the Instance is of the same Task in the same list.
func (i *instance) same(t *Text) bool {
	return i.text.TaskCode == t.TaskCode && i.text.ListCode == t.ListCode
}

// id returns the public ID: the station's code, the time at which it became available and a number, both in base 36.
func (i *instance) id() string {
	return i.key.B.A + "." + strconv.FormatUint(i.key.B.B.A, 36) + "." + strconv.FormatUint(i.key.B.B.B, 36)
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
	return k, err == nil && errNumber == nil && (&instance{key: k}).id() == id
}

// textStep is the resolution of textRecord.Used.
const textStep = 30 * 24 * time.Hour

// putText stores a text and returns its key.
func putText(tx *kv.Tx, account string, t Text, now int64) ([]byte, error) {
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("write the words of Task %s: %w", t.TaskCode, err)
	}
	hash := sha256.Sum256(raw)
	at := textKey{A: account, B: string(hash[:16])}
	old, err := texts.Get(tx, at)
	if err == nil && now < old.Used+textStep.Milliseconds() {
		return hash[:16], nil
	}
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return nil, err
	}
	return hash[:16], texts.Put(tx, at, textRecord{t, now})
}

// reader reads Instances in a transaction and caches their texts, which many Instances share.
type reader struct {
	tx      *kv.Tx
	account string
	texts   map[string]Text
}

func newReader(tx *kv.Tx, account string) *reader {
	return &reader{tx, account, map[string]Text{}}
}

func (r *reader) instance(k key, rec record) (*instance, error) {
	t, known := r.texts[string(rec.Text)]
	if !known {
		stored, err := texts.Get(r.tx, textKey{A: r.account, B: string(rec.Text)})
		if err != nil {
			return nil, fmt.Errorf("read the words of a Task of %s: %w", k.B.A, err)
		}
		t = stored.Text
		r.texts[string(rec.Text)] = t
	}
	return &instance{key: k, text: t, record: rec}, nil
}

func (r *reader) get(k key) (*instance, error) {
	rec, err := instances.Get(r.tx, k)
	if err != nil {
		return nil, err
	}
	return r.instance(k, rec)
}

// current returns a station's Instances that are pending or whose deadline is in the future, in the order of their
// keys.
func (r *reader) current(station string) (list []*instance, err error) {
	for item, err := range currents.Scan(r.tx, currents.Between(keyOf(r.account, station, 0, 0), keyOf(r.account, station, forever, 0))) {
		if err != nil {
			return nil, fmt.Errorf("read the current Tasks of %s: %w", station, err)
		}
		i, err := r.get(item.Key)
		if err != nil {
			return nil, fmt.Errorf("read a current Task of %s: %w", station, err)
		}
		list = append(list, i)
	}
	return list, nil
}

// freeKey returns the next free key of a station and a moment.
func freeKey(tx *kv.Tx, account, station string, at int64) (key, error) {
	number := uint64(0)
	for item, err := range instances.ScanDown(tx, during(account, station, at, at+1)) {
		if err != nil {
			return key{}, err
		}
		number = item.Key.B.B.B + 1
		break
	}
	return keyOf(account, station, at, number), nil
}

// Check reads every record and reports those that are unreadable or inconsistent. known has the IDs of all accounts.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	note := func(format string, args ...any) { report(fmt.Sprintf(format, args...)) }
	counts := map[place]int{}
	for item, err := range instances.Scan(tx, kv.Range{}) {
		if err != nil {
			note("Task: %v", err)
			continue
		}
		i := instance{key: item.Key, record: item.Value}
		counts[place{A: item.Key.A, B: item.Key.B.A}]++
		if !known[item.Key.A] {
			note("Task %s: its account %s is not there", i.id(), item.Key.A)
		}
		if !texts.Has(tx, textKey{A: item.Key.A, B: string(i.Text)}) {
			note("Task %s: its words are not there", i.id())
		}
		if i.State != Pending && i.State != Completed && i.State != Missed {
			note("Task %s: its state is %q", i.id(), i.State)
		}
		if i.State == Pending && !currents.Has(tx, item.Key) {
			note("Task %s: it is pending and not among the current ones", i.id())
		}
	}
	for item, err := range currents.Scan(tx, kv.Range{}) {
		if err != nil {
			note("current Task: %v", err)
		} else if !instances.Has(tx, item.Key) {
			note("current Task %s: it is not there", (&instance{key: item.Key}).id())
		}
	}
	for item, err := range texts.Scan(tx, kv.Range{}) {
		if err != nil {
			note("words of a Task: %v", err)
		} else if !known[item.Key.A] {
			note("words of the Task %s: their account %s is not there", item.Value.TaskCode, item.Key.A)
		}
	}
	for item, err := range stations.Scan(tx, kv.Range{}) {
		if err != nil {
			note("Tasks of a station: %v", err)
			continue
		}
		if n := counts[item.Key]; n != item.Value.Count {
			note("Tasks of %s: %d are there and %d are counted", item.Key.B, n, item.Value.Count)
		}
		delete(counts, item.Key)
	}
	for at := range counts {
		note("Tasks of %s: they are not counted", at.B)
	}
}

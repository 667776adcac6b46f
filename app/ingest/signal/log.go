package signal

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"opsmon/app/instant"
	"opsmon/kv"
)

// DefaultRetention is the default retention of signals.
const DefaultRetention = 400 * 24 * time.Hour

// Limits of the tail, which is in memory: from longTail signals it is packed immediately, at fullTail senders are
// asked to wait, and at longestTail no signals are accepted until it has been packed.
const (
	longTail    = 60_000
	fullTail    = 150_000
	longestTail = 250_000
)

// errTail means that signals arrive faster than they can be packed.
var errTail error = tailError{}

type tailError struct{}

func (tailError) Error() string { return "signals come faster than they can be packed" }

// Unavailable reports that the same call may succeed later.
func (tailError) Unavailable() bool { return true }

// idMemory is how long a repeated id counts once (monitoring.md section 2).
const idMemory = 7 * 24 * time.Hour

// Config configures a Log.
type Config struct {
	Store     *kv.Store
	Clock     func() time.Time // nil = time.Now
	Log       *slog.Logger
	Retention time.Duration // 0 = DefaultRetention
	Rate      int           // signals per second that one sender may send; 0 = DefaultRate
	// Meter reports whether a station is an energy meter, of which only electrical values count; nil = no station is.
	// It must not block.
	Meter func(account, station string) bool
	// Room reports whether a source of an account may send more, which depends on the backlog of the evaluation. It
	// must not block. nil = always.
	Room func(account, source string) bool
	// Appended is called with the stored signals after they are durable; may be nil. It must not block, retain or
	// change the list, or call the Log: subscribers and readers of the log see a signal at the same moment.
	Appended func([]Signal)
}

// Log is the append-only log of signals. All methods may be called concurrently.
type Log struct {
	cfg Config

	// mu is locked while the tail's content changes, and read-locked from the moment that a reader copies the tail
	// until its View of the store is open. A reader therefore sees each signal exactly once.
	mu   sync.RWMutex
	last map[place]*[]tailed
	from map[senderKey]int // number of signals in the tail by sender
	size atomic.Int64

	// opened is the number of the last batch when the log was opened, and told the number of later batches passed to
	// Appended.
	opened uint64
	told   atomic.Uint64

	packing sync.Mutex   // held while moving and removing parts
	swept   atomic.Int64 // signals before this have been removed, ms; 0: none
	senders senders
	ids     memory
	crowds  crowds

	packEvery, mergeEvery time.Duration
	mergeReads            int
	full                  chan struct{} // notified when the tail is long
}

type place struct{ account, station string }

// tailed is a signal of the tail and its batch.
type tailed struct {
	*Signal
	batch uint64
}

// NewLog opens the log and reads the tail. Errors: kv.ErrDamaged and others of the store.
func NewLog(cfg Config) (*Log, error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Retention == 0 {
		cfg.Retention = DefaultRetention
	}
	if cfg.Rate == 0 {
		cfg.Rate = DefaultRate
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &Log{cfg: cfg, last: map[place]*[]tailed{}, from: map[senderKey]int{}, senders: senders{seen: map[senderKey]*sender{}}, ids: memory{recent: map[hash]int64{}, claims: map[hash]*claim{}, packed: make(chan struct{}, 1)}, packEvery: packEvery, mergeEvery: mergeEvery, full: make(chan struct{}, 1)}
	l.mergeReads = mergeReads
	err := cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range tail.Scan(tx, kv.Range{}) {
			if err != nil {
				return fmt.Errorf("read the tail of the signals: %w", err)
			}
			list, err := unpack(item.Value)
			if err != nil {
				return &kv.Error{Op: "read", Bucket: tail.Name(), Key: fmt.Sprint(item.Key), Kind: kv.ErrDamaged, Err: err}
			}
			l.note(item.Key, list)
		}
		var err error
		l.opened, err = tail.Last(tx)
		if err != nil {
			return err
		}
		if err := l.loadIDs(tx); err != nil {
			return err
		}
		if err := l.loadSwept(tx); err != nil {
			return err
		}
		if err := l.crowds.load(tx); err != nil {
			return err
		}
		return l.loadSenders(tx)
	})
	if l.Tail() >= longTail {
		l.full <- struct{}{}
	}
	return l, err
}

// note adds a stored batch to the tail, which retains the list. mu must be held, unless the log is being opened.
func (l *Log) note(batch uint64, list []Signal) {
	for i := range list {
		at := place{list[i].Account, list[i].Station}
		of := l.last[at]
		if of == nil {
			of = new([]tailed)
			l.last[at] = of
		}
		*of = append(*of, tailed{&list[i], batch})
		l.from[senderKey{A: list[i].Account, B: list[i].Source}]++
	}
	l.size.Add(int64(len(list)))
}

// tailOf returns the signals of a station in the tail, in order of arrival. mu must be held.
func (l *Log) tailOf(account, station string) []tailed {
	if of := l.last[place{account, station}]; of != nil {
		return *of
	}
	return nil
}

// Append stores signals, all or none, and returns when they are durable. It skips repeated ids from the same source
// for the same station within seven days; duplicate marks them by index. Every signal must have its account, station,
// time and arrival. Errors: those of the store, including kv.ErrFull; one that is Unavailable while the tail is too
// long.
func (l *Log) Append(list []Signal) (duplicate []bool, err error) {
	return l.keep(slices.Clone(list)) // the caller may reuse its list
}

// keep is Append for a list that the caller no longer uses.
func (l *Log) keep(list []Signal) (duplicate []bool, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	if l.Tail() >= longestTail {
		return nil, errTail
	}
	duplicate = make([]bool, len(list))
	claimed, err := l.claim(list, duplicate)
	if err != nil {
		return nil, fmt.Errorf("look up ids of signals: %w", err)
	}
	stored := false
	defer func() { l.settleClaim(claimed, stored) }() // also after a panic: others wait for it
	kept := list
	if slices.Contains(duplicate, true) {
		kept = without(list, duplicate)
	}
	var batch uint64
	if len(kept) > 0 {
		packed := pack(kept, false) // before the transaction, which blocks others
		err = l.cfg.Store.Update(func(tx *kv.Tx) (err error) {
			if batch, err = tail.Next(tx); err != nil {
				return err
			}
			if err := markLate(tx, kept); err != nil {
				return err
			}
			return tail.Put(tx, batch, packed)
		})
	}
	if stored = err == nil; !stored {
		return nil, fmt.Errorf("store signals: %w", err)
	}
	if len(kept) > 0 {
		l.tell(batch, kept)
	}
	return duplicate, nil
}

// tell adds a stored batch to the tail and passes it to Appended.
func (l *Log) tell(batch uint64, kept []Signal) {
	l.mu.Lock()
	l.note(batch, kept)
	long := l.Tail() >= longTail
	if l.cfg.Appended != nil {
		l.cfg.Appended(kept)
	}
	l.told.Add(1)
	l.mu.Unlock()
	if long {
		select {
		case l.full <- struct{}{}:
		default: // already notified
		}
	}
}

// without returns the signals that are not duplicates.
func without(list []Signal, duplicate []bool) (kept []Signal) {
	for i := range list {
		if !duplicate[i] {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// Of returns the signals of a station on a UTC day, in the order of Compare. Errors: kv.ErrDamaged and others of the
// store.
func (l *Log) Of(account, station string, day int64) ([]Signal, error) {
	list, _, err := l.Some(account, station, day*instant.DayMs, (day+1)*instant.DayMs, math.MaxInt, func() {})
	return list, err
}

// Some returns the signals of a station in [from, end), ms, in the order of Compare. end is the earlier of to and the
// end of from's UTC day. If there are more than most signals, end is earlier, and about most signals are returned.
//
// For callers that also use Appended, held is called at the moment of the snapshot: each signal is either in the
// result and was passed to Appended before, or is passed to it afterwards. held must not block or call the Log.
func (l *Log) Some(account, station string, from, to int64, most int, held func()) (list []Signal, end int64, err error) {
	l.mu.RLock()
	release := sync.OnceFunc(l.mu.RUnlock)
	defer release()
	r := reading{from: from, end: to, most: most}
	err = l.cfg.Store.View(func(tx *kv.Tx) error {
		for _, s := range l.tailOf(account, station) {
			if s.At >= from && s.At < to {
				r.list = append(r.list, *s.Signal)
			}
		}
		held()
		release()
		r.sorted = len(r.list) == 0
		r.cut()
		return r.parts(tx, account, station)
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read signals of %s: %w", station, err)
	}
	if !r.sorted {
		Sort(r.list)
	}
	return r.list, r.end, nil
}

// reading is a read of a station's signals in [from, end) within one UTC day; end is lowered if there are too many.
type reading struct {
	from, end int64
	most      int
	list      []Signal
	sorted    bool
	ok        func(read, list int) error // called after each part to decide whether to continue; nil = always
}

// cut removes the latest signals if there are too many.
func (r *reading) cut() {
	if len(r.list) <= r.most {
		return
	}
	slices.SortStableFunc(r.list, func(a, b Signal) int { return cmp.Compare(a.At, b.At) })
	r.end = max(r.list[r.most].At, r.from+1)
	n, _ := slices.BinarySearchFunc(r.list, r.end, func(s Signal, at int64) int { return cmp.Compare(s.At, at) })
	clear(r.list[n:])
	r.list = r.list[:n]
}

// spanned is a part and the time span of its signals.
type spanned struct {
	key         partKey
	first, last int64
}

// parts adds the signals of the day's parts, in the order of their starts.
func (r *reading) parts(tx *kv.Tx, account, station string) error {
	var of []spanned
	day := Day(r.from)
	for item, err := range parts.Scan(tx, parts.Between(partOf(account, station, day, 0), partOf(account, station, day+1, 0))) {
		if err != nil {
			return err
		}
		if first, last := spanOf(item.Value); first < r.end && last >= r.from {
			of = append(of, spanned{item.Key, first, last})
		}
	}
	slices.SortStableFunc(of, func(a, b spanned) int { return cmp.Compare(a.first, b.first) })
	for _, p := range of {
		if p.first >= r.end {
			break
		}
		packed, err := parts.Get(tx, p.key)
		if err != nil {
			return err
		}
		more, err := readPart(kv.Item[partKey, []byte]{Key: p.key, Value: packed})
		if err != nil {
			return err
		}
		read := len(more)
		r.add(more)
		if r.ok != nil {
			if err := r.ok(read, len(r.list)); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds the signals of a part that are in the range.
func (r *reading) add(more []Signal) {
	if f, l := span(more); f < r.from || l >= r.end {
		more = slices.DeleteFunc(more, func(s Signal) bool { return s.At < r.from || s.At >= r.end })
	}
	switch {
	case len(more) == 0:
		return
	case len(r.list) == 0:
		r.list = more
	default:
		r.sorted = r.sorted && r.list[len(r.list)-1].At < more[0].At
		r.list = append(r.list, more...)
	}
	r.cut()
}

func readPart(item kv.Item[partKey, []byte]) ([]Signal, error) {
	list, err := unpack(item.Value)
	if err != nil {
		k := item.Key
		return nil, &kv.Error{Op: "read", Bucket: parts.Name(), Key: fmt.Sprintf("%s/%s/%d/%d", k.A, k.B.A, dayOf(k), k.B.B.B), Kind: kv.ErrDamaged, Err: err}
	}
	return list, nil
}

// Tail returns the number of signals that are not packed yet.
func (l *Log) Tail() int { return int(l.size.Load()) }

// room reports whether a source may send more now: either the log and the evaluation have no large backlog, or the
// source has only a small share of it.
func (l *Log) room(account, source string) bool {
	return (l.Tail() < fullTail || l.little(senderKey{A: account, B: source})) && (l.cfg.Room == nil || l.cfg.Room(account, source))
}

func (l *Log) little(k senderKey) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.Tail() < longestTail && l.from[k] < fullTail/(2*(len(l.from)+1))
}

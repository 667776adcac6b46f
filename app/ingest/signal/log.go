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

// DefaultRetention is how long signals are kept when nothing else is set.
const DefaultRetention = 400 * 24 * time.Hour

// The tail is in memory: from longTail signals on it is packed at once, at fullTail senders are asked to wait, and at
// longestTail no more are taken until that has been done.
const (
	longTail    = 60_000
	fullTail    = 150_000
	longestTail = 250_000
)

// errTail says that signals come faster than they can be packed.
var errTail error = tailError{}

type tailError struct{}

func (tailError) Error() string { return "signals come faster than they can be packed" }

// Unavailable reports that the same call may work later.
func (tailError) Unavailable() bool { return true }

// idMemory is how long an id counts once (monitoring.md section 2).
const idMemory = 7 * 24 * time.Hour

// Config is what NewLog needs.
type Config struct {
	Store     *kv.Store
	Clock     func() time.Time // nil = time.Now
	Log       *slog.Logger
	Retention time.Duration // 0 = DefaultRetention
	Hold      func() bool   // while it is true nothing goes by Retention, which somebody may have set otherwise; nil = never
	Rate      int           // signals a second that one sender may send; 0 = DefaultRate
	// Meter reports whether a station is an energy meter, of which only electrical values count; nil = none is. It must not wait.
	Meter func(account, station string) bool
	// Room tells whether a source of an account may send more: whoever evaluates the signals has not too many of them to
	// do. It must not wait. nil = always.
	Room func(account, source string) bool
	// Appended is told what was stored, after it is durable; nil = nobody. It must not wait, nor keep or change the list, nor call
	// the Log: who is told of a signal and who reads the log see it at the same moment.
	Appended func([]Signal)
}

// Log is the append-only log of signals. All methods may be called at any time from any goroutine.
type Log struct {
	cfg Config

	// mu is held for writing while what is in the tail changes, and for reading from the moment that a reader copies the
	// tail to the moment that its view of the store is fixed: so no signal is seen twice or not at all.
	mu   sync.RWMutex
	last map[place]*[]tailed
	from map[senderKey]int // how many signals of the tail are of each sender
	size atomic.Int64

	// opened is the number of the last batch when the log was opened, and told how many there have been since of which
	// Appended has been told.
	opened uint64
	told   atomic.Uint64

	packing sync.Mutex   // held by who moves and removes parts
	swept   atomic.Int64 // signals before this have been removed, ms; 0: none have
	senders senders
	ids     memory
	crowds  crowds

	packEvery, mergeEvery time.Duration
	mergeReads            int
	full                  chan struct{} // told when the tail is long
}

type place struct{ account, station string }

// tailed is a signal of the tail and the batch it came with.
type tailed struct {
	*Signal
	batch uint64
}

// NewLog opens the log: it reads the tail. Errors: kv.ErrDamaged and others of the store.
func NewLog(cfg Config) (*Log, error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Retention == 0 {
		cfg.Retention = DefaultRetention
	}
	if cfg.Hold == nil {
		cfg.Hold = func() bool { return false }
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

// note adds a stored batch to the tail, which keeps the list. The caller holds mu, or nobody else has the log yet.
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

// tailOf returns the signals of a station that are in the tail, as they came. The caller holds mu.
func (l *Log) tailOf(account, station string) []tailed {
	if of := l.last[place{account, station}]; of != nil {
		return *of
	}
	return nil
}

// Append stores signals, all of them or none, and returns when they are on the disk. Those whose id came before within
// seven days, from the same source for the same station, are left out; duplicate tells which, by index. Every signal has
// its account, station, time and arrival. Errors: the store's; kv.ErrFull among them; one that is Unavailable while
// the tail is too long.
func (l *Log) Append(list []Signal) (duplicate []bool, err error) {
	return l.keep(slices.Clone(list)) // the caller may use its own again
}

// keep is Append for a list that nobody else uses any more.
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
	defer func() { l.settleClaim(claimed, stored) }() // also of a panic: others wait for it
	kept := list
	if slices.Contains(duplicate, true) {
		kept = without(list, duplicate)
	}
	var batch uint64
	if len(kept) > 0 {
		packed := pack(kept, false) // before the transaction, which others may wait for
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

// tell adds a stored batch to the tail and says so.
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
		default: // Run knows
		}
	}
}

// without returns those that are no duplicates.
func without(list []Signal, duplicate []bool) (kept []Signal) {
	for i := range list {
		if !duplicate[i] {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// Of returns the signals of a station on a UTC day, in the order of Compare. Errors: kv.ErrDamaged and others of the store.
func (l *Log) Of(account, station string, day int64) ([]Signal, error) {
	list, _, err := l.Some(account, station, day*instant.DayMs, (day+1)*instant.DayMs, math.MaxInt, func() {})
	return list, err
}

// Some returns the signals of a station of [from, end), ms, in the order of Compare. end is to, which lies in the UTC day of from,
// or that day's end; where there are more signals than most it is earlier, so that there are about as many.
//
// It is for who is told by Appended as well: held is called at the moment that the answer is for, so that each signal is either
// in the answer and was told before, or is told after it. held must not wait, nor call the Log.
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

// reading is what is read of a station and UTC day: [from, end), of which the end comes nearer when there is too much.
type reading struct {
	from, end int64
	most      int
	list      []Signal
	sorted    bool
	ok        func(read, list int) error // asked after each part whether to go on; nil = always
}

// cut leaves out the latest where there is more than is wanted.
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

// spanned is a part and the time that its signals lie in.
type spanned struct {
	key         partKey
	first, last int64
}

// parts adds what the parts of the day have, those that begin first before the others.
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

// add adds what a part has of the range.
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

// Tail is how many signals wait to be packed.
func (l *Log) Tail() int { return int(l.size.Load()) }

// room reports whether a source may send more now: neither the log nor who evaluates it has too much to do, or little of that
// is this source's.
func (l *Log) room(account, source string) bool {
	return (l.Tail() < fullTail || l.little(senderKey{A: account, B: source})) && (l.cfg.Room == nil || l.cfg.Room(account, source))
}

func (l *Log) little(k senderKey) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.Tail() < longestTail && l.from[k] < fullTail/(2*(len(l.from)+1))
}

package signal

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"opsmon/kv"
)

// DefaultRetention is how long signals are kept when nothing else is set.
const DefaultRetention = 400 * 24 * time.Hour

// The tail is in memory: from longTail signals on it is packed at once, and at longestTail no more are taken until that
// has been done.
const (
	longTail    = 100_000
	longestTail = 500_000
)

// errTail says that signals come faster than they can be packed.
var errTail error = tailError{}

type tailError struct{}

func (tailError) Error() string { return "signals come faster than they can be packed" }

// Unavailable says that the same call may work later.
func (tailError) Unavailable() bool { return true }

// idMemory is how long an id counts once (monitoring.md section 2).
const idMemory = 7 * 24 * time.Hour

// Config is what NewLog needs.
type Config struct {
	Store     *kv.Store
	Clock     func() time.Time // nil = time.Now
	Log       *slog.Logger
	Retention time.Duration // 0 = DefaultRetention
	Rate      int           // signals a second that one sender may send; 0 = DefaultRate
	// Appended is told what was stored, after it is durable; nil = nobody. It must not wait, nor keep the list, nor call
	// the Log: who is told of a signal and who reads the log see it at the same moment.
	Appended func([]Signal)
}

// Log is the append-only log of signals. All methods may be called at any time from any goroutine.
type Log struct {
	cfg Config

	// mu is held for writing while what is in the tail changes, and for reading from the moment that a reader copies the
	// tail to the moment that its view of the store is fixed: so no signal is seen twice or not at all.
	mu   sync.RWMutex
	last map[place][]tailed
	size int

	// opened is the number of the last batch when the log was opened, and told how many there have been since of which
	// Appended has been told.
	opened uint64
	told   atomic.Uint64

	packing sync.Mutex // held by who moves and removes parts
	senders senders

	packEvery, mergeEvery time.Duration
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
	if cfg.Rate == 0 {
		cfg.Rate = DefaultRate
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &Log{cfg: cfg, last: map[place][]tailed{}, senders: senders{seen: map[senderKey]*sender{}}, packEvery: packEvery, mergeEvery: mergeEvery, full: make(chan struct{}, 1)}
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
		return l.loadSenders(tx)
	})
	if l.size >= longTail {
		l.full <- struct{}{}
	}
	return l, err
}

// note adds a stored batch to the tail. The caller holds mu, or nobody else has the log yet.
func (l *Log) note(batch uint64, list []Signal) {
	list = slices.Clone(list) // the caller may use its own again
	for i := range list {
		at := place{list[i].Account, list[i].Station}
		l.last[at] = append(l.last[at], tailed{&list[i], batch})
	}
	l.size += len(list)
}

// idOf names a signal that has an id.
func idOf(s *Signal) [32]byte {
	h := sha256.New()
	for _, text := range []string{s.Account, s.Source, s.Station, s.ID} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(text)))
		h.Write(length[:])
		h.Write([]byte(text))
	}
	return [32]byte(h.Sum(nil))
}

// Append stores signals, all of them or none, and returns when they are on the disk. Those whose id came before within
// seven days, from the same source for the same station, are left out; duplicate tells which, by index. Every signal has
// its account, station, time and arrival. Errors: the store's; kv.ErrFull among them; one that is Unavailable while
// the tail is too long.
func (l *Log) Append(list []Signal) (duplicate []bool, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	if l.Tail() >= longestTail {
		return nil, errTail
	}
	var kept []Signal
	var batch uint64
	err = l.cfg.Store.Update(func(tx *kv.Tx) error {
		kept, duplicate, batch = list, make([]bool, len(list)), 0
		if err := l.known(tx, list, duplicate); err != nil {
			return err
		}
		if slices.Contains(duplicate, true) {
			kept = nil
			for i := range list {
				if !duplicate[i] {
					kept = append(kept, list[i])
				}
			}
		}
		if len(kept) == 0 {
			return nil
		}
		var err error
		if batch, err = tail.Next(tx); err != nil {
			return err
		}
		if err := markLate(tx, kept); err != nil {
			return err
		}
		return tail.Put(tx, batch, pack(kept, false))
	})
	if err != nil {
		return nil, fmt.Errorf("store signals: %w", err)
	}
	if len(kept) == 0 {
		return duplicate, nil
	}
	l.mu.Lock()
	l.note(batch, kept)
	long := l.size >= longTail
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
	return duplicate, nil
}

// known finds the signals that came before, and remembers the ids of the others.
func (l *Log) known(tx *kv.Tx, list []Signal, duplicate []bool) error {
	now := tx.Now().UnixMilli()
	for i := range list {
		if list[i].ID == "" {
			continue
		}
		id := idOf(&list[i])
		if ids.Has(tx, id) {
			came, err := ids.Get(tx, id)
			if err != nil {
				return err
			}
			if now-came < idMemory.Milliseconds() {
				duplicate[i] = true
				continue
			}
		}
		if err := ids.Put(tx, id, now); err != nil {
			return err
		}
	}
	return nil
}

// Of gives the signals of a station on a UTC day, in the order of Compare. Errors: kv.ErrDamaged and others of the store.
func (l *Log) Of(account, station string, day int64) ([]Signal, error) {
	return l.OfThen(account, station, day*dayMs, (day+1)*dayMs, func() {})
}

// OfThen gives the signals of a station of [from, to), ms, which lies in one UTC day. It is for who is told by Appended as
// well: held is called at the moment that the answer is for, so that each
// signal is either in the answer and was told before, or is told after it. held must not wait, nor call the Log.
func (l *Log) OfThen(account, station string, from, to int64, held func()) ([]Signal, error) {
	day := Day(from)
	var list []Signal
	l.mu.RLock()
	locked := true
	release := func() {
		if locked {
			locked = false
			l.mu.RUnlock()
		}
	}
	defer release()
	sorted := true
	err := l.cfg.Store.View(func(tx *kv.Tx) error {
		for _, s := range l.last[place{account, station}] {
			if s.At >= from && s.At < to {
				list, sorted = append(list, *s.Signal), false
			}
		}
		held()
		release()
		for item, err := range parts.Scan(tx, parts.Between(partOf(account, station, day, 0), partOf(account, station, day+1, 0))) {
			if err != nil {
				return err
			}
			if outside(item.Value, from, to) {
				continue
			}
			more, err := readPart(item)
			if err != nil {
				return err
			}
			if f, l := span(more); f < from || l >= to {
				more = slices.DeleteFunc(more, func(s Signal) bool { return s.At < from || s.At >= to })
			}
			if len(list) == 0 {
				list = more
				continue
			}
			list, sorted = append(list, more...), false
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read signals of %s: %w", station, err)
	}
	if !sorted {
		Sort(list)
	}
	return list, nil
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
func (l *Log) Tail() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.size
}

// Pack moves the tail to its parts. Errors: the store's; what is not moved stays in the tail.
func (l *Log) Pack() error {
	l.packing.Lock()
	defer l.packing.Unlock()
	// The batches that are moved are those in memory: one that is stored and not there yet waits for the next time.
	type dayPart struct {
		place
		day int64
	}
	batches := map[uint64]bool{}
	groups := map[dayPart][]Signal{}
	l.mu.RLock()
	for at, list := range l.last {
		for _, s := range list {
			batches[s.batch] = true
			k := dayPart{at, Day(s.At)}
			groups[k] = append(groups[k], *s.Signal)
		}
	}
	l.mu.RUnlock()
	if len(groups) == 0 {
		return nil
	}
	packed := make(map[dayPart][]byte, len(groups))
	for k, list := range groups {
		Sort(list)
		packed[k] = pack(list, true)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.cfg.Store.Update(func(tx *kv.Tx) error {
		for k, b := range packed {
			next, err := nextPart(tx, k.account, k.station, k.day)
			if err != nil {
				return err
			}
			if err := parts.Put(tx, partOf(k.account, k.station, k.day, next), b); err != nil {
				return err
			}
			if next > 0 {
				if err := open.Put(tx, openOf(k.account, k.station, k.day), nil); err != nil {
					return err
				}
			}
		}
		for batch := range batches {
			if err := tail.Delete(tx, batch); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("pack signals: %w", err)
	}
	for at, list := range l.last {
		left := slices.DeleteFunc(list, func(s tailed) bool { return batches[s.batch] })
		l.size -= len(list) - len(left)
		if len(left) == 0 {
			delete(l.last, at)
		} else {
			l.last[at] = left
		}
	}
	return nil
}

func nextPart(tx *kv.Tx, account, station string, day int64) (uint64, error) {
	for item, err := range parts.ScanDown(tx, parts.Between(partOf(account, station, day, 0), partOf(account, station, day+1, 0))) {
		return item.Key.B.B.B + 1, err
	}
	return 0, nil
}

type openKey = kv.Pair[string, kv.Pair[string, uint64]]

func openOf(account, station string, day int64) openKey {
	return openKey{A: account, B: kv.Pair[string, uint64]{A: station, B: uint64(day) ^ 1<<63}}
}

// Merge joins the parts of each day before the one given into one. Errors: the store's, ctx's.
func (l *Log) Merge(ctx context.Context, before int64) error {
	l.packing.Lock()
	defer l.packing.Unlock()
	var days []openKey
	err := l.cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range open.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			if int64(item.Key.B.B^1<<63) < before {
				days = append(days, item.Key)
			}
		}
		return nil
	})
	for _, k := range days {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
		err = l.merge(k)
	}
	if err != nil {
		return fmt.Errorf("merge signals: %w", err)
	}
	return nil
}

// merge joins one day's parts. Only who holds packing changes parts, so they are read outside of the transaction.
func (l *Log) merge(k openKey) error {
	account, station, day := k.A, k.B.A, int64(k.B.B^1<<63)
	var list []Signal
	var keys []partKey
	err := l.cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range parts.Scan(tx, parts.Between(partOf(account, station, day, 0), partOf(account, station, day+1, 0))) {
			if err != nil {
				return err
			}
			more, err := readPart(item)
			if err != nil {
				return err
			}
			list, keys = append(list, more...), append(keys, item.Key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	Sort(list)
	var joined []byte
	if len(list) > 0 {
		joined = pack(list, true)
	}
	return l.cfg.Store.Update(func(tx *kv.Tx) error {
		if joined != nil {
			// The first part's name is used anew, so that a day's parts never have a gap below them.
			if err := parts.Put(tx, keys[0], joined); err != nil {
				return err
			}
			for _, gone := range keys[1:] {
				if err := parts.Delete(tx, gone); err != nil {
					return err
				}
			}
		}
		return open.Delete(tx, k)
	})
}

// sweepBatch is how many records one transaction of Sweep removes.
const sweepBatch = 1000

// Sweep removes the parts of days that ended before the retention, and ids that have served. Errors: the store's, ctx's.
func (l *Log) Sweep(ctx context.Context) error {
	l.packing.Lock()
	defer l.packing.Unlock()
	now := l.cfg.Clock()
	if err := l.sweepParts(ctx, Day(now.Add(-l.cfg.Retention).UnixMilli())); err != nil {
		return fmt.Errorf("remove old signals: %w", err)
	}
	if err := l.sweepIDs(ctx, now.Add(-idMemory).UnixMilli()); err != nil {
		return fmt.Errorf("remove old ids of signals: %w", err)
	}
	if err := l.sweepSenders(ctx, now.Add(-l.cfg.Retention).UnixMilli()); err != nil {
		return fmt.Errorf("remove senders of long ago: %w", err)
	}
	return nil
}

// sweepParts removes days below the first that is kept, station by station.
func (l *Log) sweepParts(ctx context.Context, first int64) error {
	from := kv.Range{}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var at partKey
		found := false
		var old []partKey
		err := l.cfg.Store.View(func(tx *kv.Tx) error {
			for item, err := range parts.Scan(tx, from) {
				if err != nil {
					return err
				}
				if !found {
					found, at = true, item.Key
				}
				if item.Key.A != at.A || item.Key.B.A != at.B.A || dayOf(item.Key) >= first || len(old) == sweepBatch {
					return nil
				}
				old = append(old, item.Key)
			}
			return nil
		})
		if err != nil || !found {
			return err
		}
		if len(old) > 0 {
			err := l.cfg.Store.Update(func(tx *kv.Tx) error {
				for _, k := range old {
					if err := parts.Delete(tx, k); err != nil {
						return err
					}
					if err := open.Delete(tx, openOf(k.A, k.B.A, dayOf(k))); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		if len(old) < sweepBatch { // this station is done; the next one's name is larger
			from = parts.From(partOf(at.A, at.B.A+"\x00", -1<<63, 0))
		}
	}
}

func (l *Log) sweepIDs(ctx context.Context, before int64) error {
	from := kv.Range{}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var old [][32]byte
		var last [32]byte
		seen := 0
		err := l.cfg.Store.View(func(tx *kv.Tx) error {
			for item, err := range ids.Scan(tx, from) {
				if err != nil {
					return err
				}
				if item.Value < before {
					old = append(old, item.Key)
				}
				if last = item.Key; len(old) == sweepBatch {
					seen++
					return nil
				}
				if seen++; seen == 100*sweepBatch { // a long view keeps room from being used again
					return nil
				}
			}
			seen = 0
			return nil
		})
		if err != nil {
			return err
		}
		if len(old) > 0 {
			err := l.cfg.Store.Update(func(tx *kv.Tx) error {
				for _, id := range old {
					if err := ids.Delete(tx, id); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		if seen == 0 {
			return nil
		}
		from = ids.From(last)
	}
}

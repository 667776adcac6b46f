package signal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"opsmon/app/instant"
	"opsmon/kv"
)

// The default limits of one sender. A gateway that sends 50,000 signals a second in batches of 1,000 is within them.
// Signals beyond them are refused temporarily, which leaves capacity for the others.
const (
	DefaultRate  = 50_000 // signals a second, sustained
	burstSeconds = 2      // of the rate at once; a whole batch is always possible
	atOnce       = 4      // concurrent batches of one sender
)

// skewAlarm is how far a sender's clock may be ahead before a warning (monitoring.md section 2).
const skewAlarm = aheadLimit

// skewKept is how long a detected skew is considered current while the sender sends signals without times.
const skewKept = 10 * time.Minute

// flushEvery is how often the state of senders is stored, and tellEvery the minimum time between two log messages
// about a sender's flood.
const (
	flushEvery = time.Minute
	tellEvery  = time.Minute
)

// Seen is the state of a sender.
type Seen struct {
	LastAt    int64   // last time it sent, ms; 0 = never
	Accepted  uint64  // accepted signals
	Refused   uint64  // invalid signals
	Throttled uint64  // batches and messages that were refused or delayed because of the limits
	AheadMs   int64   // how far its clock was ahead at the last signal with a time; 0 if not noticeably
	Issue     string  // problem of its last invalid signal; "" = none yet
	IssueAt   int64   // time of that signal, ms
	Rate      float64 // signals per second, averaged over about a minute
}

// senderRecord is the stored state of a sender: a changed field needs a migration.
type senderRecord struct {
	LastAt    int64  `json:"lastAt"`
	Accepted  uint64 `json:"accepted"`
	Refused   uint64 `json:"refused"`
	Throttled uint64 `json:"throttled,omitempty"`
	AheadMs   int64  `json:"aheadMs,omitempty"`
	Issue     string `json:"issue,omitempty"`
	IssueAt   int64  `json:"issueAt,omitempty"`
}

// storedSenders is keyed by the account and the source.
var storedSenders = kv.NewBucket("signalSender", kv.PairOf(kv.String, kv.String), kv.JSON[senderRecord]())

type senderKey = kv.Pair[string, string]

// sender is the state of a sender in memory.
type sender struct {
	Seen
	rateAt  int64 // time of Seen.Rate, ms
	timedAt int64 // time of Seen.AheadMs, ms
	dirty   bool
	working int
	told    time.Time // when exceeding the limits was last logged
	skewed  bool      // the skew of its clock was logged
	limit   *rate.Limiter
}

// Counts are numbers of signals since the start of the service, for metrics.
type Counts struct {
	Accepted  uint64
	Repeated  uint64           // accepted ones with a repeated id
	Corrected uint64           // accepted ones with a corrected time, because theirs was too far in the future
	Refused   map[Cause]uint64 // by cause
	Throttled uint64           // batches and messages that were refused or delayed
	Skewed    int              // senders whose clock was more than two minutes ahead at their last signal with a time
}

// Cause is the reason why a signal was refused, for metrics.
type Cause string

// The causes.
const (
	CauseMalformed Cause = "malformed" // not an object of the right form, or not JSON
	CauseValue     Cause = "value"     // an unknown property or an invalid value
	CauseStation   Cause = "station"   // no station, or an unknown one
	CauseForeign   Cause = "foreign"   // a station or a topic that the sender may not use
	CauseOld       Cause = "old"       // before the retention
	CauseCrowded   Cause = "crowded"   // the station has too many signals of that millisecond
)

// Causes returns all causes.
func Causes() []Cause {
	return []Cause{CauseMalformed, CauseValue, CauseStation, CauseForeign, CauseOld, CauseCrowded}
}

type senders struct {
	mu     sync.Mutex
	seen   map[senderKey]*sender
	counts Counts
}

// loadSenders reads the stored state of senders.
func (l *Log) loadSenders(tx *kv.Tx) error {
	for item, err := range storedSenders.Scan(tx, kv.Range{}) {
		if err != nil {
			return err
		}
		r := item.Value
		l.senders.seen[item.Key] = &sender{Seen: Seen{
			LastAt: r.LastAt, Accepted: r.Accepted, Refused: r.Refused, Throttled: r.Throttled, AheadMs: r.AheadMs, Issue: r.Issue, IssueAt: r.IssueAt,
		}}
	}
	return nil
}

// of returns the state of a sender, and creates it if missing. mu must be held.
func (s *senders) of(account, source string) *sender {
	k := senderKey{A: account, B: source}
	known := s.seen[k]
	if known == nil {
		known = &sender{}
		s.seen[k] = known
	}
	return known
}

// Seen returns the state of a sender of an account.
func (l *Log) Seen(account, source string) Seen {
	now := l.cfg.Clock().UnixMilli()
	l.senders.mu.Lock()
	defer l.senders.mu.Unlock()
	known := l.senders.seen[senderKey{A: account, B: source}]
	if known == nil {
		return Seen{}
	}
	out := known.Seen
	out.Rate = decayed(known.Rate, now-known.rateAt)
	return out
}

// Counts returns the numbers of signals since the start of the service.
func (l *Log) Counts() Counts {
	l.senders.mu.Lock()
	defer l.senders.mu.Unlock()
	out := l.senders.counts
	out.Refused = make(map[Cause]uint64, len(l.senders.counts.Refused))
	for cause, n := range l.senders.counts.Refused {
		out.Refused[cause] = n
	}
	for _, s := range l.senders.seen {
		if s.AheadMs > skewAlarm.Milliseconds() {
			out.Skewed++
		}
	}
	return out
}

// rateMs is the averaging time of a sender's rate, in ms.
const rateMs = instant.MinuteMs

// decayed returns a rate after some time, in ms, without signals.
func decayed(was float64, ms int64) float64 {
	now := was * math.Exp(-float64(max(ms, 0))/rateMs)
	if now < 0.001 {
		return 0
	}
	return now
}

// noteSender records the outcomes of a sender's signals.
func (l *Log) noteSender(from *Sender, now int64, sum *summary) {
	l.senders.mu.Lock()
	s := l.senders.of(from.Account, from.Source)
	s.Rate, s.rateAt = decayed(s.Rate, now-s.rateAt)+float64(sum.accepted+sum.refused)*1000/rateMs, now
	s.LastAt, s.dirty = now, true
	if sum.timed || now-s.timedAt > skewKept.Milliseconds() {
		s.AheadMs, s.timedAt = sum.ahead, now
	}
	s.Accepted += uint64(sum.accepted)
	s.Refused += uint64(sum.refused)
	if sum.issue != "" {
		s.Issue, s.IssueAt = sum.issue, now
	}
	skewed := sum.ahead > skewAlarm.Milliseconds()
	tell := skewed && !s.skewed
	if tell {
		s.skewed = true
	} else if !skewed && sum.timed {
		s.skewed = false // its clock is correct again: warn again next time
	}
	c := &l.senders.counts
	c.Accepted += uint64(sum.accepted)
	c.Repeated += uint64(sum.repeated)
	c.Corrected += uint64(sum.corrected)
	for cause, n := range sum.causes {
		if c.Refused == nil {
			c.Refused = map[Cause]uint64{}
		}
		c.Refused[cause] += uint64(n)
	}
	l.senders.mu.Unlock()
	if tell {
		l.cfg.Log.Warn("the clock of a device is ahead, or this machine's is behind: correct it; the signals get the time of their arrival",
			slog.String("account", from.Account), slog.String("source", from.Source), slog.Duration("ahead", time.Duration(sum.ahead)*time.Millisecond))
	}
}

// NoteRefused counts signals of a sender that were refused before Take.
func (l *Log) NoteRefused(from Sender, cause Cause, issue string, n int) {
	l.noteSender(&from, l.cfg.Clock().UnixMilli(), &summary{refused: n, causes: map[Cause]int{cause: n}, issue: issue})
}

// roomWait is how long a sender is asked to wait if there is a backlog.
const roomWait = time.Second

// Admit reports whether a sender may send now. It may not if it has exceeded its rate, has too many concurrent
// batches, or the backlog is too large: then wait is how long it must wait, and the refusal is counted. Otherwise the
// caller must call done after the batch with the number of its signals, which count against the rate.
func (l *Log) Admit(account, source string) (done func(signals int), wait time.Duration) {
	now := time.Now() // not the clock of the tests: a rate is about elapsed time
	room := l.room(account, source)
	l.senders.mu.Lock()
	defer l.senders.mu.Unlock()
	s := l.senders.of(account, source)
	limit := s.limiter(l.cfg.Rate)
	switch tokens := limit.TokensAt(now); {
	case tokens < 1:
		wait = time.Duration((1 - tokens) / float64(limit.Limit()) * float64(time.Second))
	case s.working >= atOnce:
		wait = time.Second
	case !room:
		wait = roomWait
	}
	if wait > 0 {
		l.tooMany(s, account, source, now)
		return nil, wait
	}
	s.working++
	return func(signals int) {
		l.senders.mu.Lock()
		defer l.senders.mu.Unlock()
		s.working--
		limit.ReserveN(time.Now(), min(signals, limit.Burst()))
	}, 0
}

// Pace counts one message of a sender and returns how long to wait before reading the next.
func (l *Log) Pace(account, source string) (wait time.Duration) {
	now := time.Now()
	l.senders.mu.Lock()
	defer l.senders.mu.Unlock()
	s := l.senders.of(account, source)
	if wait = s.limiter(l.cfg.Rate).ReserveN(now, 1).DelayFrom(now); wait > 0 {
		l.tooMany(s, account, source, now)
	}
	return wait
}

func (s *sender) limiter(perSecond int) *rate.Limiter {
	if s.limit == nil {
		s.limit = rate.NewLimiter(rate.Limit(perSecond), max(perSecond*burstSeconds, MaxBatch))
	}
	return s.limit
}

// tooMany counts an exceeded limit and, at intervals, logs it. mu must be held.
func (l *Log) tooMany(s *sender, account, source string, now time.Time) {
	s.Throttled++
	s.dirty = true
	l.senders.counts.Throttled++
	if now.Sub(s.told) >= tellEvery {
		s.told = now
		l.cfg.Log.Warn("a device exceeds its rate and is throttled", slog.String("account", account), slog.String("source", source), slog.Int("perSecond", l.cfg.Rate))
	}
}

// roomPause is the interval at which Await checks for room.
const roomPause = 50 * time.Millisecond

// Await waits until the sender of single messages may send more. Meanwhile its messages remain in the network. Error:
// that of ctx.
func (l *Log) Await(ctx context.Context, account, source string) error {
	if l.room(account, source) {
		return nil
	}
	l.senders.mu.Lock()
	l.tooMany(l.senders.of(account, source), account, source, time.Now())
	l.senders.mu.Unlock()
	look := time.NewTicker(roomPause)
	defer look.Stop()
	for !l.room(account, source) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		}
	}
	return nil
}

// Forget deletes the state of a removed sender. Errors: those of the store.
func (l *Log) Forget(account, source string) error {
	k := senderKey{A: account, B: source}
	l.senders.mu.Lock()
	delete(l.senders.seen, k)
	l.senders.mu.Unlock()
	return l.cfg.Store.Update(func(tx *kv.Tx) error { return storedSenders.Delete(tx, k) })
}

// flushSenders stores the changed state of senders. Errors: those of the store.
func (l *Log) flushSenders() error {
	changed := map[senderKey]senderRecord{}
	l.senders.mu.Lock()
	for k, s := range l.senders.seen {
		if s.dirty {
			s.dirty = false
			changed[k] = senderRecord{
				LastAt: s.LastAt, Accepted: s.Accepted, Refused: s.Refused, Throttled: s.Throttled, AheadMs: s.AheadMs, Issue: s.Issue, IssueAt: s.IssueAt,
			}
		}
	}
	l.senders.mu.Unlock()
	if len(changed) == 0 {
		return nil
	}
	err := l.cfg.Store.Update(func(tx *kv.Tx) error {
		for k, r := range changed {
			if err := storedSenders.Put(tx, k, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		return nil
	}
	l.senders.mu.Lock()
	defer l.senders.mu.Unlock()
	for k := range changed {
		if s := l.senders.seen[k]; s != nil {
			s.dirty = true // retry next time
		}
	}
	return fmt.Errorf("store the last activity of devices: %w", err)
}

// sweepSenders removes senders that have sent nothing within the retention.
func (l *Log) sweepSenders(ctx context.Context, before int64) error {
	var old []senderKey
	l.senders.mu.Lock()
	for k, s := range l.senders.seen {
		if s.LastAt < before && s.working == 0 && !s.dirty {
			old = append(old, k)
		}
	}
	l.senders.mu.Unlock()
	var err error
	for _, k := range old {
		err = errors.Join(err, ctx.Err(), l.Forget(k.A, k.B))
		if err != nil {
			break
		}
	}
	return err
}

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

// Limits of what one sender may send when nothing else is set. A gateway that sends 50,000 signals a second in batches
// of 1,000 is within them; what is over them is refused for a moment, so that the others get their turn.
const (
	DefaultRate  = 50_000 // signals a second, sustained
	burstSeconds = 2      // of the rate may come at once, and a whole batch always
	atOnce       = 4      // batches of one sender that are worked on
)

// skewAlarm is how far a sender's clock may be ahead before it is told (monitoring.md section 2).
const skewAlarm = aheadLimit

// skewKept is for how long what a sender's clock was ahead is believed, when it sends on and tells no time any more.
const skewKept = 10 * time.Minute

// flushEvery is how often what is known of senders is written, and tellEvery how often a flood of one of them is
// logged.
const (
	flushEvery = time.Minute
	tellEvery  = time.Minute
)

// Seen is what is known of a sender.
type Seen struct {
	LastAt    int64   // when it last sent, ms; 0 = never
	Accepted  uint64  // signals that count
	Refused   uint64  // signals that do not, for what is wrong with them
	Throttled uint64  // batches and messages that were refused for now, or made to wait, since there were too many
	AheadMs   int64   // by how much its clock was ahead when it last told a time; 0 when it was not noticeably
	Issue     string  // what was last wrong with a signal of it; "" = nothing yet
	IssueAt   int64   // when that was, ms
	Rate      float64 // signals per second, averaged over about a minute
}

// senderRecord is what is kept of a sender. It is stored: a changed field needs a migration.
type senderRecord struct {
	LastAt    int64  `json:"lastAt"`
	Accepted  uint64 `json:"accepted"`
	Refused   uint64 `json:"refused"`
	Throttled uint64 `json:"throttled,omitempty"`
	AheadMs   int64  `json:"aheadMs,omitempty"`
	Issue     string `json:"issue,omitempty"`
	IssueAt   int64  `json:"issueAt,omitempty"`
}

// sendersKept is keyed by the account and the source.
var sendersKept = kv.NewBucket("signalSender", kv.PairOf(kv.String, kv.String), kv.JSON[senderRecord]())

type senderKey = kv.Pair[string, string]

// sender is what is known of a sender in memory.
type sender struct {
	Seen
	rateAt  int64 // when Seen.Rate was right, ms
	timedAt int64 // when Seen.AheadMs was right, ms
	dirty   bool
	working int
	told    time.Time // when it was last logged that there were too many
	skewed  bool      // it was logged that its clock is ahead
	limit   *rate.Limiter
}

// Counts are how many signals there were since the service started, for metrics.
type Counts struct {
	Accepted  uint64
	Repeated  uint64           // accepted ones whose id came before
	Corrected uint64           // accepted ones whose time was too far in the future
	Refused   map[Cause]uint64 // by why
	Throttled uint64           // batches and messages that were refused for now, or made to wait
	Skewed    int              // senders whose clock was more than two minutes ahead when they last told a time
}

// Cause says why a signal was refused, for metrics.
type Cause string

// The causes.
const (
	CauseMalformed Cause = "malformed" // not an object of the right shape, or not JSON at all
	CauseValue     Cause = "value"     // a property is unknown, or its value cannot be
	CauseStation   Cause = "station"   // no station, or one that the account does not have
	CauseForeign   Cause = "foreign"   // a station or a topic that the sender was not given
	CauseOld       Cause = "old"       // before what is kept
	CauseCrowded   Cause = "crowded"   // the station has very many of that millisecond
)

// Causes lists them all.
func Causes() []Cause {
	return []Cause{CauseMalformed, CauseValue, CauseStation, CauseForeign, CauseOld, CauseCrowded}
}

type senders struct {
	mu     sync.Mutex
	seen   map[senderKey]*sender
	counts Counts
}

// loadSenders reads what was kept of senders.
func (l *Log) loadSenders(tx *kv.Tx) error {
	for item, err := range sendersKept.Scan(tx, kv.Range{}) {
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

// of returns what is known of a sender, made when there is nothing yet. The caller holds mu.
func (s *senders) of(account, source string) *sender {
	k := senderKey{A: account, B: source}
	known := s.seen[k]
	if known == nil {
		known = &sender{}
		s.seen[k] = known
	}
	return known
}

// Seen returns what is known of a sender of an account.
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

// Counts returns how many signals there were since the service started.
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

// rateMs is over what time a sender's rate is told, in ms.
const rateMs = instant.MinuteMs

// decayed is what is left of a rate after some time, in ms, in which nothing came.
func decayed(was float64, ms int64) float64 {
	now := was * math.Exp(-float64(max(ms, 0))/rateMs)
	if now < 0.001 {
		return 0
	}
	return now
}

// noteSender notes what became of what a sender sent. issue is the last thing that was wrong, "" for nothing.
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
		s.skewed = false // its clock is right again: the next time is told again
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
		l.cfg.Log.Warn("the clock of a device is ahead, or this machine's is behind: set it right; its signals are taken at their arrival",
			slog.String("account", from.Account), slog.String("source", from.Source), slog.Duration("ahead", time.Duration(sum.ahead)*time.Millisecond))
	}
}

// NoteRefused counts signals of a sender that were refused before Take could see them.
func (l *Log) NoteRefused(from Sender, cause Cause, issue string, n int) {
	l.noteSender(&from, l.cfg.Clock().UnixMilli(), &summary{refused: n, causes: map[Cause]int{cause: n}, issue: issue})
}

// roomWait is how long who must wait for room is asked to wait.
const roomWait = time.Second

// Admit asks whether a sender may send now. It may not while it has sent more than its rate allows, has so many batches
// under way already, or too much waits to be done: then wait is how long it must wait, and it is counted. Who may calls
// done when its batch is taken, with how many signals it held: those count against what it sends later.
func (l *Log) Admit(account, source string) (done func(signals int), wait time.Duration) {
	now := time.Now() // not the clock that tests set: a rate is about time that passes
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

// Pace counts one message of a sender that sends them one by one, and tells how long to wait before the next is read.
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

// tooMany counts and, now and then, logs that a sender sends too much. The caller holds mu.
func (l *Log) tooMany(s *sender, account, source string, now time.Time) {
	s.Throttled++
	s.dirty = true
	l.senders.counts.Throttled++
	if now.Sub(s.told) >= tellEvery {
		s.told = now
		l.cfg.Log.Warn("a device sends more than it may and is slowed down", slog.String("account", account), slog.String("source", source), slog.Int("perSecond", l.cfg.Rate))
	}
}

// roomPause is how soon who waits for room looks again.
const roomPause = 50 * time.Millisecond

// Await waits until there is room for what a sender sends one by one. What it does not take meanwhile its network
// keeps. Error: ctx's.
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

// Forget drops what is known of a sender that is no more. Errors: the store's.
func (l *Log) Forget(account, source string) error {
	k := senderKey{A: account, B: source}
	l.senders.mu.Lock()
	delete(l.senders.seen, k)
	l.senders.mu.Unlock()
	return l.cfg.Store.Update(func(tx *kv.Tx) error { return sendersKept.Delete(tx, k) })
}

// flushSenders writes what has changed of senders. Errors: the store's.
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
			if err := sendersKept.Put(tx, k, r); err != nil {
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
			s.dirty = true // the next time
		}
	}
	return fmt.Errorf("write when devices were seen last: %w", err)
}

// sweepSenders removes senders that have sent nothing for as long as signals are kept.
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

// Package idempotency recognizes a write that a client repeats because it did not receive the answer, and retains
// refused writes for a supervisor (monitoring.md section 4).
//
// An answer is stored in the transaction of its write. A key belongs to its sender: an API key or a device, or a
// person or tablet in any session.
//
// The buckets:
//
//	once       (account, (sender, key)) -> a completed request and its answer: for seven days
//	onceAge    (time, ms, (account, (sender, key))) -> ""
//	refused    (account, (sender, key)) -> a refused request: for 30 days
//	refusedAge (account, (last time, ms, (sender, key))) -> ""
package idempotency

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// MaxKey is the maximum length of a key, in bytes.
const MaxKey = 128

const (
	keptAnswers = 7 * 24 * time.Hour  // how long a key is recognized
	keptRefused = 30 * 24 * time.Hour // since the last request with the key
	maxRefused  = 1000                // per account; the oldest are removed first
	maxBody     = 4096                // maximum size of a retained body, in bytes
)

// Request identifies a write that its client may repeat.
type Request struct {
	Key string   // Idempotency-Key; "": execute the write each time
	Ask [32]byte // a hash of the request
}

// Answer is the answer to a request.
type Answer struct {
	Status   int    `json:"status"` // 0 is the default
	Body     []byte `json:"body,omitempty"`
	Location string `json:"location,omitempty"`
}

// answerRecord is a stored answer: a changed field needs a migration.
type answerRecord struct {
	At  int64  `json:"at"`  // ms
	Ask []byte `json:"ask"` // 32 bytes
	Answer
}

// Refused is a refused write with a key, retained for a supervisor. It is stored: a changed field needs a migration.
type Refused struct {
	Key     string           `json:"key"`
	At      int64            `json:"at"`     // ms, the first time
	LastAt  int64            `json:"lastAt"` // ms
	Times   int              `json:"times"`  // number of attempts
	Method  string           `json:"method"`
	Path    string           `json:"path"` // with its query
	Body    string           `json:"body"` // the first 4 KiB
	Status  int              `json:"status"`
	Message string           `json:"message"`
	Details []errdefs.Detail `json:"details"`
	By      audit.Actor      `json:"by"`
}

// recordKey is an account, a sender, and the key: two senders may use the same key.
type recordKey = kv.Pair[string, kv.Pair[string, string]]

func keyOf(accountID string, by audit.Actor, key string) recordKey {
	return recordKey{A: accountID, B: kv.Pair[string, string]{A: asker(by), B: key}}
}

// asker identifies the sender that a repeated request must come from.
func asker(by audit.Actor) string {
	if by.Email != "" && (by.Credential == "" || strings.HasPrefix(by.Credential, "session:")) {
		return by.Email
	}
	return by.Credential
}

// The buckets: answers and refused writes, each with an index by age.
var (
	answers     = kv.NewBucket("once", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String)), kv.JSON[answerRecord]())
	answerAges  = kv.NewBucket("onceAge", kv.PairOf(kv.Uint64, kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String))), kv.Raw)
	refused     = kv.NewBucket("refused", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String)), kv.JSON[Refused]())
	refusedAges = kv.NewBucket("refusedAge", kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.PairOf(kv.String, kv.String))), kv.Raw)
)

// Buckets returns the names of the package's buckets.
func Buckets() []string {
	return []string{answers.Name(), answerAges.Name(), refused.Name(), refusedAges.Name()}
}

// Do calls fn, and stores and returns its answer. If the sender has completed a request with the same key within
// seven days before now (ms), Do returns that answer without calling fn. Errors: those of fn and of the store, and
// Conflict if the key was used for a different request.
func Do(tx *kv.Tx, accountID string, by audit.Actor, r Request, now int64, fn func() (Answer, error)) (Answer, error) {
	if r.Key == "" {
		return fn()
	}
	if old, done, err := answered(tx, accountID, by, r, now); err != nil || done {
		return old, err
	}
	k := keyOf(accountID, by, r.Key)
	if err := removeAnswer(tx, k); err != nil { // an expired one
		return Answer{}, err
	}
	answer, err := fn()
	if err != nil {
		return answer, err
	}
	if err := removeRefused(tx, k); err != nil { // the request was finally accepted
		return answer, err
	}
	if err := answerAges.Put(tx, ageKey(now, k), nil); err != nil {
		return answer, err
	}
	return answer, answers.Put(tx, k, answerRecord{At: now, Ask: r.Ask[:], Answer: answer})
}

// Config configures a Service.
type Config struct {
	Store *kv.Store
	Clock func() time.Time // nil = time.Now
}

// Service looks up, retains and removes requests by their keys. It may be used concurrently.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) *Service {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	return &Service{cfg}
}

// Answered returns the answer to a completed request, as Do would, and whether it exists. It avoids expensive
// preparations of a repeated request. Errors: as Do.
func (s *Service) Answered(accountID string, by audit.Actor, r Request) (answer Answer, done bool, err error) {
	err = s.cfg.Store.View(func(tx *kv.Tx) (err error) {
		answer, done, err = answered(tx, accountID, by, r, s.cfg.Clock().UnixMilli())
		return err
	})
	return answer, done, err
}

func answered(tx *kv.Tx, accountID string, by audit.Actor, r Request, now int64) (Answer, bool, error) {
	if r.Key == "" {
		return Answer{}, false, nil
	}
	switch old, err := answers.Get(tx, keyOf(accountID, by, r.Key)); {
	case errors.Is(err, kv.ErrNotFound) || err == nil && old.At <= now-keptAnswers.Milliseconds():
		return Answer{}, false, nil
	case err != nil:
		return Answer{}, false, err
	case !bytes.Equal(old.Ask, r.Ask[:]):
		at := instant.FormatMs(old.At)
		return Answer{}, false, errdefs.New(errdefs.Conflict, "another request came with this Idempotency-Key at %s; a new request needs a new key", at)
	default:
		return old.Answer, true, nil
	}
}

// removeAnswer removes a stored answer, if any.
func removeAnswer(tx *kv.Tx, k recordKey) error {
	old, err := answers.Get(tx, k)
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := answerAges.Delete(tx, ageKey(old.At, k)); err != nil {
		return err
	}
	return answers.Delete(tx, k)
}

// answerAge is the time of a request, ms, and its key.
type answerAge = kv.Pair[uint64, recordKey]

func ageKey(at int64, k recordKey) answerAge { return answerAge{A: uint64(max(at, 0)), B: k} }

type refusedAge = kv.Pair[string, kv.Pair[uint64, kv.Pair[string, string]]]

func refusedAgeKey(at int64, k recordKey) refusedAge {
	return refusedAge{A: k.A, B: kv.Pair[uint64, kv.Pair[string, string]]{A: uint64(max(at, 0)), B: k.B}}
}

// removeRefused removes a refused write, if any.
func removeRefused(tx *kv.Tx, k recordKey) error {
	old, err := refused.Get(tx, k)
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := refusedAges.Delete(tx, refusedAgeKey(old.LastAt, k)); err != nil {
		return err
	}
	return refused.Delete(tx, k)
}

// Refuse retains a refused write, or increments the count of an earlier one with the same sender and key. Errors:
// those of the store.
func (s *Service) Refuse(accountID string, r Refused) error {
	now := s.cfg.Clock().UnixMilli()
	r.Body = r.Body[:min(len(r.Body), maxBody)]
	return s.cfg.Store.Update(func(tx *kv.Tx) error {
		next, k := r, keyOf(accountID, r.By, r.Key)
		next.At, next.LastAt, next.Times = now, now, 1
		switch old, err := refused.Get(tx, k); {
		case err == nil:
			next.At, next.Times = old.At, old.Times+1
		case !errors.Is(err, kv.ErrNotFound):
			return err
		}
		if err := removeRefused(tx, k); err != nil {
			return err
		}
		kept := 0
		for item, err := range refusedAges.ScanDown(tx, kv.Under(refusedAges, accountID)) {
			if err != nil {
				return err
			}
			if kept++; kept < maxRefused {
				continue
			}
			if err := removeRefused(tx, recordKey{A: accountID, B: item.Key.B.B}); err != nil {
				return err
			}
		}
		if err := refusedAges.Put(tx, refusedAgeKey(now, k), nil); err != nil {
			return err
		}
		return refused.Put(tx, k, next)
	})
}

// Refused returns the refused writes of an account, the latest first, and their total number. Errors: those of the
// store.
func (s *Service) Refused(accountID string, limit, skip int) (list []Refused, total int, err error) {
	err = s.cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range refusedAges.ScanDown(tx, kv.Under(refusedAges, accountID)) {
			if err != nil {
				return fmt.Errorf("read refused writes: %w", err)
			}
			if total++; total <= skip || len(list) == limit {
				continue
			}
			one, err := refused.Get(tx, recordKey{A: accountID, B: item.Key.B.B})
			if err != nil {
				return fmt.Errorf("read refused writes: %w", err)
			}
			list = append(list, one)
		}
		return nil
	})
	return list, total, err
}

// Sweep removes answers older than seven days and writes that were last refused more than 30 days ago. Errors: those
// of the store; that of ctx.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.cfg.Clock().UnixMilli()
	if _, err := answerAges.Sweep(ctx, s.cfg.Store, kv.Sweeper[answerAge]{
		Keep:   func(k answerAge) bool { return int64(k.A) >= now-keptAnswers.Milliseconds() },
		Next:   func(answerAge) answerAge { return ageKey(math.MaxInt64, recordKey{}) },
		Remove: func(tx *kv.Tx, k answerAge) error { return removeAnswer(tx, k.B) },
	}); err != nil {
		return fmt.Errorf("remove old answers: %w", err)
	}
	if _, err := refusedAges.Sweep(ctx, s.cfg.Store, kv.Sweeper[refusedAge]{
		Keep:   func(k refusedAge) bool { return int64(k.B.A) >= now-keptRefused.Milliseconds() },
		Next:   func(k refusedAge) refusedAge { return refusedAgeKey(math.MaxInt64, recordKey{A: k.A}) },
		Remove: func(tx *kv.Tx, k refusedAge) error { return removeRefused(tx, recordKey{A: k.A, B: k.B.B}) },
	}); err != nil {
		return fmt.Errorf("remove refused writes: %w", err)
	}
	return nil
}

// Check reads answers and refused writes and reports those that are inconsistent with the known accounts.
func Check(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	count := 0
	for item, err := range answers.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("a request that was done: %v", err))
			return
		}
		count++
		if !known[item.Key.A] {
			report(fmt.Sprintf("a request that was done is of the account %q, which is not there", item.Key.A))
		}
		if !answerAges.Has(tx, ageKey(item.Value.At, item.Key)) {
			report("a request that was done has no place in the order of age")
		}
	}
	if n := answerAges.Count(tx); n != count {
		report(fmt.Sprintf("%d places in the order of age for %d requests that were done", n, count))
	}
	count = 0
	for item, err := range refused.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("a request that was refused: %v", err))
			return
		}
		count++
		if !known[item.Key.A] {
			report(fmt.Sprintf("a request that was refused is of the account %q, which is not there", item.Key.A))
		}
		if !refusedAges.Has(tx, refusedAgeKey(item.Value.LastAt, item.Key)) {
			report("a request that was refused has no place in the order of age")
		}
	}
	if n := refusedAges.Count(tx); n != count {
		report(fmt.Sprintf("%d places in the order of age for %d requests that were refused", n, count))
	}
}

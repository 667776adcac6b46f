package floor

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
	"opsmon/kv"
)

const (
	// backdate is how far back what people enter may take effect, ms: for tablets that were offline.
	backdate = 24 * hour
	// drift is how much a client's clock may be ahead of ours, ms.
	drift = 2 * minute
)

// Moment gives when a write takes effect, ms: at, the value of a field of the request, or now when it is nil. It may be up
// to 24 hours back; a client's clock may be two minutes ahead, which is now. Otherwise the error is Invalid, by the field.
func Moment(field string, at *int64, now int64) (int64, error) {
	switch {
	case at == nil:
		return now, nil
	case *at > now+drift:
		return 0, errdefs.InvalidField(field, "must not be in the future; it is %s, and now it is %s", stampOf(*at), stampOf(now))
	case *at < now-backdate:
		return 0, errdefs.InvalidField(field, "must not be more than 24 hours ago; it is %s, and now it is %s", stampOf(*at), stampOf(now))
	}
	return min(*at, now), nil
}

func stampOf(ms int64) string { return audit.Timestamp(time.UnixMilli(ms)) }

// MaxKey is the length of an idempotency key, in bytes.
const MaxKey = 128

// Time is the time by which the Floor goes, ms.
func (f *Floor) Time() int64 { return f.now() }

// Request is a write that its client may send again when it did not get the answer (monitoring.md section 4).
type Request struct {
	Key string   // Idempotency-Key; "" is none: it is done each time
	Ask [32]byte // a hash of all that it asks for
}

// Answer is what a request was answered with.
type Answer struct {
	Status   int    `json:"status"` // 0 is the usual one
	Body     []byte `json:"body,omitempty"`
	Location string `json:"location,omitempty"`
}

// onceRecord is a request that was done. It is stored: a changed field needs a migration.
type onceRecord struct {
	At  int64  `json:"at"`  // ms
	Ask []byte `json:"ask"` // 32 bytes
	Answer
}

// Refused is a write with an idempotency key that was refused, as it is kept for a supervisor. It is stored: a changed field
// needs a migration.
type Refused struct {
	Key     string           `json:"key"`
	At      int64            `json:"at"`     // ms, the first time
	LastAt  int64            `json:"lastAt"` // ms
	Times   int              `json:"times"`  // how often it came
	Method  string           `json:"method"`
	Path    string           `json:"path"` // with its query
	Body    string           `json:"body"` // the first 4 KiB
	Status  int              `json:"status"`
	Message string           `json:"message"`
	Details []errdefs.Detail `json:"details"`
	By      audit.Actor      `json:"by"`
}

// keyKey is an account, who asks there, and its idempotency key: two tablets may come by the same one.
type keyKey = kv.Pair[string, kv.Pair[string, string]]

func onceKey(accountID string, by audit.Actor, key string) keyKey {
	return keyKey{A: accountID, B: kv.Pair[string, string]{A: asker(by), B: key}}
}

// asker names who may ask again and have the same answer: an API key or a device, and a person or tablet in whatever session.
func asker(by audit.Actor) string {
	if by.Email != "" && (by.Credential == "" || strings.HasPrefix(by.Credential, "session:")) {
		return by.Email
	}
	return by.Credential
}

// The buckets of what came with an idempotency key.
var (
	onces       = kv.NewBucket("once", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String)), kv.JSON[onceRecord]())
	onceAges    = kv.NewBucket("onceAge", kv.PairOf(kv.Uint64, kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String))), kv.Raw)
	refusals    = kv.NewBucket("refused", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.String)), kv.JSON[Refused]())
	refusalAges = kv.NewBucket("refusedAge", kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.PairOf(kv.String, kv.String))), kv.Raw)
)

const (
	keptOnce       = 7 * 24 * hour  // ms: how long a key is recognised
	keptRefused    = 30 * 24 * hour // ms
	maxRefused     = 1000           // of an account; beyond it the oldest go
	maxRefusedBody = 4096           // bytes
)

// Once is Do for a request: when one with its key was done by the same asker within seven days, fn does not run, and the answer
// is that one's.
// The answer is stored with what fn does, or neither is. Errors: as Do's, and Conflict when the same key came with another
// request.
func (f *Floor) Once(accountID string, by audit.Actor, r Request, fn func(w *Work) (Answer, error)) (answer Answer, err error) {
	err = f.Do(accountID, func(w *Work) (err error) {
		w.By = by
		if r.Key == "" {
			answer, err = fn(w)
			return err
		}
		old, done, err := answered(w.Tx, accountID, by, r, w.Now)
		if err != nil || done {
			answer = old
			return err
		}
		k := onceKey(accountID, by, r.Key)
		if err := forgetOnce(w.Tx, k); err != nil { // one of longer ago
			return err
		}
		if answer, err = fn(w); err != nil {
			return err
		}
		if err := unrefuse(w.Tx, k); err != nil { // it was accepted in the end
			return err
		}
		if err := onceAges.Put(w.Tx, ageKey(w.Now, k), nil); err != nil {
			return err
		}
		return onces.Put(w.Tx, k, onceRecord{At: w.Now, Ask: r.Ask[:], Answer: answer})
	})
	return answer, err
}

// Answered gives the answer to a request that was done, as Once would: for who has to find out a lot before it can be done.
func (f *Floor) Answered(accountID string, by audit.Actor, r Request) (answer Answer, done bool, err error) {
	err = f.cfg.Store.View(func(tx *kv.Tx) (err error) {
		answer, done, err = answered(tx, accountID, by, r, f.now())
		return err
	})
	return answer, done, err
}

// answered looks a request up by its key, if it has one. Conflict: the key came with another.
func answered(tx *kv.Tx, accountID string, by audit.Actor, r Request, now int64) (Answer, bool, error) {
	if r.Key == "" {
		return Answer{}, false, nil
	}
	switch old, err := onces.Get(tx, onceKey(accountID, by, r.Key)); {
	case errors.Is(err, kv.ErrNotFound) || err == nil && old.At <= now-keptOnce:
		return Answer{}, false, nil
	case err != nil:
		return Answer{}, false, err
	case !bytes.Equal(old.Ask, r.Ask[:]):
		return Answer{}, false, errdefs.New(errdefs.Conflict, "another request came with this Idempotency-Key at %s; a new request needs a new key", stampOf(old.At))
	default:
		return old.Answer, true, nil
	}
}

// forgetOnce forgets a request that was done, if there is one.
func forgetOnce(tx *kv.Tx, k keyKey) error {
	old, err := onces.Get(tx, k)
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := onceAges.Delete(tx, ageKey(old.At, k)); err != nil {
		return err
	}
	return onces.Delete(tx, k)
}

// onceAge is when a request was done, ms, and its key.
type onceAge = kv.Pair[uint64, keyKey]

func ageKey(at int64, k keyKey) onceAge { return onceAge{A: uint64(max(at, 0)), B: k} }

type refusalKey = kv.Pair[string, kv.Pair[uint64, kv.Pair[string, string]]]

func refusalAge(at int64, k keyKey) refusalKey {
	return refusalKey{A: k.A, B: kv.Pair[uint64, kv.Pair[string, string]]{A: uint64(max(at, 0)), B: k.B}}
}

// unrefuse forgets a request that was refused.
func unrefuse(tx *kv.Tx, k keyKey) error {
	old, err := refusals.Get(tx, k)
	if errors.Is(err, kv.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := refusalAges.Delete(tx, refusalAge(old.LastAt, k)); err != nil {
		return err
	}
	return refusals.Delete(tx, k)
}

// Refuse keeps a request that was refused; one that came before from the same asker with the same key counts
// once more. Errors are the store's.
func (f *Floor) Refuse(accountID string, r Refused) error {
	now := f.now()
	r.Body = r.Body[:min(len(r.Body), maxRefusedBody)]
	return f.cfg.Store.Update(func(tx *kv.Tx) error {
		next, k := r, onceKey(accountID, r.By, r.Key)
		next.At, next.LastAt, next.Times = now, now, 1
		switch old, err := refusals.Get(tx, k); {
		case err == nil:
			next.At, next.Times = old.At, old.Times+1
		case !errors.Is(err, kv.ErrNotFound):
			return err
		}
		if err := unrefuse(tx, k); err != nil {
			return err
		}
		kept := 0
		for item, err := range refusalAges.ScanDown(tx, kv.Under(refusalAges, accountID)) {
			if err != nil {
				return err
			}
			if kept++; kept < maxRefused {
				continue
			}
			if err := unrefuse(tx, keyKey{A: accountID, B: item.Key.B.B}); err != nil {
				return err
			}
		}
		if err := refusalAges.Put(tx, refusalAge(now, k), nil); err != nil {
			return err
		}
		return refusals.Put(tx, k, next)
	})
}

// Refusals lists the refused requests of an account, the latest first, and how many there are. Errors are the store's.
func (f *Floor) Refusals(accountID string, limit, skip int) (list []Refused, total int, err error) {
	err = f.cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range refusalAges.ScanDown(tx, kv.Under(refusalAges, accountID)) {
			if err != nil {
				return fmt.Errorf("read what was refused: %w", err)
			}
			if total++; total <= skip || len(list) == limit {
				continue
			}
			one, err := refusals.Get(tx, keyKey{A: accountID, B: item.Key.B.B})
			if err != nil {
				return fmt.Errorf("read what was refused: %w", err)
			}
			list = append(list, one)
		}
		return nil
	})
	return list, total, err
}

// Sweep forgets the keys of requests that are older than seven days, what was refused more than 30 days ago, and what the
// ledger has of a time from which nothing is computed any more. Errors: the store's, ctx's.
func (f *Floor) Sweep(ctx context.Context) error {
	now := f.now()
	if err := f.prune(ctx, now); err != nil {
		return fmt.Errorf("forget what happened at stations long ago: %w", err)
	}
	if _, err := onceAges.Sweep(ctx, f.cfg.Store, kv.Sweeper[onceAge]{
		Keep:   func(k onceAge) bool { return int64(k.A) >= now-keptOnce },
		Next:   func(onceAge) onceAge { return ageKey(math.MaxInt64, keyKey{}) },
		Remove: func(tx *kv.Tx, k onceAge) error { return forgetOnce(tx, k.B) },
	}); err != nil {
		return fmt.Errorf("forget old requests: %w", err)
	}
	if _, err := refusalAges.Sweep(ctx, f.cfg.Store, kv.Sweeper[refusalKey]{
		Keep:   func(k refusalKey) bool { return int64(k.B.A) >= now-keptRefused },
		Next:   func(k refusalKey) refusalKey { return refusalAge(math.MaxInt64, keyKey{A: k.A}) },
		Remove: func(tx *kv.Tx, k refusalKey) error { return unrefuse(tx, keyKey{A: k.A, B: k.B.B}) },
	}); err != nil {
		return fmt.Errorf("forget requests that were refused: %w", err)
	}
	return nil
}

// checkOnce reads what came with idempotency keys and reports what does not agree.
func checkOnce(tx *kv.Tx, known map[string]bool, report func(problem string)) {
	count := 0
	for item, err := range onces.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("a request that was done: %v", err))
			return
		}
		count++
		if !known[item.Key.A] {
			report(fmt.Sprintf("a request that was done is of the account %q, which is not there", item.Key.A))
		}
		if !onceAges.Has(tx, ageKey(item.Value.At, item.Key)) {
			report("a request that was done has no place in the order of age")
		}
	}
	if n := onceAges.Count(tx); n != count {
		report(fmt.Sprintf("%d places in the order of age for %d requests that were done", n, count))
	}
	count = 0
	for item, err := range refusals.Scan(tx, kv.Range{}) {
		if err != nil {
			report(fmt.Sprintf("a request that was refused: %v", err))
			return
		}
		count++
		if !known[item.Key.A] {
			report(fmt.Sprintf("a request that was refused is of the account %q, which is not there", item.Key.A))
		}
		if !refusalAges.Has(tx, refusalAge(item.Value.LastAt, item.Key)) {
			report("a request that was refused has no place in the order of age")
		}
	}
	if n := refusalAges.Count(tx); n != count {
		report(fmt.Sprintf("%d places in the order of age for %d requests that were refused", n, count))
	}
}

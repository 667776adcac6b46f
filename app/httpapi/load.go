package httpapi

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"opsmon/app/auth"
	"opsmon/app/engine/report"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// A decoded body can take fifty times its size in memory, and anybody on the network can send one. So what is
// worked on at once is bounded, each kind by its own bound so that none starves another:
//
//   - bodies up to freeBody bytes pass: the limit on connections bounds them;
//   - those up to bodyLimit share bodyBudget bytes, from before they are read to the end of the request;
//   - larger ones are manifests and batches of signals, from people who may change the configuration and from devices:
//     uploads in all, uploadsEach of one of them;
//   - of all manifests that have arrived, slots at once are checked and applied;
//   - of the long reads, of many stations or days, longReads at once are made, of one account longOfAccount and of one
//     caller longEach, for longWork each. What a slow client takes is made while it takes it. When the last one has ended,
//     memory that it took is given back to the system.
//
// The machine's own administrator has a slot apart and waits for nobody on the network.
const (
	freeBody    = 8 << 10
	bodyBudget  = 8 << 20
	uploads     = 8
	uploadsEach = 2
	slots       = 2
	slotWait    = 30 * time.Second
	budgetWait  = 5 * time.Second

	longReads     = 4
	longOfAccount = 3
	longEach      = 2
	longWait      = 15 * time.Second
	longWork      = 2 * time.Minute // from the slot to what the answer is made of
	longAnswer    = time.Minute     // more, to send it
	longDetail    = 200             // days of stations, from which on a read of what happened in them is a long one
	longSums      = 20_000          // the same of a read of their sums
)

// load is what the API works on now.
type load struct {
	bodies       *semaphore.Weighted // in bytes
	slots, local *semaphore.Weighted

	mu      sync.Mutex
	uploads int
	from    map[string]int // uploads by the e-mail address or the credential of who sends them

	long   *semaphore.Weighted
	longBy map[longKey]*longOf
	memory giveBack
}

// longKey names an account, or a caller in it, whose long reads are counted together.
type longKey struct{ account, caller string }

// longOf are the long reads of one account or caller.
type longOf struct {
	slots *semaphore.Weighted
	users int // who have a slot, or wait for one
}

// share returns the slots of an account or caller, and a function that ends their use.
func (l *load) share(k longKey, slots int64) (*semaphore.Weighted, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.longBy[k]
	if of == nil {
		of = &longOf{slots: semaphore.NewWeighted(slots)}
		l.longBy[k] = of
	}
	of.users++
	return of.slots, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if of.users--; of.users == 0 {
			delete(l.longBy, k)
		}
	}
}

func newLoad() *load {
	return &load{
		bodies: semaphore.NewWeighted(bodyBudget), slots: semaphore.NewWeighted(slots), local: semaphore.NewWeighted(1),
		from: map[string]int{}, long: semaphore.NewWeighted(longReads), longBy: map[longKey]*longOf{},
	}
}

// later notes what is to be given back when the handler has returned.
func (c *call) later(release func()) { c.releases = append(c.releases, release) }

func (c *call) letGo() {
	for _, release := range c.releases {
		release()
	}
}

// admit lets a body in that is about to be read, or refuses it for now.
func (c *call) admit(limit int64) error {
	if c.p.Type == auth.TypeLocal {
		return nil
	}
	size := c.r.ContentLength
	if size < 0 || size > limit {
		size = limit
	}
	if size > bodyLimit {
		return c.admitUpload()
	}
	if size <= freeBody {
		return nil
	}
	if err := wait(c.r.Context(), c.api.load.bodies, size, budgetWait); err != nil {
		return err
	}
	c.later(func() { c.api.load.bodies.Release(size) })
	return nil
}

// caller names who asks: a person, or a credential of nobody, such as a device or a tablet.
func (c *call) caller() string {
	if c.p.Email != "" {
		return c.p.Email
	}
	return c.p.Actor().Credential
}

// long waits for a slot for a read that is long by the days of stations that it is about, for as long as the client does; the
// slot ends with the answer.
func (c *call) long(x *report.Selection, from int64) error {
	days := int64(0)
	for i := range x.Stations {
		days += (x.Stations[i].End-x.Stations[i].From)/instant.DayMs + 1
	}
	if days <= from {
		return nil
	}
	return c.slot()
}

// slot waits for a slot for a long read, and bounds the time for it; the machine's own administrator has it at once.
func (c *call) slot() error {
	if c.p.Type == auth.TypeLocal {
		return nil
	}
	l := c.api.load
	mine, left := l.share(longKey{c.p.AccountID, c.caller()}, longEach)
	c.later(left)
	account, left := l.share(longKey{account: c.p.AccountID}, longOfAccount)
	c.later(left)
	for _, slots := range []*semaphore.Weighted{mine, account, l.long} {
		if err := wait(c.r.Context(), slots, 1, longWait); err != nil {
			return err
		}
		c.later(func() { slots.Release(1) })
	}
	l.memory.begin()
	c.later(l.memory.end)
	ctx, cancel := context.WithTimeout(c.r.Context(), longWork)
	c.r = c.r.WithContext(ctx)
	c.later(cancel)
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(longWork + longAnswer)) // a connection that cannot take one has none to exceed
	return nil
}

// errGone ends the work for a client that has gone. Nobody reads it.
var errGone = errdefs.New(errdefs.Unavailable, "the client has gone")

// ended returns the error of work for a request. Where that was to end, because the client has gone or the time for it is
// over, it says so.
func ended(ctx context.Context, err error) error {
	switch {
	case ctx.Err() == nil:
	case errors.Is(err, context.DeadlineExceeded):
		return errdefs.New(errdefs.Unavailable, "this takes longer than %s; ask for a shorter time, or for fewer stations", longWork)
	case errors.Is(err, context.Canceled):
		return errGone
	}
	return err
}

func (c *call) admitUpload() error {
	l, from := c.api.load, c.caller()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.uploads >= uploads || l.from[from] >= uploadsEach {
		return errdefs.New(errdefs.Unavailable, "other large bodies are being uploaded; try again in a moment")
	}
	l.uploads++
	l.from[from]++
	c.later(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.uploads--
		if l.from[from]--; l.from[from] == 0 {
			delete(l.from, from)
		}
	})
	return nil
}

// takeSlot waits for a slot to work on a manifest, for as long as the client does. It is called when the body is
// there: whoever sends slowly holds up nobody.
func (c *call) takeSlot() error {
	slots := c.api.load.slots
	if c.p.Type == auth.TypeLocal {
		slots = c.api.load.local
	}
	if err := wait(c.r.Context(), slots, 1, slotWait); err != nil {
		return err
	}
	c.later(func() { slots.Release(1) })
	return nil
}

func wait(ctx context.Context, s *semaphore.Weighted, n int64, most time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if s.Acquire(waiting, n) != nil {
		if err := ctx.Err(); err != nil {
			return ended(ctx, err)
		}
		return errdefs.New(errdefs.Unavailable, "the service is busy with other large requests; try again in a moment")
	}
	return nil
}

package rest

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

// A decoded body can need fifty times its size in memory, and anybody on the network can send one. Concurrent work is
// therefore limited, with a separate limit for each kind so that none starves another:
//
//   - bodies up to freeBody bytes are only limited by the number of connections;
//   - those up to BodyLimit share bodyBudget bytes, from before they are read to the end of the request;
//   - larger ones are manifests and batches of signals, from people who may change the configuration and from devices:
//     uploads in total, uploadsEach of one sender;
//   - of the manifests that have arrived, slots are checked and applied at once;
//   - of long reads, of many stations or days, longReads run at once, longOfAccount of one account and longEach of one
//     caller, for longWork each. A long answer is generated while it is sent. After the last one, their memory is
//     returned to the system.
//
// The local command line has its own slot and never waits for clients on the network.
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
	longWork      = 2 * time.Minute // from getting the slot to having the data of the answer
	longAnswer    = time.Minute     // additional time to send it
	LongDetail    = 200             // station days from which a read of minutes is a long one
	LongSums      = 20_000          // station days from which a read of sums is a long one
)

// load is the API's current load.
type load struct {
	bodies       *semaphore.Weighted // in bytes
	slots, local *semaphore.Weighted

	mu      sync.Mutex
	uploads int
	from    map[string]int // uploads by the sender's e-mail address or credential

	long   *semaphore.Weighted
	longBy map[longKey]*longOf
	memory giveBack
}

// longKey identifies an account, or a caller in it, whose long reads are counted together.
type longKey struct{ account, caller string }

// longOf has the long reads of one account or caller.
type longOf struct {
	slots *semaphore.Weighted
	users int // callers with a slot or waiting for one
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

// Defer registers a function to call when the handler has returned.
func (c *Call) Defer(release func()) { c.releases = append(c.releases, release) }

func (c *Call) letGo() {
	for _, release := range c.releases {
		release()
	}
}

// admit reserves capacity for a body before it is read, or refuses it for now.
func (c *Call) admit(limit int64) error {
	if c.Principal.Type == auth.TypeLocal {
		return nil
	}
	size := c.Request.ContentLength
	if size < 0 || size > limit {
		size = limit
	}
	if size > BodyLimit {
		return c.admitUpload()
	}
	if size <= freeBody {
		return nil
	}
	if err := wait(c.Request.Context(), c.api.load.bodies, size, budgetWait); err != nil {
		return err
	}
	c.Defer(func() { c.api.load.bodies.Release(size) })
	return nil
}

// Caller identifies the caller: a person, or a credential without a person, such as a device or a tablet.
func (c *Call) Caller() string {
	if c.Principal.Email != "" {
		return c.Principal.Email
	}
	return c.Principal.Actor().Credential
}

// WaitIfLong waits for a slot if a read is long by its station days, until the client disconnects. The slot is released
// after the answer.
func (c *Call) WaitIfLong(x *report.Selection, from int64) error {
	days := int64(0)
	for i := range x.Stations {
		days += (x.Stations[i].End-x.Stations[i].From)/instant.DayMs + 1
	}
	if days <= from {
		return nil
	}
	return c.WaitLong()
}

// WaitLong waits for a slot for a long read and limits its time. The local command line gets it at once.
func (c *Call) WaitLong() error {
	if c.Principal.Type == auth.TypeLocal {
		return nil
	}
	l := c.api.load
	mine, left := l.share(longKey{c.Principal.AccountID, c.Caller()}, longEach)
	c.Defer(left)
	account, left := l.share(longKey{account: c.Principal.AccountID}, longOfAccount)
	c.Defer(left)
	for _, slots := range []*semaphore.Weighted{mine, account, l.long} {
		if err := wait(c.Request.Context(), slots, 1, longWait); err != nil {
			return err
		}
		c.Defer(func() { slots.Release(1) })
	}
	l.memory.begin()
	c.Defer(l.memory.end)
	ctx, cancel := context.WithTimeout(c.Request.Context(), longWork)
	c.Request = c.Request.WithContext(ctx)
	c.Defer(cancel)
	// a connection without deadlines needs none
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(longWork + longAnswer))
	return nil
}

// errGone ends the work for a client that has disconnected. Nobody reads it.
var errGone = errdefs.New(errdefs.Unavailable, "the client has gone")

// ended returns the error of work for a request. If the work was cancelled because the client disconnected or the time
// was over, it returns that reason.
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

func (c *Call) admitUpload() error {
	l, from := c.api.load, c.Caller()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.uploads >= uploads || l.from[from] >= uploadsEach {
		return errdefs.New(errdefs.Unavailable, "other large bodies are being uploaded; try again in a moment")
	}
	l.uploads++
	l.from[from]++
	c.Defer(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.uploads--
		if l.from[from]--; l.from[from] == 0 {
			delete(l.from, from)
		}
	})
	return nil
}

// WaitManifest waits for a slot to process a manifest, until the client disconnects. It is called after the body has
// arrived, so slow senders block nobody.
func (c *Call) WaitManifest() error {
	slots := c.api.load.slots
	if c.Principal.Type == auth.TypeLocal {
		slots = c.api.load.local
	}
	if err := wait(c.Request.Context(), slots, 1, slotWait); err != nil {
		return err
	}
	c.Defer(func() { slots.Release(1) })
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

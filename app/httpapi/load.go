package httpapi

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"opsmon/app/auth"
	"opsmon/app/errdefs"
)

// A decoded body can take fifty times its size in memory, and anybody on the network can send one. So what is
// worked on at once is bounded, each kind by its own bound so that none starves another:
//
//   - bodies up to freeBody bytes pass: the limit on connections bounds them;
//   - those up to bodyLimit share bodyBudget bytes, from before they are read to the end of the request;
//   - larger ones are manifests and batches of signals, from people who may change the configuration and from devices:
//     uploads in all, uploadsEach of one of them;
//   - of all manifests that have arrived, turns at once are checked and applied.
//
// The machine's own administrator has a turn apart and waits for nobody on the network.
const (
	freeBody    = 8 << 10
	bodyBudget  = 8 << 20
	uploads     = 8
	uploadsEach = 2
	turns       = 2
	turnWait    = 30 * time.Second
	budgetWait  = 5 * time.Second
)

// load is what the API works on now.
type load struct {
	bodies       *semaphore.Weighted // in bytes
	turns, local *semaphore.Weighted

	mu      sync.Mutex
	uploads int
	from    map[string]int // uploads by the e-mail address or the credential of who sends them
}

func newLoad() *load {
	return &load{
		bodies: semaphore.NewWeighted(bodyBudget), turns: semaphore.NewWeighted(turns), local: semaphore.NewWeighted(1),
		from: map[string]int{},
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

func (c *call) admitUpload() error {
	l, from := c.api.load, c.p.Email
	if from == "" {
		from = c.p.Actor().Credential // a device: each counts by itself
	}
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

// takeTurn waits for a turn to work on a manifest, for as long as the client does. It is called when the body is
// there: whoever sends slowly holds up nobody.
func (c *call) takeTurn() error {
	turns := c.api.load.turns
	if c.p.Type == auth.TypeLocal {
		turns = c.api.load.local
	}
	if err := wait(c.r.Context(), turns, 1, turnWait); err != nil {
		return err
	}
	c.later(func() { turns.Release(1) })
	return nil
}

func wait(ctx context.Context, s *semaphore.Weighted, n int64, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if s.Acquire(ctx, n) != nil {
		return errdefs.New(errdefs.Unavailable, "the service is busy with other large requests; try again in a moment")
	}
	return nil
}

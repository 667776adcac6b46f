package app

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// linkPause is how long a device is still taken to be connected when its connection has ended: one that connects again at
// once was never away, and one that does so all the time costs few records.
const linkPause = 10 * time.Second

// linkRetry is when what could not be recorded is tried again.
const linkRetry = time.Minute

// linkTeller tells the floor which devices have a live connection. The broker must not wait, and the floor writes.
type linkTeller struct {
	tell func(account, source string, stations []string, up bool) error
	log  *slog.Logger

	mu      sync.Mutex
	pending map[string]link // by source
	told    map[string]bool // those that were told to be there
	wake    chan struct{}
}

// link is what is to be told of a device.
type link struct {
	account  string
	stations []string
	up       bool
	due      time.Time
}

func newLinkTeller(tell func(account, source string, stations []string, up bool) error, log *slog.Logger) *linkTeller {
	return &linkTeller{tell: tell, log: log, pending: map[string]link{}, told: map[string]bool{}, wake: make(chan struct{}, 1)}
}

// note is told by the broker. It does not wait.
func (t *linkTeller) note(account, source string, stations []string, _ int64, up bool) {
	due := time.Now()
	if !up {
		due = due.Add(linkPause)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told[source] == up {
		delete(t.pending, source)
		return
	}
	t.pending[source] = link{account, stations, up, due}
	select {
	case t.wake <- struct{}{}:
	default: // it will see it
	}
}

// run tells until ctx ends.
func (t *linkTeller) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(time.Until(t.due(time.Now())))
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		case <-timer.C:
		}
	}
}

// due tells what is due at a moment, and gives when something is the next time.
func (t *linkTeller) due(now time.Time) (next time.Time) {
	next = now.Add(time.Hour)
	ready := map[string]link{}
	t.mu.Lock()
	for source, l := range t.pending {
		if !l.due.After(now) {
			ready[source] = l
			delete(t.pending, source)
			t.told[source] = l.up
			if !l.up {
				delete(t.told, source)
			}
		} else if l.due.Before(next) {
			next = l.due
		}
	}
	t.mu.Unlock()
	for source, l := range ready {
		err := t.tell(l.account, source, l.stations, l.up)
		if err == nil {
			continue
		}
		t.log.Warn("whether a device is connected could not be recorded; it is tried again", slog.String("device", source), slog.Any("error", err))
		t.mu.Lock()
		if _, newer := t.pending[source]; !newer {
			l.due = now.Add(linkRetry)
			t.pending[source] = l
			if l.due.Before(next) {
				next = l.due
			}
		}
		t.mu.Unlock()
	}
	return next
}

// flush tells everything now, when the service ends.
func (t *linkTeller) flush() { t.due(time.Now().Add(linkPause)) }

// Package event tells those who watch a plant what has just changed (monitoring.md section 8). A Hub keeps the last
// events of each account, so that a watcher whose connection broke goes on where it was. Events say what is new; whoever
// wants all of it asks the API. Nothing here is stored, and nobody is waited for.
package event

import (
	"encoding/json"
	"sort"
	"sync"
)

// Type says what an Event is about.
type Type string

// The types.
const (
	Station  Type = "station"  // what a station does, its counts and speed
	Issue    Type = "issue"    // a stop or slow period began, changed or ended
	Schedule Type = "schedule" // a schedule was made, changed, moved on or removed
	Task     Type = "task"     // a task fell due, was completed or missed
	Message  Type = "message"  // somebody left one for the next shift, or it is done
	Account  Type = "account"  // the configuration has a new revision
)

// Event is one change. It must not be changed once it is published.
type Event struct {
	Sequence uint64 // across all accounts, growing; given by Publish
	At       int64  // Unix ms
	Type     Type
	Station  string          // the station that it is about, "" for none
	Data     json.RawMessage // as the answers of the API carry it
}

// keep is how many events of an account a Hub remembers: minutes, in a plant of a hundred stations.
const keep = 4096

// Hub hands events on. The zero value is ready for use; all methods may be called from any goroutine.
type Hub struct {
	mu       sync.Mutex
	sequence uint64
	start    uint64
	accounts map[string]*ring
}

// ring holds an account's last events; that with sequence s of the ring's own count stands at s % keep.
type ring struct {
	events []Event
	count  uint64 // of all that there ever were
	gone   uint64 // sequence number up to which events are not remembered

	followers map[*Follower]struct{}
}

// Follower is woken when something happens that may be for it: a tablet that follows one station of many sleeps on.
type Follower struct {
	news     chan struct{}   // holds one while there is something
	stations map[string]bool // nil: all
}

// News has something to take when there may be more events than when it was last taken.
func (f *Follower) News() <-chan struct{} { return f.news }

// wake passes an event on. A new configuration may concern any station.
func (f *Follower) wake(e *Event) {
	if f.stations != nil && !f.stations[e.Station] && e.Type != Account {
		return
	}
	select {
	case f.news <- struct{}{}:
	default: // it is awake
	}
}

// NewHub makes a Hub whose sequence starts after a number, such as the milliseconds of the moment, so that numbers of an
// earlier Hub are below those of a later one and a watcher who comes with one is found to have missed something.
func NewHub(after uint64) *Hub { return &Hub{sequence: after, start: after} }

func (h *Hub) ring(account string) *ring {
	r := h.accounts[account]
	if r == nil {
		if h.accounts == nil {
			h.accounts = map[string]*ring{}
		}
		r = &ring{gone: h.start, followers: map[*Follower]struct{}{}}
		h.accounts[account] = r
	}
	return r
}

// Publish hands an event to those who watch the account.
func (h *Hub) Publish(account string, e Event) { h.Tell(account, func(uint64) Event { return e }) }

// Tell is Publish for an event whose data carry its sequence number, which it gives. of must be quick.
func (h *Hub) Tell(account string, of func(sequence uint64) Event) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sequence++
	e := of(h.sequence)
	e.Sequence = h.sequence
	r := h.ring(account)
	if len(r.events) < keep {
		r.events = append(r.events, e)
	} else {
		r.gone = r.events[r.count%keep].Sequence
		r.events[r.count%keep] = e
	}
	r.count++
	for f := range r.followers {
		f.wake(&e)
	}
	return e.Sequence
}

// Follow has somebody woken by an account's events: those about the stations given and new configurations, or nil = all. They
// are read with Since. The caller calls Unfollow in the end.
func (h *Hub) Follow(account string, stationCodes []string) *Follower {
	f := &Follower{news: make(chan struct{}, 1)}
	if stationCodes != nil {
		f.stations = make(map[string]bool, len(stationCodes))
		for _, code := range stationCodes {
			f.stations[code] = true
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ring(account).followers[f] = struct{}{}
	return f
}

// Unfollow ends what Follow began.
func (h *Hub) Unfollow(account string, f *Follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ring(account).followers, f)
}

// Quiet returns the number up to which a follower has missed nothing: the latest of all, when nothing has come for it that it has
// not taken; ok is false when something has.
func (h *Hub) Quiet(f *Follower) (sequence uint64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sequence, len(f.news) == 0
}

// Last returns the sequence number of the latest event of any account.
func (h *Hub) Last() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sequence
}

// Since returns the account's events after a sequence number, oldest first, at most the last few thousand. missed tells
// that some after it are not remembered any more.
func (h *Hub) Since(account string, after uint64) (list []Event, missed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.ring(account)
	n := uint64(sort.Search(len(r.events), func(i int) bool { return r.events[(r.count-1-uint64(i))%keep].Sequence <= after })) // from the newest back
	if n > 0 {
		list = make([]Event, 0, n)
	}
	for i := r.count - n; i < r.count; i++ {
		list = append(list, r.events[i%keep])
	}
	return list, after < r.gone
}

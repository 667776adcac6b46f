// Package event distributes changes of a plant to subscribers (monitoring.md section 8). A Hub retains the latest
// events of each account, so a subscriber can resume after a lost connection. Events contain only what changed; the
// API returns the complete state. Nothing is stored, and publishing never blocks.
package event

import (
	"encoding/json"
	"sort"
	"sync"
)

// Type is the subject of an Event.
type Type string

// The types.
const (
	Station  Type = "station"  // status, counts or speed of a station
	Issue    Type = "issue"    // a stop or slow period began, changed or ended
	Schedule Type = "schedule" // a schedule was created, changed, started, ended or removed
	Task     Type = "task"     // a task fell due, or was completed or missed
	Message  Type = "message"  // a message for the next shift was left or done
	Account  Type = "account"  // the configuration has a new revision
)

// Event is one change. It must not be changed once it is published.
type Event struct { // across all accounts, increasing; set by Publish
	Sequence uint64 // across all accounts, growing; given by Publish
	At       int64  // Unix ms
	Type     Type
	Station  string          // the station concerned, "" if none
	Data     json.RawMessage // in the format of API answers
}

// keep is the number of events of an account that a Hub retains: several minutes in a plant of a hundred stations.
const keep = 4096

// Hub distributes events. The zero value is ready for use; all methods may be called concurrently.
type Hub struct {
	mu       sync.Mutex
	sequence uint64
	start    uint64
	accounts map[string]*ring
}

// ring has an account's latest events; event number s of the ring is at index s % keep.
type ring struct {
	events []Event
	count  uint64 // number of events ever published
	gone   uint64 // sequence number up to which events are no longer retained

	followers map[*Follower]struct{}
}

// Follower is notified of events. A follower of some stations is not notified of the others.
type Follower struct {
	news     chan struct{}   // has one element while there are new events
	stations map[string]bool // nil: all
}

// News returns a channel that receives when there may be new events since the last receive.
func (f *Follower) News() <-chan struct{} { return f.news }

// wake notifies the follower of an event. A new configuration may concern any station.
func (f *Follower) wake(e *Event) {
	if f.stations != nil && !f.stations[e.Station] && e.Type != Account {
		return
	}
	select {
	case f.news <- struct{}{}:
	default: // already notified
	}
}

// NewHub returns a Hub whose sequence starts after a number, such as the current time in milliseconds. Numbers of an
// earlier Hub are then lower, so a subscriber that resumes with one is informed that it missed events.
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

// Publish sends an event to the account's followers.
func (h *Hub) Publish(account string, e Event) {
	h.PublishNumbered(account, func(uint64) Event { return e })
}

// PublishNumbered is Publish for an event whose data contain its sequence number, which it returns. of must be fast.
func (h *Hub) PublishNumbered(account string, of func(sequence uint64) Event) uint64 {
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

// Follow subscribes to an account's events: those of the given stations (nil = all) and new configurations. Since
// returns the events. The caller must call Unfollow.
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

// Unfollow ends a subscription.
func (h *Hub) Unfollow(account string, f *Follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ring(account).followers, f)
}

// Quiet returns the latest sequence number if the follower has no unread notification, and therefore has missed
// nothing; otherwise ok is false.
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

// Since returns the account's events after a sequence number, oldest first, at most the last few thousand. missed
// reports whether some later ones are no longer retained.
func (h *Hub) Since(account string, after uint64) (list []Event, missed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.ring(account)
	// searches from the newest
	n := uint64(sort.Search(len(r.events), func(i int) bool { return r.events[(r.count-1-uint64(i))%keep].Sequence <= after }))
	if n > 0 {
		list = make([]Event, 0, n)
	}
	for i := r.count - n; i < r.count; i++ {
		list = append(list, r.events[i%keep])
	}
	return list, after < r.gone
}

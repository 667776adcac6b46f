package signal

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// MaxBatch is how many signals one request may carry.
const MaxBatch = 10_000

// aheadLimit is how far in the future a signal's time may be and still be believed (monitoring.md section 2).
const aheadLimit = 2 * time.Minute

// Sender is who sends signals.
type Sender struct {
	Account  string
	Source   string                 // the credential: "device:<id>", "key:<id>"
	Stations []string               // those that it may send for; nil = every station of the account
	Known    func(code string) bool // whether the account has a station of that code
}

// Outcome says of one signal whether it was taken.
type Outcome struct {
	Index    int    `json:"index"`    // in what was sent
	Accepted bool   `json:"accepted"` // it counts; one whose id came before does, once
	Issue    string `json:"issue"`    // why not, or what was done to it; "" when there is nothing to say
}

// Seen is what is known of a sender since the service started.
type Seen struct {
	LastAt   int64 // when it last sent, ms
	Accepted uint64
	Refused  uint64
	AheadMs  int64 // by how much its clock was ahead when it last sent; 0 when it was not noticeably
}

type senders struct {
	mu   sync.Mutex
	seen map[string]Seen // by source
}

// Seen tells what is known of a sender.
func (l *Log) Seen(source string) Seen {
	l.senders.mu.Lock()
	defer l.senders.mu.Unlock()
	return l.senders.seen[source]
}

func (l *Log) noteSender(source string, now int64, accepted, refused int, ahead int64) {
	l.senders.mu.Lock()
	defer l.senders.mu.Unlock()
	s := l.senders.seen[source]
	s.LastAt, s.AheadMs = now, ahead
	s.Accepted += uint64(accepted)
	s.Refused += uint64(refused)
	l.senders.seen[source] = s
}

// Take stores the signals among what a sender sent, decoded as strictjson does, and says of each what became of it. What
// cannot be taken does no harm to the rest. What is accepted is on the disk. Errors: the store's; then nothing was taken.
func (l *Log) Take(from Sender, objects []any, style Style) ([]Outcome, error) {
	now := l.cfg.Clock().UnixMilli()
	outcomes := make([]Outcome, len(objects))
	list := make([]Signal, 0, len(objects))
	places := make([]int, 0, len(objects)) // in objects, of each in list
	var furthest int64
	for i, v := range objects {
		outcomes[i].Index = i
		s, ahead, issue := l.read(from, v, style, now)
		if furthest = max(furthest, ahead); issue != "" {
			outcomes[i].Issue = issue
			continue
		}
		if s.ClockCorrected {
			outcomes[i].Issue = fmt.Sprintf("at is %d seconds in the future: a clock is wrong; it was taken at its arrival", ahead/1000)
		}
		outcomes[i].Accepted = true
		list, places = append(list, s), append(places, i)
	}
	duplicate, err := l.Append(list)
	if err != nil {
		return nil, err
	}
	for i, twice := range duplicate {
		if twice {
			outcomes[places[i]].Issue = "the id came before; the signal counts once"
		}
	}
	l.noteSender(from.Source, now, len(list), len(objects)-len(list), furthest)
	return outcomes, nil
}

// read makes a signal of what a sender sent. ahead is by how many ms its time is in the future.
func (l *Log) read(from Sender, v any, style Style, now int64) (s Signal, ahead int64, issue string) {
	object, ok := v.(map[string]any)
	if !ok {
		return s, 0, "must be an object"
	}
	if s, issue = Read(object, style); issue != "" {
		return s, 0, issue
	}
	s.Account, s.Source, s.Arrived = from.Account, from.Source, now
	switch {
	case s.Station == "":
		return s, 0, "stationCode must be given"
	case from.Stations != nil && !slices.Contains(from.Stations, s.Station):
		return s, 0, fmt.Sprintf("stationCode names the station %q, which is not one of this device's", shorten(s.Station))
	case !from.Known(s.Station):
		return s, 0, fmt.Sprintf("stationCode names the station %q, which the account does not have", shorten(s.Station))
	}
	switch oldest := now - l.cfg.Retention.Milliseconds(); {
	case s.At == 0:
		s.At = now
	case s.At > now:
		if ahead = s.At - now; ahead > aheadLimit.Milliseconds() {
			s.At, s.ClockCorrected = now, true
		}
	case s.At < oldest:
		return s, 0, fmt.Sprintf("at is older than the %d days that signals are kept", int(l.cfg.Retention.Hours()/24))
	}
	return s, ahead, ""
}

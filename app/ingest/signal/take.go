package signal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"opsmon/app/errdefs"
)

// MaxBatch is the maximum number of signals in one request.
const MaxBatch = 10_000

// aheadLimit is how far in the future a signal's time is accepted (monitoring.md section 2).
const aheadLimit = 2 * time.Minute

// Sender is a sender of signals.
type Sender struct {
	Account string
	Source  string                 // the credential: "device:<id>", "key:<id>"
	Mine    func(code string) bool // whether it may send for a station; nil = for every station of the account
	Known   func(code string) bool // whether a station exists in the account
}

// Outcome is the outcome of one signal.
//
//openapi:schema SignalOutcome
type Outcome struct {
	Index int `json:"index" schema:"min=0"` // position in the request, from 0
	// Whether it was accepted. A repeated id is accepted and counts once.
	Accepted bool `json:"accepted"`
	// Why it was rejected, or how it was changed; empty otherwise.
	Issue string `json:"issue"`
	Cause Cause  `json:"-"` // why not, for metrics
}

// Parcel is one transmission of a sender: objects decoded by strictjson, or *Signal values decoded by Quick.
type Parcel struct {
	From    Sender
	Objects []any
	Style   Style
}

// machineFields are the fields that an energy meter does not have.
const machineFields = 1<<ProductionCompleteGood | 1<<ProductionCompleteBad | 1<<ProductionCountGood | 1<<ProductionCountBad | 1<<Productive | 1<<LineSpeed

// summary is the outcome of a parcel.
type summary struct {
	accepted, refused, repeated, corrected int
	ahead                                  int64 // how far the latest of its times was in the future, ms
	timed                                  bool  // at least one signal had a time
	issue                                  string
	causes                                 map[Cause]int
}

// Take stores the valid signals among a sender's objects and returns the outcome of each. Invalid ones do not affect
// the others. Accepted signals are durable. Errors are those of the store, after which nothing was stored.
func (l *Log) Take(from Sender, objects []any, style Style) ([]Outcome, error) {
	outcomes, err := l.TakeAll([]Parcel{{from, objects, style}})
	if err != nil {
		return nil, err
	}
	return outcomes[0], nil
}

// TakeAll is Take for several senders: it stores all accepted signals with one sync.
func (l *Log) TakeAll(parcels []Parcel) ([][]Outcome, error) {
	total := 0
	for i := range parcels {
		total += len(parcels[i].Objects)
	}
	t := taking{now: l.cfg.Clock().UnixMilli(), list: make([]Signal, 0, total), told: make([]told, 0, total)}
	all, sums := make([][]Outcome, len(parcels)), make([]summary, len(parcels))
	for n := range parcels {
		all[n] = l.takeParcel(&t, &parcels[n], &sums[n])
	}
	if len(t.list) < total-total/4 {
		// the list remains in the tail; it must not pin the memory for many refused signals
		t.list = slices.Clone(t.list)
	}
	duplicate, err := l.keep(t.list)
	if err != nil {
		return nil, err
	}
	l.crowds.add(t.list, duplicate, t.now)
	for i, twice := range duplicate {
		if twice {
			t.told[i].outcome.Issue = "the id came before; the signal counts once"
			t.told[i].sum.repeated++
		}
	}
	for n := range parcels {
		l.noteSender(&parcels[n].From, t.now, &sums[n])
	}
	return all, nil
}

// taking is a call of TakeAll in progress: the accepted signals, and for each of them its outcome.
type taking struct {
	now  int64 // ms
	list []Signal
	told []told
}

type told struct {
	outcome *Outcome
	sum     *summary
}

// takeParcel decodes a sender's objects and sets the outcome of each; duplicates are not known yet.
func (l *Log) takeParcel(t *taking, p *Parcel, sum *summary) []Outcome {
	outcomes := make([]Outcome, len(p.Objects))
	for i, v := range p.Objects {
		out := &outcomes[i]
		out.Index = i
		t.list = append(t.list, Signal{})
		s := &t.list[len(t.list)-1]
		ahead, refusal := l.read(&p.From, v, p.Style, t.now, s)
		if refusal.issue != "" {
			t.list = t.list[:len(t.list)-1]
			out.Issue, out.Cause = refusal.issue, refusal.cause
			sum.refuse(out)
			continue
		}
		sum.ahead = max(sum.ahead, ahead)
		sum.timed = sum.timed || s.At != t.now || s.ClockCorrected
		if s.ClockCorrected {
			out.Issue = fmt.Sprintf("at is %d seconds in the future: a clock is wrong; it was taken at its arrival", ahead/1000)
			sum.corrected++
		}
		if s.Mask&machineFields != 0 && l.cfg.Meter != nil && l.cfg.Meter(s.Account, s.Station) {
			out.Issue = strings.TrimPrefix(out.Issue+fmt.Sprintf("; the station %q is an energy meter, of which only electrical values count", errdefs.Shorten(s.Station)), "; ")
		}
		out.Accepted = true
		sum.accepted++
		t.told = append(t.told, told{out, sum})
	}
	return outcomes
}

func (s *summary) refuse(out *Outcome) {
	s.refused++
	s.issue = out.Issue
	if s.causes == nil {
		s.causes = map[Cause]int{}
	}
	s.causes[out.Cause]++
}

// refusal is the reason why a signal was refused; its issue is "" if it was accepted.
type refusal struct {
	cause Cause
	issue string
}

func refuse(cause Cause, format string, args ...any) refusal {
	return refusal{cause, fmt.Sprintf(format, args...)}
}

// read decodes an object of a sender into s. ahead is how far its time is in the future, ms.
func (l *Log) read(from *Sender, v any, style Style, now int64, s *Signal) (ahead int64, no refusal) {
	switch v := v.(type) {
	case *Signal:
		*s = *v
	case map[string]any:
		issue := ""
		if *s, issue = Read(v, style); issue != "" {
			return 0, refusal{CauseValue, issue}
		}
	default:
		return 0, refuse(CauseMalformed, "must be an object")
	}
	s.Account, s.Source, s.Arrived = from.Account, from.Source, now
	switch {
	case s.Station == "":
		return 0, refuse(CauseStation, "stationCode must be given")
	case from.Mine != nil && !from.Mine(s.Station):
		return 0, refuse(CauseForeign, "stationCode names the station %q, which is not one of this device's", errdefs.Shorten(s.Station))
	case !from.Known(s.Station):
		return 0, refuse(CauseStation, "stationCode names the station %q, which the account does not have", errdefs.Shorten(s.Station))
	}
	switch oldest := now - l.cfg.Retention.Milliseconds(); {
	case s.At == 0:
		s.At = now
	case s.At > now:
		if ahead = s.At - now; ahead > aheadLimit.Milliseconds() {
			s.At, s.ClockCorrected = now, true
		}
	case s.At < oldest:
		return 0, refuse(CauseOld, "at is older than the %d days that signals are kept", int(l.cfg.Retention.Hours()/24))
	}
	if s.At < l.swept.Load() { // the clock was set back, or the retention was shorter
		return 0, refuse(CauseOld, "at is older than the retention of signals")
	}
	if l.crowds.isFull(s) {
		return 0, refuse(CauseCrowded, "at is a millisecond of which the station has %d signals already; no more of it are taken", maxPerMoment)
	}
	return ahead, refusal{}
}

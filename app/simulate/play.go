package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// PlayConfig has the settings of a Player.
type PlayConfig struct {
	Generator *Generator
	Send      Send
	Stations  []string          // nil: all
	From      int64             // start of the simulated time
	Until     int64             // end of the simulated time; 0: none
	Speed     float64           // simulated time per real time; 0: as fast as the service accepts it
	Batch     int               // largest number of signals in a request; 0: 2000
	Only      func(*Event) bool // filter of events; nil: all
	Step      int64             // longest simulated time whose signals are sent together, ms; 0: 15 minutes
	// Clock is called before events are sent, with the end of their simulated time, ms, to set the service's clock.
	// nil: no call.
	Clock    func(at int64)
	Patience time.Duration
	Report   func(Progress)   // called from time to time; nil: no call
	Trouble  func(why string) // called for refusals, once for each kind, and for waiting; nil: no call
}

// Progress is the progress of a Player.
type Progress struct {
	At       int64 // everything before it was sent
	Behind   int64 // ms of simulated time behind the requested speed
	Signals  int   // accepted signals
	Acts     int   // accepted actions of people
	Refused  int   // refused signals and actions
	Retried  int   // requests sent more than once
	Requests int
}

// Player plays a simulated plant to a service. It must be used once, from one goroutine.
type Player struct {
	cfg      PlayConfig
	client   client
	people   people
	progress Progress
	told     map[string]bool
	reported time.Time

	objects []byte // signals for the next request
	waiting int
}

// Limits of a step, in which events are generated and sent.
const (
	longestStep  = 15 * minute            // of simulated time
	shortestStep = 200 * time.Millisecond // of real time
	reportEvery  = 5 * time.Second
)

// NewPlayer returns a Player.
func NewPlayer(cfg PlayConfig) *Player {
	if cfg.Batch <= 0 {
		cfg.Batch = 2000
	}
	if cfg.Step <= 0 {
		cfg.Step = longestStep
	}
	p := &Player{cfg: cfg, told: map[string]bool{}}
	p.client = client{send: cfg.Send, patience: cfg.Patience, again: true, waiting: func(why string) { p.trouble("waiting: " + why) }}
	p.people = people{client: &p.client, seed: cfg.Generator.cfg.Seed, schedules: map[string]string{}}
	p.progress.At = cfg.From
	return p
}

// Progress returns the present progress.
func (p *Player) Progress() Progress {
	p.progress.Retried = p.client.retried
	return p.progress
}

// Play plays until the configured end or the end of ctx. Errors: ctx's, and that of a service that does not answer for
// longer than the patience or refuses the credential.
func (p *Player) Play(ctx context.Context) error {
	underway, err := p.cfg.Generator.Underway(p.cfg.Stations, p.cfg.From)
	if err == nil {
		err = p.deliver(ctx, underway)
	}
	if err != nil {
		return err
	}
	began := time.Now()
	p.reported = began
	for p.progress.At < p.until() {
		due, live := p.due(began)
		to := min(due, p.progress.At+p.cfg.Step)
		speed := max(1, p.cfg.Speed)
		if live {
			speed = 1
		}
		least := min(p.cfg.Step, max(second, int64(speed*float64(shortestStep.Milliseconds()))))
		if least = min(p.progress.At+least, p.until()); to < least {
			if err := sleep(ctx, time.Duration(float64(least-to)/speed*float64(time.Millisecond))); err != nil {
				return err
			}
			continue
		}
		events, err := p.cfg.Generator.Events(p.cfg.Stations, p.progress.At, to)
		if err != nil {
			return err
		}
		if p.cfg.Clock != nil {
			p.cfg.Clock(to)
		}
		if err := p.deliver(ctx, events); err != nil {
			return err
		}
		due, _ = p.due(began)
		p.progress.At, p.progress.Behind = to, due-to
		p.report(false)
	}
	return nil
}

// until returns the end of the simulation, ms; a moment in the far future if it has none.
func (p *Player) until() int64 {
	if p.cfg.Until == 0 {
		return math.MaxInt64
	}
	return p.cfg.Until
}

// due returns the moment of the simulated time up to which everything should have been sent by now. It is never in the
// future; live reports whether it is the present.
func (p *Player) due(began time.Time) (due int64, live bool) {
	now := time.Now().UnixMilli()
	due = now
	if p.cfg.Speed > 0 {
		due = min(now, p.cfg.From+int64(p.cfg.Speed*float64(time.Since(began).Milliseconds())))
	}
	return min(due, p.until()), due == now
}

func (p *Player) report(always bool) {
	if p.cfg.Report != nil && (always || time.Since(p.reported) >= reportEvery) {
		p.reported = time.Now()
		p.cfg.Report(p.Progress())
	}
}

// deliver sends events in their order: an action of people is sent after all earlier signals.
func (p *Player) deliver(ctx context.Context, events []Event) error {
	for i := range events {
		e := &events[i]
		if p.cfg.Only != nil && !p.cfg.Only(e) {
			continue
		}
		if e.Act == nil {
			if p.waiting > 0 {
				p.objects = append(p.objects, ',')
			}
			p.objects = e.Signal.AppendJSON(p.objects, e.Station)
			if p.waiting++; p.waiting >= p.cfg.Batch {
				if err := p.flush(ctx); err != nil {
					return err
				}
			}
			continue
		}
		if err := p.flush(ctx); err != nil {
			return err
		}
		p.progress.Requests++
		switch err := p.people.do(ctx, e); {
		case err == nil:
			p.progress.Acts++
		case errors.Is(err, errNothingToDo):
		default:
			if err := p.refused(ctx, "people", err); err != nil {
				return err
			}
			p.progress.Refused++
		}
	}
	return p.flush(ctx)
}

// flush sends the queued signals.
func (p *Player) flush(ctx context.Context) error {
	if p.waiting == 0 {
		return nil
	}
	n := p.waiting
	p.progress.Requests++
	outcomes, err := p.client.signals(ctx, p.objects)
	p.objects, p.waiting = p.objects[:0], 0
	if err != nil {
		p.progress.Refused += n
		return p.refused(ctx, "signals", err)
	}
	for _, o := range outcomes {
		if o.Accepted {
			p.progress.Signals++
			continue
		}
		p.progress.Refused++
		p.trouble("signals: " + o.Issue)
	}
	return nil
}

// refused records a refusal. It returns an error if no further request can succeed.
func (p *Player) refused(ctx context.Context, what string, err error) error {
	var r *Refusal
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !errors.As(err, &r) {
		return err
	}
	if r.Status == tooManyRequests || r.Status == unavailable || r.Status == unauthorized || r.Status == forbidden && what == "signals" {
		return fmt.Errorf("%s: %w", what, err) // retried for long enough, or useless to retry
	}
	p.trouble(what + ": " + err.Error())
	return nil
}

// sorts limits the kinds of trouble that are reported.
const sorts = 50

func (p *Player) trouble(why string) {
	words := strings.Fields(why)
	// messages that differ only in IDs and times are of one kind
	sort := strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "0123456789") }), " ")
	if p.cfg.Trouble == nil || p.told[sort] || len(p.told) >= sorts {
		return
	}
	p.told[sort] = true
	p.cfg.Trouble(why)
}

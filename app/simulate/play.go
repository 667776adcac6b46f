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

// PlayConfig is what NewPlayer needs.
type PlayConfig struct {
	Generator *Generator
	Send      Send
	Stations  []string          // nil: all
	From      int64             // the first moment played
	Until     int64             // the moment at which it ends; 0: never
	Speed     float64           // plant's time for each of ours; 0: as fast as the service takes it
	Batch     int               // the most signals in a request; 0: 2000
	Only      func(*Event) bool // which events are played; nil: all
	Step      int64             // the longest stretch of the plant's time whose signals go together, ms; 0: 15 minutes
	// Clock is told up to which moment of the plant's time the next events reach, ms, before they are sent: for who sets the
	// service's own clock. nil: nobody.
	Clock    func(at int64)
	Patience time.Duration
	Report   func(Progress)   // told now and then; nil: nobody
	Trouble  func(why string) // told of what is refused, once for each sort of reason, and of waiting; nil: nobody
}

// Progress is how far playing has got.
type Progress struct {
	At       int64 // everything before it was played
	Behind   int64 // ms of the plant's time by which it lags what the speed asks for
	Signals  int   // that were taken
	Acts     int   // of people, likewise
	Refused  int   // signals and acts that the service did not take
	Retried  int   // requests that were sent more than once
	Requests int
}

// Player plays a plant to a service. Use it once, from one goroutine.
type Player struct {
	cfg      PlayConfig
	client   client
	people   people
	progress Progress
	told     map[string]bool
	reported time.Time

	objects []byte // signals that wait for the next request
	waiting int
}

// Bounds of a step, in which events are made and sent.
const (
	longestStep  = 15 * minute            // of the plant's time
	shortestStep = 200 * time.Millisecond // of ours
	reportEvery  = 5 * time.Second
)

// NewPlayer makes a player.
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

// Progress returns how far it has got.
func (p *Player) Progress() Progress {
	p.progress.Retried = p.client.retried
	return p.progress
}

// Play plays until the end that was set, or ctx ends. Errors: ctx's, and that of a service which does not answer for
// longer than the patience or lets nobody in.
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

// until is when the playing ends, ms; a moment that never comes when it does not.
func (p *Player) until() int64 {
	if p.cfg.Until == 0 {
		return math.MaxInt64
	}
	return p.cfg.Until
}

// due returns up to which moment of the plant's time everything should have been sent by now. It is never ahead of the
// clock: live says that it is the clock's.
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

// deliver sends events in their order: what people do waits for the signals before it.
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

// flush sends the signals that wait.
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

// refused reports a refusal. One after which nothing else can succeed is an error.
func (p *Player) refused(ctx context.Context, what string, err error) error {
	var r *Refusal
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !errors.As(err, &r) {
		return err
	}
	if r.Status == tooManyRequests || r.Status == unavailable || r.Status == unauthorized || r.Status == forbidden && what == "signals" {
		return fmt.Errorf("%s: %w", what, err) // it was tried for long enough, or is of no use
	}
	p.trouble(what + ": " + err.Error())
	return nil
}

// sorts is how many sorts of trouble are told.
const sorts = 50

func (p *Player) trouble(why string) {
	words := strings.Fields(why)
	sort := strings.Join(slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "0123456789") }), " ") // ids and times make no other sort of it
	if p.cfg.Trouble == nil || p.told[sort] || len(p.told) >= sorts {
		return
	}
	p.told[sort] = true
	p.cfg.Trouble(why)
}

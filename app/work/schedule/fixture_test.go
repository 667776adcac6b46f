package schedule_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	manifest "opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/ledger"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/ingest/signal"
	"opsmon/app/work/schedule"
	"opsmon/kv"
)

const account = floortest.Account

// plant is a Rig with schedules. Its clock starts on Monday, 2026-03-02 at 08:00 UTC; the plant's zone is UTC, too.
type plant struct {
	*floortest.Rig
	t *testing.T
	s *schedule.Service
}

func person(role auth.Role) auth.Principal {
	p := auth.Principal{Type: auth.TypeAPIKey, KeyID: "k1", Email: string(role) + "@works.example", AccountID: account, Role: role}
	if role == auth.Operator {
		p.StationCodes = []string{"PRESS", "PRESS-2", "PACK"}
	}
	return p
}

// newPlant returns a plant. change has pairs of texts to replace in the manifest, old and new.
func newPlant(t *testing.T, change ...string) *plant {
	t.Helper()
	p := &plant{t: t, Rig: floortest.New(t, strings.NewReplacer(change...).Replace(floortest.Manifest), schedule.Buckets()...)}
	p.restart()
	t.Cleanup(func() {
		err := p.Store.View(func(tx *kv.Tx) error {
			known := map[string]bool{account: true}
			schedule.Check(tx, known, func(problem string) { t.Errorf("check: %s", problem) })
			report := func(problem string) { t.Errorf("check: %s", problem) }
			ledger.Check(tx, known, report)
			floor.Check(tx, known, report)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	return p
}

// restart opens the floor and the schedules again, as after a restart of the service.
func (p *plant) restart() {
	p.t.Helper()
	var err error
	p.s, err = schedule.New(schedule.Config{
		Store: p.Store,
		Authorize: func(_ *kv.Tx, who auth.Principal, need auth.Role) error {
			if !who.Role.AtLeast(need) {
				return errdefs.New(errdefs.Forbidden, "this needs the role %s", need)
			}
			return nil
		},
		Floor: present{p},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.Open(nil, p.s)
}

// present is the current floor of a plant, also after a restart.
type present struct{ p *plant }

func (f present) Plan(id string) (*station.Plan, error) { return f.p.Floor.Plan(id) }
func (f present) Time() int64                           { return f.p.Floor.Time() }
func (f present) Detail(id, code string, from, to int64) (*floor.Detail, error) {
	return f.p.Floor.Detail(id, code, from, to)
}

// do runs an operation as its handler does.
func do[T any](p *plant, fn func(w *floor.Work) (T, error)) (out T, err error) {
	err = p.Floor.Do(account, func(w *floor.Work) error {
		out, err = fn(w)
		return err
	})
	return out, err
}

// clock parses "08:30", "08:30:15.250" or "+1 06:00" (the next day), relative to the first day.
func clock(text string) int64 {
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	if rest, ok := strings.CutPrefix(text, "+1 "); ok {
		day, text = day.AddDate(0, 0, 1), rest
	}
	if rest, ok := strings.CutPrefix(text, "-1 "); ok {
		day, text = day.AddDate(0, 0, -1), rest
	}
	layout := "15:04:05.999"
	if strings.Count(text, ":") == 1 {
		layout = "15:04"
	}
	at, err := time.Parse(layout, text)
	if err != nil {
		panic(err)
	}
	return day.Add(at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))).UnixMilli()
}

func show(ms int64) string {
	t := time.UnixMilli(ms).UTC()
	text := strings.TrimSuffix(strings.TrimSuffix(t.Format("15:04:05.000"), ".000"), ":00")
	switch t.Day() {
	case 2:
		return text
	case 3:
		return "+1 " + text
	}
	return t.Format("2006-01-02 ") + text
}

func moment(text string) *schedule.Moment {
	if text == "" {
		return nil
	}
	m := schedule.Moment(clock(text))
	return &m
}

// until advances the clock to a moment, in steps of one second near the schedules' times.
func (p *plant) until(text string) {
	p.t.Helper()
	left := time.UnixMilli(clock(text)).Sub(p.Now())
	p.Pass(left, max(left/20, time.Second).Round(time.Second))
}

// input returns a schedule of BOWL at PRESS.
func input(start string) schedule.Input {
	return schedule.Input{
		StationCode: given("PRESS"), SKUCode: given("BOWL"), PlannedStart: given(*moment(start)),
	}
}

func pause(start string) schedule.Input {
	return schedule.Input{StationCode: given("PRESS"), ReasonCode: given("BREAK"), PlannedStart: given(*moment(start))}
}

func (p *plant) write(in schedule.Input) (*schedule.View, error) {
	return do(p, func(w *floor.Work) (*schedule.View, error) { return p.s.Write(w, person(auth.Supervisor), in) })
}

func (p *plant) make(in schedule.Input) *schedule.View {
	p.t.Helper()
	v, err := p.write(in)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func (p *plant) start(id string, in schedule.StartInput) (*schedule.View, error) {
	return do(p, func(w *floor.Work) (*schedule.View, error) { return p.s.Start(w, person(auth.Supervisor), id, in) })
}

func (p *plant) end(id, at string) (*schedule.View, error) {
	return do(p, func(w *floor.Work) (*schedule.View, error) {
		return p.s.End(w, person(auth.Supervisor), id, schedule.EndInput{At: moment(at)})
	})
}

func (p *plant) enter(in schedule.EntryInput) (*schedule.EntryView, error) {
	in.StationCode, in.Initials = "PRESS", "abc"
	return do(p, func(w *floor.Work) (*schedule.EntryView, error) { return p.s.Enter(w, person(auth.Operator), in) })
}

func (p *plant) must(_ any, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// good sends units made by the machine.
func (p *plant) good(n float64) {
	p.t.Helper()
	p.Send(floortest.Signal("PRESS", 0, map[signal.Field]float64{signal.ProductionCompleteGood: n, signal.Productive: 1}))
}

func (p *plant) get(id string) *schedule.View {
	p.t.Helper()
	v, err := p.s.Get(account, id)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// story describes a schedule: its state, actual times, units and moves.
func (p *plant) story(id string) string {
	p.t.Helper()
	v := p.get(id)
	text := string(v.State)
	if v.ActualStart != nil {
		text += " " + show(v.ActualStart.UnixMilli()) + "-"
	}
	if v.ActualEnd != nil {
		text += show(v.ActualEnd.UnixMilli())
	}
	if v.Good != nil && (*v.Good != 0 || *v.Bad != 0) {
		text += fmt.Sprintf(" %v/%v", *v.Good, *v.Bad)
	}
	for _, e := range v.Events {
		text += " " + string(e.Move)
	}
	return text
}

func (p *plant) told(id, want string) {
	p.t.Helper()
	if got := p.story(id); got != want {
		p.t.Errorf("the schedule is %s\nwant            %s", got, want)
	}
}

// refused checks the kind of an error and parts of its text.
func refused(t *testing.T, err error, kind errdefs.Kind, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("accepted; want it refused: %q", parts)
		return
	}
	text := err.Error()
	if e := (*errdefs.Error)(nil); errors.As(err, &e) {
		text += fmt.Sprint(e.Details)
	}
	if got := errdefs.KindOf(err); got != kind || slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) }) {
		t.Errorf("refused with kind %d: %s\nwant kind %d with %q", got, text, kind, parts)
	}
}

// manifest applies another manifest.
func (p *plant) manifest(text string) {
	p.t.Helper()
	_, err := p.Accounts.Apply(auth.Local(account), manifest.ApplyInput{Raw: []byte(text)})
	p.must(nil, err)
	p.Floor.Changed(account)
	p.Pass(time.Millisecond, 0)
}

// given returns a value that is present in the request.
func given[T any](v T) schedule.Given[T] { return schedule.Given[T]{Set: true, Value: v} }

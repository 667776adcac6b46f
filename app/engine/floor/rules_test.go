package floor_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
)

// picky is a rule that has something to do at all stations all the time, and cannot at those that are bad.
type picky struct {
	leaving
	bad          []string
	panics, idle bool
	ticks, tried map[string]int
	reached      []string
}

func newPicky(bad ...string) *picky {
	return &picky{bad: bad, ticks: map[string]int{}, tried: map[string]int{}}
}

func (p *picky) fail(code string) error {
	p.tried[code]++
	switch {
	case !slices.Contains(p.bad, code):
		return nil
	case p.panics:
		panic("a record makes no sense")
	}
	return errors.New("a record cannot be read")
}

func (p *picky) Due(plan *station.Plan, _ int64) (codes []string) {
	for _, s := range plan.Stations {
		if p.idle {
			break
		}
		codes = append(codes, s.Code)
	}
	return codes
}

func (p *picky) Tick(w *floor.Work, codes []string) error {
	for _, code := range codes {
		if err := p.fail(code); err != nil {
			return err
		}
		w.After(func() { p.ticks[code]++ })
	}
	return nil
}

func (p *picky) Happened(w *floor.Work, code string, e monitor.Event) error {
	if err := p.fail(code); err != nil {
		return err
	}
	w.After(func() { p.reached = append(p.reached, e.Schedule) })
	return nil
}

func (p *picky) Left(w *floor.Work, code string) error {
	if err := p.fail(code); err != nil {
		return err
	}
	w.After(func() { p.left = append(p.left, code) })
	return nil
}

// TestWhatCannotBeDoneAtOneStationIsInTheWayOfNoOther: it is tried again there, but seldom, and is measured.
func TestWhatCannotBeDoneAtOneStationIsInTheWayOfNoOther(t *testing.T) {
	for _, panics := range []bool{false, true} {
		rule := newPicky(press)
		rule.panics = panics
		r := floortest.New(t, floortest.Manifest)
		r.Quiet = true
		r.Open(nil, rule)
		r.Pass(time.Minute, time.Second)
		if rule.ticks["PACK"] < 60 || rule.ticks["PRESS-2"] < 60 || rule.ticks[press] != 0 {
			t.Errorf("in sixty seconds things fell due %v times", rule.ticks)
		}
		if rule.tried[press] > 4 {
			t.Errorf("what fails was tried %d times in a minute", rule.tried[press])
		}
		if h := health(r); h.Failing != 1 {
			t.Errorf("%d things are told to fail", h.Failing)
		}
		rule.bad = nil
		r.Pass(6*time.Minute, time.Second)
		if h := health(r); rule.ticks[press] == 0 || h.Failing != 0 {
			t.Errorf("when it can be done again: %v, %d fail", rule.ticks, h.Failing)
		}
	}
}

// TestWhatIsNotToBeDoneAnyMoreFailsNoMore: a thing that cannot be done, and then falls due no more, is not measured for ever.
func TestWhatIsNotToBeDoneAnyMoreFailsNoMore(t *testing.T) {
	rule := newPicky(press)
	r := floortest.New(t, floortest.Manifest)
	r.Quiet = true
	r.Open(nil, rule)
	r.Pass(time.Minute, time.Second)
	if h := health(r); h.Failing != 1 {
		t.Fatalf("%d things are told to fail", h.Failing)
	}
	rule.idle = true
	r.Pass(11*time.Minute, time.Minute)
	if h := health(r); h.Failing != 0 {
		t.Errorf("%d things are told to fail, and nothing is to be done", h.Failing)
	}
}

// TestWhatTheEngineFoundIsToldWhenItCanBe: of one station at once, of the one at which that fails later, though its hour has
// been kept since.
func TestWhatTheEngineFoundIsToldWhenItCanBe(t *testing.T) {
	rule := newPicky(press)
	r := floortest.New(t, floortest.Manifest)
	r.Quiet = true
	r.Open(nil, rule)
	r.Pass(time.Minute, 0)
	for _, code := range []string{press, "PRESS-2"} {
		start(t, r, code, monitor.Schedule{ID: code, SKU: "BOWL", Quantity: 10}, r.Now().UnixMilli())
	}
	r.Pass(time.Minute, 0)
	r.Send(floortest.Signal(press, 0, units(12)), floortest.Signal("PRESS-2", 0, map[signal.Field]float64{signal.ProductionCompleteGood: 12}))
	r.Pass(2*time.Hour, time.Minute)
	if diff := cmp.Diff([]string{"PRESS-2"}, rule.reached); diff != "" {
		t.Errorf("while one fails (-want +told):\n%s", diff)
	}
	rule.bad = nil
	r.Pass(6*time.Minute, time.Minute)
	if diff := cmp.Diff([]string{"PRESS-2", press}, rule.reached); diff != "" {
		t.Errorf("in the end (-want +told):\n%s", diff)
	}
}

// TestAStationThatCannotLeaveHoldsUpNoConfiguration: a new manifest comes into force, and the rule is told later.
func TestAStationThatCannotLeaveHoldsUpNoConfiguration(t *testing.T) {
	rule := newPicky(press)
	r := floortest.New(t, floortest.Manifest)
	r.Quiet = true
	r.Open(nil, rule)
	r.Pass(time.Minute, 0)
	apply(t, r, `{"code":"PRESS","name":"Press","downtimeDetectionMode":"utilisation","utilisationDowntimeThreshold":120000},`, "")
	r.Pass(time.Minute, time.Second)
	plan, err := r.Floor.Plan(floortest.Account)
	if err != nil || plan.Of(press) != nil || plan.Of("PACK") == nil {
		t.Fatalf("the new manifest is not in force: %v", err)
	}
	before := rule.ticks["PACK"]
	r.Pass(time.Minute, time.Second)
	if rule.ticks["PACK"] == before {
		t.Error("other stations stand still")
	}
	rule.bad = nil
	r.Pass(6*time.Minute, time.Second)
	if diff := cmp.Diff([]string{press}, rule.left); diff != "" {
		t.Errorf("left (-want +told):\n%s", diff)
	}
}

//go:build rig

package gantt_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

type object = map[string]any

// plant returns a plant with stations of two groups that are always in shift; in packing, schedules may change the
// station.
func plant(t *testing.T, stations int) []byte {
	t.Helper()
	packing := []object{}
	for i := range stations {
		packing = append(packing, object{"code": fmt.Sprintf("PACK-%d", i+1), "name": fmt.Sprintf("Packing line %d", i+1)})
	}
	m, err := json.Marshal(object{"version": "v1", "account": object{
		"id": "demo", "domain": "demo.example",
		"skus": []object{
			{"code": "BOWL", "name": "Bowl 14 cm", "unitsPerMinute": 10}, {"code": "PLATE", "name": "Teller <groß> مكبس", "unitsPerMinute": 5},
			{"code": "MUG", "name": "Mug", "unitsPerMinute": 5, "stationCodes": []string{"PACK-1", "KILN-1"}},
		},
		"reasons": []object{{"code": "CLEAN", "name": "Cleaning", "type": []string{"non_production"}}},
		"plants": []object{{
			"code": "north", "name": "North", "timezone": "Europe/Berlin", "dayStartHour": 6, "weekStartDay": 0,
			"stationGroups": []object{
				{"code": "packing", "name": "Packing", "enableScheduleStationFlexibility": "on", "enableScheduleCutShort": "on", "stations": packing},
				{"code": "firing", "name": "Firing", "stations": []object{{"code": "KILN-1", "name": "Kiln 1"}, {"code": "KILN-2", "name": "Kiln 2"}}},
			},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// schedule has the fields of a schedule that tests compare.
type schedule struct {
	ID, StationCode, State   string
	PlannedStartAt           time.Time
	PlannedEndAt             *time.Time
	ExpectedEndAt            *time.Time
	PlannedQuantity          *float64
	SkuCode, ReasonCode      *string
	WorkOrderReference, Note *string
}

// chart is the page of a service, from some hours ahead, with positions in pixels.
type chart struct {
	t     *testing.T
	s     *webtest.Service
	tab   *webtest.Tab
	begin time.Time // a full hour, some hours in the future
}

// serve starts a service with the plant.
func serve(t *testing.T) *chart {
	t.Helper()
	return &chart{t: t, s: webtest.Serve(t, webtest.Options{Manifest: plant(t, 3)}), begin: time.Now().Truncate(time.Hour).Add(3 * time.Hour)}
}

// steady moves the start by a day if the plant's clock changes near it, because some times would then be ambiguous. It
// returns the plant's zone.
func (c *chart) steady() *time.Location {
	c.t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		c.t.Fatal(err)
	}
	_, before := c.at(-2 * 60).In(berlin).Zone()
	if _, after := c.at(14 * 60).In(berlin).Zone(); before != after {
		c.begin = c.begin.Add(24 * time.Hour)
	}
	return berlin
}

// open opens the page for a role, with the chart's start at the left edge.
func (c *chart) open(view webtest.Viewport, role string) {
	c.t.Helper()
	c.tab = webtest.Open(c.t, c.s.Base, view)
	c.s.SignIn(c.tab, role)
	c.visit(c.begin)
}

func (c *chart) visit(at time.Time) {
	c.t.Helper()
	c.tab.Visit("/floor/schedules?zoom=day&at=" + at.UTC().Format(time.RFC3339))
	c.tab.Until(`document.querySelectorAll(".gantt-row[data-station]").length > 0`)
}

// plan plans a schedule some minutes after the start; more has additional fields.
func (c *chart) plan(station, sku string, minutes int, more object) (got schedule) {
	c.t.Helper()
	body := object{"stationCode": station, "skuCode": sku, "plannedStartAt": c.at(minutes), "plannedQuantity": 1200}
	for name, value := range more {
		body[name] = value
	}
	c.s.Call("POST", "/schedule", body, &got)
	return got
}

func (c *chart) at(minutes int) time.Time {
	return c.begin.Add(time.Duration(minutes) * time.Minute).UTC()
}

func (c *chart) get(id string) (got schedule) {
	c.t.Helper()
	c.s.Call("GET", "/schedule/"+id, nil, &got)
	return got
}

// spot is a position on the screen.
type spot struct{ X, Y float64 }

// place returns the position of a station's production lane at a time, in minutes after the start.
func (c *chart) place(station string, minutes float64) spot {
	c.t.Helper()
	return webtest.Eval[spot](c.tab, fmt.Sprintf(`(() => {
		const row = document.querySelector('.gantt-row[data-station="%s"]').getBoundingClientRect(), box = document.querySelector(".gantt"), names = document.querySelector(".gantt-corner").getBoundingClientRect();
		const perMinute = (box.clientWidth - names.width) / 1440, from = new Date(new URLSearchParams(location.search).get("at")).getTime();
		return { x: names.right + (%v - from) / 60000 * perMinute, y: row.top + 16 };
	})()`, station, c.begin.UnixMilli()+int64(minutes*60000)))
}

// bar returns an expression for the bar of a schedule.
func bar(id string) string { return fmt.Sprintf(`document.querySelector('.slot[data-id="%s"]')`, id) }

// mouse sends one mouse event.
func (c *chart) mouse(kind input.DispatchMouseEventType, at spot) {
	c.t.Helper()
	_, err := chromedp.Call(c.tab.Context(), input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at.X, Y: at.Y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
	if err != nil {
		c.t.Fatal(err)
	}
}

// drag drags the mouse between two positions and keeps the button pressed.
func (c *chart) drag(from, to spot) {
	c.t.Helper()
	c.mouse(input.DispatchMouseEventTypeMousePressed, from)
	for i := range 8 {
		part := float64(i+1) / 8
		c.mouse(input.DispatchMouseEventTypeMouseMoved, spot{from.X + (to.X-from.X)*part, from.Y + (to.Y-from.Y)*part})
	}
}

// release releases the mouse button.
func (c *chart) release(at spot) {
	c.t.Helper()
	c.mouse(input.DispatchMouseEventTypeMouseReleased, at)
}

// eventually waits until the service's schedule satisfies a condition.
func (c *chart) eventually(id, what string, is func(schedule) bool) schedule {
	c.t.Helper()
	var got schedule
	for range 300 {
		if got = c.get(id); is(got) {
			return got
		}
		time.Sleep(100 * time.Millisecond)
	}
	c.t.Fatalf("the schedule is not %s: %+v", what, got)
	return got
}

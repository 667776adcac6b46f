//go:build rig

package gantt_test

import (
	"testing"
	"time"

	"opsmon/app/test/browser/webtest"
)

// change returns the next moment at which daylight saving time begins or ends at a place.
func change(t *testing.T, place *time.Location, forward bool) time.Time {
	t.Helper()
	for at := time.Now().Truncate(time.Hour).Add(48 * time.Hour); at.Before(time.Now().AddDate(2, 0, 0)); at = at.Add(time.Hour) {
		_, before := at.Add(-time.Hour).In(place).Zone()
		if _, after := at.In(place).Zone(); before != after && (after > before) == forward {
			return at
		}
	}
	t.Fatal("the clock is never changed")
	return time.Time{}
}

// TestTheWeekOfAClockChange: bars, marks and shifts are at their real times, and labelled by the plant's clock.
func TestTheWeekOfAClockChange(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	c := serve(t)
	for _, forward := range []bool{true, false} {
		at := change(t, berlin, forward)
		c.begin = at.Add(-4 * time.Hour)
		a := c.plan("PACK-1", "BOWL", 60, nil) // two hours long, three hours before the change
		if c.tab == nil {
			c.open(webtest.Laptop, "supervisor")
		} else {
			c.visit(c.begin)
		}
		c.tab.Until(bar(a.ID))
		from, to := c.place("PACK-1", 90), c.place("PACK-1", 90+5*60)
		c.drag(from, to)
		want := c.at(6 * 60).In(berlin) // five hours later, independent of the clock change
		c.tab.Until(`document.querySelector(".ghost-tip").textContent.includes("` + want.Format("15:04") + ` to ` + want.Add(2*time.Hour).Format("15:04") + `")`)
		c.release(to)
		c.eventually(a.ID, "moved", func(s schedule) bool { return s.PlannedStartAt.Equal(want) })

		hours := map[bool]int{true: 23, false: 25}[forward]
		day := time.Date(at.In(berlin).Year(), at.In(berlin).Month(), at.In(berlin).Day(), 0, 0, 0, 0, berlin)
		got := webtest.Eval[struct {
			Days   []int
			Marks  []string
			Shifts []int
			Back   []bool
		}](c.tab, module(`
			const day = `+"Date.parse('"+day.Format(time.RFC3339)+"')"+`, hour = 3600000, place = "Europe/Berlin";
			const { days, marks } = ticks.ticks(day, day + 48 * hour, 60 / hour, place);
			const night = { shifts: ["6", "7", "1"].map((weekDay) => ({ name: "Night", startHour: 22, duration: 8, weekDay })) };
			const back = [];
			for (let at = day - 5 * hour; at < day + 30 * hour; at += 300000) back.push(zone.momentOf(zone.wallOf(at, place), place) === at || zone.repeated(at, place));
			return {
				days: [(days[1].at - days[0].at) / hour], marks: marks.filter((m) => m.at < days[1].at).map((m) => m.text),
				shifts: shifts.shiftsOf(night, day - 4 * hour, day + 30 * hour, place).map((s) => (s.to - s.from) / hour), back: [back.every(Boolean)],
			};`))
		if got.Days[0] != hours || len(got.Marks) != hours {
			t.Errorf("forward %v: the day has %d hours and %d marks, not %d: %v", forward, got.Days[0], len(got.Marks), hours, got.Marks)
		}
		if len(got.Shifts) != 2 || got.Shifts[0] != hours-16 || got.Shifts[1] != 8 {
			t.Errorf("forward %v: the shifts have %v hours", forward, got.Shifts)
		}
		if !got.Back[0] {
			t.Errorf("forward %v: a wall time is another moment", forward)
		}
		c.s.Call("DELETE", "/schedule/"+a.ID, nil, nil)
	}
	c.tab.Clean()
}

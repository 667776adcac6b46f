package monitor_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"opsmon/app/engine/monitor"
)

// compareWindows compares each window with the oracle's seconds: due units, measurements and codes. Classes and good
// units are compared elsewhere.
func (o *oracle) compareWindows(t *testing.T, v monitor.View) {
	t.Helper()
	rows := monitor.Windows(v.Segments, v.Minutes)
	if len(rows) != o.n/60 {
		t.Fatalf("%d windows of %d minutes", len(rows), o.n/60)
	}
	measured, codes := o.measured()
	manual := o.runsOf(func(t int) bool { return o.manual[t] })
	for m := range rows {
		got, want := &rows[m], measured[m]
		o.window(&want, m, manual)
		want.ErrorCodes = codes[m]
		for _, list := range [][]string{got.Schedules, got.Reasons, got.ErrorCodes, want.Schedules, want.Reasons, want.ErrorCodes} {
			slices.Sort(list)
		}
		if g, w := rowText(got), rowText(&want); got.Start != o.from+int64(m)*minute || g != w {
			t.Fatalf("at %s\nthe machine says %s\nthe oracle       %s", show(got.Start), g, w)
		}
	}
}

// rowText formats the compared fields of a window.
func rowText(w *monitor.Window) string {
	since := ""
	if w.DowntimeSince != 0 {
		since = " since " + show(w.DowntimeSince)
	}
	near := func(v float64) float64 { return math.Round((v+1e-7)*1e3)/1e3 + 0 } // 0.0625 has two roundings
	return fmt.Sprintf("bad %v rate %t %v %v speed %t %v of %v kWh %v rssi %t %v alive %t%s %v%v%v %s", units(w.Bad), w.HasRate, near(w.Ideal), near(w.Target), w.HasSpeed, near(w.SpeedAvg), w.SpeedTarget,
		near(float64(w.KWh)/monitor.Micro), w.HasRSSI, near(w.RSSIAvg), w.Alive, since, w.Schedules, w.Reasons, w.ErrorCodes, w.SKU)
}

// measured returns the measurements of signals by minute, and the units found to be bad.
func (o *oracle) measured() (rows []monitor.Window, codes [][]string) {
	rows, codes = make([]monitor.Window, o.n/60), make([][]string, o.n/60)
	rssi, bad := make([][]float64, o.n/60), make([]float64, o.n/60)
	for i := range o.inputs {
		in, m := &o.inputs[i], o.sec(o.inputs[i].At)/60
		if in.Kind != monitor.InputSignal || o.cfg.SchedulingOnly {
			continue
		}
		if in.Has&monitor.HasRSSI != 0 {
			rssi[m] = append(rssi[m], in.RSSI)
		}
		if in.ErrorCode != "" && !slices.Contains(codes[m], in.ErrorCode) {
			codes[m] = append(codes[m], in.ErrorCode)
		}
	}
	for _, made := range o.made {
		bad[made.t/60] += made.bad
	}
	for m := range rows {
		w := &rows[m]
		if w.HasRSSI = len(rssi[m]) > 0; w.HasRSSI {
			w.RSSIAvg = mean(rssi[m])
		}
		w.Bad = int64(math.Round(bad[m] * monitor.Micro))
		var speeds []float64
		kwh := 0.0
		for t := m * 60; t < m*60+60; t++ {
			if !math.IsNaN(o.speed[t]) {
				speeds = append(speeds, o.speed[t])
			}
			if !math.IsNaN(o.power[t]) {
				kwh += o.power[t] / 3600
			}
		}
		if w.HasSpeed = len(speeds) > 0; w.HasSpeed {
			w.SpeedAvg = mean(speeds)
		}
		w.KWh = int64(math.Round(kwh * monitor.Micro))
	}
	return rows, codes
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// window adds the plan and the classes of a minute.
func (o *oracle) window(w *monitor.Window, m int, manual []span) {
	since := func(list []span, t int) int64 {
		at := slices.IndexFunc(list, func(s span) bool { return s.a <= t && t < s.b })
		return o.from + int64(list[at].a)*second
	}
	name := func(list *[]string, code string) {
		if code != "" && !slices.Contains(*list, code) {
			*list = append(*list, code)
		}
	}
	for t := m * 60; t < m*60+60; t++ {
		class := o.class[t][:len(o.class[t])-len(o.planned[t])]
		w.Alive = w.Alive || o.known[t]
		if rate := o.rate(t); o.planned[t] == "+" && rate > 0 {
			w.HasRate = true
			if class != "noData" {
				w.Ideal += rate / 60
			}
			if class != "noData" && class != "downtime" {
				w.Target += rate / 60
			}
		}
		name(&w.Schedules, o.schedule[t])
		name(&w.Schedules, o.paused[t])
		if o.planned[t] == "-" {
			name(&w.Reasons, o.reasons[o.paused[t]])
		}
		if class == "downtime" {
			name(&w.Reasons, o.cause[t])
			if o.manual[t] {
				w.DowntimeSince = since(manual, t)
			} else {
				w.DowntimeSince = since(o.down, t)
			}
		}
	}
	last := m*60 + 59
	w.SKU = cmp.Or(o.sku(last), monitor.UnknownSKU)
	if w.SpeedTarget = o.cfg.LineSpeedTarget; w.SKU == "B" {
		w.SpeedTarget = 120
	}
}

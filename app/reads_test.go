package app

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/auth"
	"opsmon/app/httpapi/configuration"
	"opsmon/app/ingest/signal"
	"opsmon/app/test/apptest"
)

// fetch reads an answer of a running service.
func (r *running) fetch(t *testing.T, path string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-KEY", r.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s", path, resp.Status)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
}

// near reports whether sums of floating point numbers are the same.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-7*max(1, math.Abs(a)) }

// aShift plays a shift of the example plant to a service, and gives its range as a query.
func aShift(t *testing.T) (r *running, shift *shiftPlayed, span string) {
	t.Helper()
	shift = &shiftPlayed{manifest: roundTheClock(t)}
	shift.eventful(t)
	cfg := testConfig(t)
	a, err := Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	// The account begins with the plant: what is corrected, or tuned, lies in its past.
	made, err := a.bootstrap(configuration.BootstrapInput{Domain: "northgate.example", Email: "it@northgate.example", Manifest: shift.manifest, First: true, By: auth.Local("")})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r = run(t, h, made.APIKey)
	x := &restless{key: r.key}
	x.url.Store(&r.url)
	for _, deeds := range shiftPhases {
		if _, err := shift.play(t, x, 0, deeds...); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
			none, err := x.noneLate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if none {
				break
			}
			if time.Now().After(end) {
				t.Fatal("what came late is not accounted for")
			}
		}
	}
	return r, shift, fmt.Sprintf("from=%s&to=%s", time.UnixMilli(shift.from).UTC().Format(time.RFC3339), time.UnixMilli(shift.to).UTC().Format(time.RFC3339))
}

// TestReadsOfAShiftAgree: what is drawn of a shift, and its figures by the minute, add up to its windows and its
// figures.
func TestReadsOfAShiftAgree(t *testing.T) {
	apptest.Long(t)
	r, shift, span := aShift(t)
	var stations struct {
		Results []struct{ StationCode string }
	}
	r.fetch(t, "/station", &stations)
	busy, stood := 0, 0
	for _, s := range stations.Results {
		query := "stationcode=" + s.StationCode + "&" + span
		if drawn(t, r, s.StationCode, query+"&points=37") {
			busy++
		}
		byMinute(t, r, s.StationCode, span)
		tuned(t, r, s.StationCode, shift)
		stood += standstills(t, r, s.StationCode, query)
		var sent struct {
			Paging struct{ TotalElements int }
		}
		r.fetch(t, "/signal?limit=1&"+query, &sent)
		kept := 0
		for day := signal.Day(shift.from); day <= signal.Day(shift.to); day++ {
			list, err := r.services.Signals.Of("northgate", s.StationCode, day)
			if err != nil {
				t.Fatal(err)
			}
			for i := range list {
				if list[i].At >= shift.from && list[i].At < shift.to {
					kept++
				}
			}
		}
		if sent.Paging.TotalElements != kept {
			t.Errorf("%s: %d signals are listed, %d are kept", s.StationCode, sent.Paging.TotalElements, kept)
		}
	}
	if status := r.request(t, http.MethodGet, "/oee?by=minute&"+span, r.key, ""); len(stations.Results) < 5 || status != http.StatusBadRequest {
		t.Errorf("by the minute for %d stations: %d", len(stations.Results), status)
	}
	if busy < 3 || stood == 0 {
		t.Errorf("%d stations made anything, and %d stops were found", busy, stood)
	}
}

// drawnWindow is what of a window is in a timeline.
type drawnWindow struct {
	ProductiveMs, SlowMs, DowntimeMs, IdleMs, NoDataMs, OutOfShiftMs, ScheduledProductionMs, ScheduledNonProductionMs int64
	ProductionGoodCount, ProductionBadCount                                                                           float64
	ProductionIdealCount, ProductionTargetCount, ElectricalKwh                                                        *float64
	WindowStartAt                                                                                                     time.Time
}

// drawn holds a station's timeline against its windows, and tells whether it made anything.
func drawn(t *testing.T, r *running, code, query string) (busy bool) {
	t.Helper()
	var line struct {
		Result struct {
			From, To, StepMs, Rows int64
			Classes                map[string][]int64
			ScheduledProduction    []int64
			ScheduledNonProduction map[string][]int64
			Good, Bad              []float64
			Ideal, Target          []*float64
			ElectricalKwh          []*float64
			Runs                   []struct {
				Class      string
				Start, End int64
			}
		}
	}
	r.fetch(t, "/timeline?"+query, &line)
	x := &line.Result
	var windows struct{ Results []drawnWindow }
	r.fetch(t, "/station-window?limit=2000&"+strings.Replace(query, "stationcode=", "stationcodes=", 1), &windows)
	runs := map[string]int64{}
	for _, run := range x.Runs {
		runs[run.Class] += run.End - run.Start
	}
	for i := range x.Rows {
		start, end := x.From+i*x.StepMs, min(x.To, x.From+(i+1)*x.StepMs)
		sum, floats, known := map[string]int64{}, map[string]float64{}, map[string]bool{}
		rest := end - start
		for _, w := range windows.Results {
			if at := w.WindowStartAt.UnixMilli(); at < start || at >= end {
				continue
			}
			rest -= 60_000
			for name, ms := range map[string]int64{
				"productive": w.ProductiveMs, "slow": w.SlowMs, "downtime": w.DowntimeMs, "idle": w.IdleMs, "noData": w.NoDataMs, "outOfShift": w.OutOfShiftMs,
				"production": w.ScheduledProductionMs, "nonProduction": w.ScheduledNonProductionMs,
			} {
				sum[name] += ms
			}
			for name, n := range map[string]*float64{"good": &w.ProductionGoodCount, "bad": &w.ProductionBadCount, "ideal": w.ProductionIdealCount, "target": w.ProductionTargetCount, "kwh": w.ElectricalKwh} {
				if n != nil {
					floats[name] += *n
					known[name] = true
				}
			}
		}
		sum["noData"] += rest
		for name, column := range x.Classes {
			if column[i] != sum[name] {
				t.Errorf("%s, row %d: %s is %d, the windows have %d", code, i, name, column[i], sum[name])
			}
			runs[name] -= column[i]
		}
		if x.ScheduledProduction[i] != sum["production"] || x.ScheduledNonProduction["total"][i] != sum["nonProduction"] {
			t.Errorf("%s, row %d: scheduled %d and %d, the windows have %v", code, i, x.ScheduledProduction[i], x.ScheduledNonProduction["total"][i], sum)
		}
		for name, n := range map[string]*float64{"good": &x.Good[i], "bad": &x.Bad[i], "ideal": x.Ideal[i], "target": x.Target[i], "kwh": x.ElectricalKwh[i]} {
			if (n != nil) != known[name] && (name != "good" && name != "bad" || rest == 0) || n != nil && !near(*n, floats[name]) {
				t.Errorf("%s, row %d: %s is %s, the windows have %v", code, i, name, numberText(n), floats[name])
			}
		}
		busy = busy || x.Good[i] > 0
	}
	runs["noData"] += shareUnknown(x.From, x.To, windows.Results)
	for name, ms := range runs {
		if ms != 0 {
			t.Errorf("%s: the runs of %s have %d ms more than the rows", code, name, ms)
		}
	}
	return busy
}

func numberText(n *float64) string {
	if n == nil {
		return "null"
	}
	return fmt.Sprint(*n)
}

// shareUnknown is the time of a range that has no windows: nothing is known of it, and there are no runs of it.
func shareUnknown(from, to int64, windows []drawnWindow) int64 {
	return to - from - int64(len(windows))*60_000
}

// byMinute holds a station's figures by the minute against those of the whole, for every profile.
func byMinute(t *testing.T, r *running, code, span string) {
	t.Helper()
	for _, profile := range []string{"default", "iso22400", "vorne", "evocon"} {
		query := "/oee?profile=" + profile + "&stationcodes=" + code + "&" + span
		sums := map[string]float64{}
		for sign, by := range map[float64]string{1: "&by=minute", -1: ""} {
			var out struct{ Results []map[string]any }
			r.fetch(t, query+by, &out)
			for _, row := range out.Results {
				addTerms(sums, row, "", sign)
			}
		}
		if _, ok := sums["availability.numerator"]; !ok || len(sums) < 30 {
			t.Fatalf("%s: the figures have the terms %v", query, sums)
		}
		for name, rest := range sums {
			if math.Abs(rest) > 1e-4 {
				t.Errorf("%s: the minutes' %s are %v more than the whole's", query, name, rest)
			}
		}
	}
}

// addTerms adds up the terms of a figure: all numbers but ratios, which do not add up.
func addTerms(sums map[string]float64, of map[string]any, path string, sign float64) {
	for name, v := range of {
		switch v := v.(type) {
		case map[string]any:
			if name != "oee" {
				addTerms(sums, v, path+name+".", sign)
			}
		case float64:
			if name != "value" {
				sums[path+name] += sign * v
			}
		}
	}
}

// tuned holds what a look at settings that change nothing says against the figures.
func tuned(t *testing.T, r *running, code string, shift *shiftPlayed) {
	t.Helper()
	from, to := time.UnixMilli(shift.from).UTC().Format(time.RFC3339), time.UnixMilli(shift.to).UTC().Format(time.RFC3339)
	body := fmt.Sprintf(`{"stationCodes":[%q],"from":%q,"to":%q,"changes":{"station":{"idleCostPerMinute":3}}}`, code, from, to)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/analysis/tuning", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-KEY", r.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	type side struct {
		Figures struct {
			ScheduledProductionMs, DowntimeMs, GoodCount, BadCount float64
			Availability, Performance, Quality, OEE                *float64
		}
		Stops struct {
			Count   int
			TotalMs int64
		}
	}
	var tuning struct{ Result struct{ Before, After side } }
	if err := json.NewDecoder(resp.Body).Decode(&tuning); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("POST /analysis/tuning: %s, %v", resp.Status, err)
	}
	before := tuning.Result.Before
	if diff := cmp.Diff(before, tuning.Result.After); diff != "" {
		t.Errorf("%s: settings that change nothing do: %s", code, diff)
	}
	var oee struct {
		Results []struct {
			DowntimeMs                              float64
			ProductionGoodCount, ProductionBadCount float64
			Availability, OEE                       struct {
				Value                  *float64
				Numerator, Denominator float64
			}
		}
	}
	r.fetch(t, "/oee?stationcodes="+code+"&from="+from+"&to="+to, &oee)
	want, f := oee.Results[0], before.Figures
	if f.ScheduledProductionMs != want.Availability.Denominator || f.DowntimeMs != want.Availability.Denominator-want.Availability.Numerator ||
		!near(f.GoodCount, want.ProductionGoodCount) || !near(f.BadCount, want.ProductionBadCount) || (f.OEE == nil) != (want.OEE.Value == nil) || f.OEE != nil && !near(*f.OEE, *want.OEE.Value) {
		t.Errorf("%s: %+v, the figures are %+v", code, f, want)
	}
}

// standstills holds a station's standstills against its stops: those that are long enough, and neither begin nor end
// with the range, are the same. It gives how many there were.
func standstills(t *testing.T, r *running, code, query string) (stops int) {
	t.Helper()
	var station struct {
		Result struct {
			Settings struct {
				DowntimeDetectionMode        string
				UtilisationDowntimeThreshold int64
				ProductiveHoldOnTime         *int64
			}
		}
	}
	r.fetch(t, "/station/"+code, &station)
	set := station.Result.Settings
	if set.DowntimeDetectionMode != "utilisation" && set.DowntimeDetectionMode != "line_speed" || set.ProductiveHoldOnTime != nil && *set.ProductiveHoldOnTime > 0 {
		return 0
	}
	var stood struct {
		Result struct {
			From, To  time.Time
			Lengths   struct{ Count int }
			Stretches []struct {
				StartAt, EndAt time.Time
				DurationMs     int64
			}
		}
	}
	r.fetch(t, "/analysis/standstill?"+query, &stood)
	x := &stood.Result
	if x.Lengths.Count != len(x.Stretches) {
		t.Errorf("%s: %d of %d standstills", code, len(x.Stretches), x.Lengths.Count)
	}
	var got, want []time.Time
	for _, s := range x.Stretches {
		if s.DurationMs >= set.UtilisationDowntimeThreshold && s.StartAt.After(x.From) && s.EndAt.Before(x.To) {
			got = append(got, s.StartAt, s.EndAt)
		}
	}
	var issues struct {
		Results []struct {
			StartAt time.Time
			EndAt   *time.Time
		}
	}
	r.fetch(t, "/issue?type=stop&limit=1000&"+strings.Replace(query, "stationcode=", "stationcodes=", 1), &issues)
	for _, i := range issues.Results {
		if i.StartAt.After(x.From) && i.EndAt != nil && i.EndAt.Before(x.To) {
			want = append(want, i.StartAt, *i.EndAt)
		}
	}
	slices.SortFunc(want, time.Time.Compare)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: the stops, and the standstills of their length: %s", code, diff)
	}
	return len(want) / 2
}

package app

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/auth"
	"opsmon/app/host/config"
	"opsmon/app/httpapi/configuration"
	"opsmon/app/test/apptest"
	"opsmon/kv"
	"opsmon/kv/powercut"
)

// The times that the plant of these tests keeps things for, in days: the shortest that may be set.
const (
	signalDays = 8
	windowDays = 30
	auditDays  = 30
	taskDays   = 400 // which nobody can set

	// changeDays is for how many days the configuration changes: revisions are kept for ever.
	changeDays = 300
)

const stamp = "2006-01-02T15:04:05Z"

// livedPlant is a plant with a press, a kiln whose one schedule runs for all its life, and an energy meter.
const livedPlant = `{"version":"v1","account":{"id":"northgate","domain":"northgate.example","electricalPricePerKwh":0.25,
"enableManualDowntime":"on","enableQuickScheduleStart":"on","enableScheduleCutShort":"on","enableManualProduction":"on",
"enableProductionCorrection":"on","enableHistoricalCorrection":"on",
"enableTasks":"on","enableLostProductionCost":"on","includeTaskListCodes":["ROUND"],
"reasons":[{"code":"JAM","name":"Jam","type":["downtime"]}],
"tasks":[{"code":"WALK","title":"Walk round","taskListCodes":[{"code":"ROUND","order":1}]}],
"taskLists":[{"code":"ROUND","name":"Round",
 "trigger":{"type":"cron","pattern":"0 9 * * *","availableBeforeDeadlineMinutes":30}}],
"skus":[{"code":"BOWL","name":"Bowl","unitsPerMinute":2,"value":0.5,"allowUseInQuickSchedule":true}],
"plants":[{"code":"main","name":"Main works","timezone":"UTC","dayStartHour":0,"weekStartDay":0,
"stationGroups":[{"code":"shop","name":"Shop","stations":[
{"code":"PRESS","name":"Press","downtimeDetectionMode":"utilisation","utilisationDowntimeThreshold":120000},
{"code":"KILN","name":"Kiln","downtimeDetectionMode":"off"},{"code":"METER","name":"Meter","enableMeterOnly":"on"}]}]}]}}`

// plantLife is an App with that plant, under a clock that moves only when told to.
type plantLife struct {
	*App
	t     *testing.T
	cfg   config.Settings
	clock atomic.Int64 // ms
	began time.Time
	kiln  string    // its schedule
	days  int       // lived through
	told  time.Time // what machines have to tell of the time before has been sent
}

func newPlantLife(t *testing.T) *plantLife {
	p := &plantLife{t: t, cfg: testConfig(t), began: time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)}
	p.clock.Store(p.began.UnixMilli())
	p.cfg.DataDir = powercut.Scratch(t) // it is about what is kept, not about syncs
	p.cfg.Signals.Days, p.cfg.Windows.Days, p.cfg.AuditDays = signalDays, windowDays, auditDays
	p.cfg.Signals.PerSecond, p.cfg.Signals.AliveMinutes = 10_000_000, 60
	p.cfg.Clock = p.now
	p.open()
	t.Cleanup(func() { p.Close() })
	if _, err := p.bootstrap(configuration.BootstrapInput{
		Domain: "northgate.example", Email: "it@northgate.example", Manifest: []byte(livedPlant), First: true, By: auth.Local(""),
	}); err != nil {
		t.Fatal(err)
	}
	p.pass()
	p.told = p.began
	p.kiln = p.write("POST", "/quick-schedule", `{"stationCode":"KILN","skuCode":"BOWL","initials":"ABC"}`)["id"].(string)
	return p
}

func (p *plantLife) now() time.Time { return time.UnixMilli(p.clock.Load()).UTC() }

func (p *plantLife) open() {
	a, err := Open(p.cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		p.t.Fatal(err)
	}
	p.App = a
}

// restart closes the App and opens it again.
func (p *plantLife) restart() {
	p.t.Helper()
	if err := p.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.open()
	p.pass()
}

// pass lets the floor work until it has computed all that came.
func (p *plantLife) pass() {
	p.t.Helper()
	for turn := 0; ; turn++ {
		if err := p.services.Floor.Pass("northgate"); err != nil {
			p.t.Fatal(err)
		}
		if p.services.Floor.Health("northgate").Late == 0 {
			return
		}
		if turn == 200 {
			p.t.Fatal("a station stays late")
		}
		p.clock.Add(time.Second.Milliseconds())
	}
}

// ask asks the App, as the machine's administrator.
func (p *plantLife) ask(method, path, body string) (status int, answer []byte) {
	p.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	p.Local().ServeHTTP(w, r)
	b, err := io.ReadAll(w.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return w.Code, b
}

// get reads what there is.
func (p *plantLife) get(path string, query url.Values) string {
	p.t.Helper()
	status, b := p.ask("GET", path+"?"+query.Encode(), "")
	if status != http.StatusOK {
		p.t.Fatalf("GET %s?%s: %d %s", path, query.Encode(), status, b)
	}
	return string(b)
}

// write does something that has to be taken, and returns its result.
func (p *plantLife) write(method, path, body string) map[string]any {
	p.t.Helper()
	status, b := p.ask(method, path, body)
	var answer struct {
		Result  map[string]any
		Results []struct {
			Accepted bool
			Issue    string
		}
	}
	if status == http.StatusOK {
		if err := json.Unmarshal(b, &answer); err != nil {
			p.t.Fatal(err)
		}
	}
	for _, item := range answer.Results {
		if !item.Accepted {
			p.t.Fatalf("at %v %s %s: %s", p.now(), method, path, item.Issue)
		}
	}
	if status >= 300 {
		p.t.Fatalf("at %v %s %s %.300s: %d %s", p.now(), method, path, body, status, b)
	}
	return answer.Result
}

// send sends what the machines have to tell of a stretch of time that is over: a sign of life each half hour.
func (p *plantLife) send(from, to time.Time) {
	p.t.Helper()
	var list []string
	for at := from; at.Before(to); at = at.Add(30 * time.Minute) {
		n := max(at.Sub(p.began)/(30*time.Minute), 0)
		list = append(list,
			fmt.Sprintf(`{"stationCode":"PRESS","at":%q,"id":"p%d","productive":%v,"productionCompleteGood":%d}`,
				at.Format(stamp), n, at.Hour() != 13, 20+n%7),
			fmt.Sprintf(`{"stationCode":"KILN","at":%q,"id":"k%d","productive":true,"productionCompleteGood":%d}`,
				at.Format(stamp), n, n%5),
			fmt.Sprintf(`{"stationCode":"METER","at":%q,"electricalKwh":%d}`, at.Format(stamp), 3*n))
	}
	p.write("POST", "/signal", `{"signals":[`+strings.Join(list, ",")+`]}`)
	p.pass()
}

// day lives through a day: machines send, people start and end, enter, report and say, somebody signs in, now and then the
// price of electricity changes or a day is put right, and at its end comes the upkeep.
func (p *plantLife) day() {
	p.t.Helper()
	start := p.began.AddDate(0, 0, p.days)
	until := func(hour int) {
		from, to := p.told, start.Add(time.Duration(hour)*time.Hour)
		p.told = to
		p.clock.Store(to.UnixMilli())
		p.send(from, to)
	}
	until(6)
	running := p.write("POST", "/quick-schedule", fmt.Sprintf(`{"stationCode":"PRESS","skuCode":"BOWL","initials":"ABC","at":%q}`,
		p.told.Format(stamp)))["id"].(string)
	if p.days%10 == 9 && p.days < changeDays {
		p.write("POST", "/account", fmt.Sprintf(`{"electricalPricePerKwh":0.%d}`, 20+p.days%70))
	}
	until(12)
	p.write("POST", "/message", `{"stationCode":"PRESS","text":"The feeder jams","initials":"ABC"}`)
	p.write("POST", "/issue", fmt.Sprintf(`{"stationCode":"PRESS","startAt":%q,"endAt":%q,"causeCode":"JAM","initials":"ABC"}`,
		start.Add(8*time.Hour).Format(stamp), start.Add(9*time.Hour).Format(stamp)))
	until(18)
	p.write("POST", "/production", fmt.Sprintf(`{"stationCode":"PRESS","good":7,"bad":2,"initials":"ABC","at":%q}`,
		p.told.Format(stamp)))
	p.write("POST", "/schedule/"+running+"/end", fmt.Sprintf(`{"initials":"ABC","at":%q}`, p.told.Format(stamp)))
	if _, err := p.services.Auth.Login(auth.LoginRequest{Destination: "it@northgate.example", Address: "10.0.0.9"}); err != nil {
		p.t.Fatal(err)
	}
	until(24)
	if p.days%15 == 14 && p.days < changeDays {
		p.write("POST", "/correction", fmt.Sprintf(
			`{"stationCodes":["PRESS"],"from":%q,"to":%q,"changes":{"station":{"idleCostPerMinute":%d}},"note":"n"}`,
			start.Format(stamp), start.Add(12*time.Hour).Format(stamp), p.days))
		p.pass()
	}
	p.days++
	if err := p.services.Signals.Pack(); err != nil {
		p.t.Fatal(err)
	}
	if err := p.upkeep(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// seen is what the App shows of a day, by what was asked for.
func (p *plantLife) seen(day int) map[string]string {
	p.t.Helper()
	from := p.began.AddDate(0, 0, day)
	in := url.Values{"from": {from.Format(stamp)}, "to": {from.AddDate(0, 0, 1).Format(stamp)}}
	all := map[string]string{}
	for _, path := range []string{"/oee", "/energy", "/pareto", "/production", "/issue", "/task"} {
		all[path] = p.get(path, in)
	}
	in.Set("stationcodes", "PRESS")
	all["/schedule of PRESS"] = p.get("/schedule", in)
	in.Del("stationcodes")
	in.Set("by", "station,sku")
	all["/oee by station"] = p.get("/oee", in)
	return all
}

// live lives through n days and notes what is shown of each a day after its end.
func (p *plantLife) live(n int, shown map[int]map[string]string) {
	p.t.Helper()
	for range n {
		p.day()
		if over := p.days - 2; over >= 0 && shown != nil {
			shown[over] = p.seen(over)
		}
	}
}

// same checks that days are shown as they were.
func (p *plantLife) same(when string, first, last int, want map[int]map[string]string) {
	p.t.Helper()
	for day := first; day <= last; day++ {
		if diff := cmp.Diff(want[day], p.seen(day)); diff != "" {
			p.t.Errorf("%s: day %d of %d is shown in another way (-before +now):\n%.1500s", when, day, p.days, diff)
			return
		}
	}
}

// total is how many of something there are on a day.
func (p *plantLife) total(path string, day int, more url.Values) int {
	p.t.Helper()
	from := p.began.AddDate(0, 0, day)
	in := url.Values{"from": {from.Format(stamp)}, "to": {from.AddDate(0, 0, 1).Format(stamp)}}
	maps.Copy(in, more)
	var list struct {
		Results []any
		Paging  *struct{ TotalElements int }
	}
	if err := json.Unmarshal([]byte(p.get(path, in)), &list); err != nil {
		p.t.Fatal(err)
	}
	if list.Paging == nil {
		return len(list.Results)
	}
	return list.Paging.TotalElements
}

// whole checks that all in the store can be read, and that nothing refers to what is gone.
func (p *plantLife) whole() {
	p.t.Helper()
	if err := p.Check(func(problem string) { p.t.Error(problem) }); err != nil {
		p.t.Error(err)
	}
}

// TestRetention lives through more time than anything is kept for, years of it in the long form: what is younger than its
// retention is there and shown as it was, also after a restart and when it is computed again; what is older is gone, but
// for what goes on and what is referred to; and the store's file does not grow any more.
func TestRetention(t *testing.T) {
	apptest.Long(t)
	p, shown := newPlantLife(t), map[int]map[string]string{}
	var sizes []int64
	for range 10 {
		p.live(retentionDays/10, shown)
		sizes = append(sizes, p.store.Size())
	}
	n := p.days
	t.Logf("%d days; KiB by tenths of them: %v", n, kib(sizes))
	if before, after := sizes[5], sizes[9]; after > before+before/10 {
		t.Errorf("the store grew from %d KiB to %d KiB in %d days", before>>10, after>>10, n*4/10)
	}

	p.same("in the end", n-windowDays, n-2, shown)
	p.whole()
	station := url.Values{"stationcode": {"PRESS"}}
	press := url.Values{"stationcodes": {"PRESS"}}
	kept := func(what string, retention int, got func(day int) int, want int) {
		t.Helper()
		for day := range n {
			want := want
			if day < n-retention {
				want = 0
			}
			if got := got(day); got != want {
				t.Errorf("%s: %d are there of day %d of %d, want %d", what, got, day, n, want)
				return
			}
		}
	}
	kept("signals", signalDays, func(day int) int { return p.total("/signal", day, station) }, 48)
	kept("entries", windowDays, func(day int) int { return p.total("/production", day, nil) }, 1)
	kept("issues", windowDays, func(day int) int { return p.total("/issue", day, nil) }, 3)
	hour := url.Values{"resolution": {"hour"}}
	kept("hours", windowDays, func(day int) int { return p.total("/station-window", day, hour) }, 48)
	kept("schedules", windowDays+signalDays, func(day int) int { return p.total("/schedule", day, press) }, 1)
	kept("Tasks", taskDays, func(day int) int { return p.total("/task", day, nil) }, 2)
	if got := p.total("/message", 0, nil); got != 31 {
		t.Errorf("%d messages are there, want those of 31 days", got)
	}
	kept("audit", auditDays, func(day int) int { return min(p.total("/audit", day, nil), 1) }, 1)
	if got, want := p.total("/account/manifest/revisions", 0, nil), 1+min(n, changeDays)/10; got != want {
		t.Errorf("%d revisions are there, want %d", got, want)
	}
	for revision := 1; revision <= 1+min(n, changeDays)/10; revision++ {
		p.get(fmt.Sprint("/account/manifest/revisions/", revision), nil)
	}
	units := 0
	for half := range n * 48 {
		units += half % 5
	}
	kiln := func(when string) {
		t.Helper()
		var list struct {
			Results []struct {
				Schedule struct {
					ID        string
					GoodCount float64
				}
			}
		}
		if err := json.Unmarshal([]byte(p.get("/station", url.Values{"stationcodes": {"KILN"}})), &list); err != nil {
			t.Fatal(err)
		}
		if got := list.Results[0].Schedule; got.ID != p.kiln || got.GoodCount != float64(units) {
			t.Errorf("%s: the schedule that has run since day 0 is %+v, want %s with %d units", when, got, p.kiln, units)
		}
	}
	kiln("in the end")

	p.restart()
	p.same("after a restart", n-windowDays, n-2, shown)
	kiln("after a restart")

	// What came of days of which all signals are kept is computed again, from the state before them.
	day := n - signalDays + 2
	first := p.began.AddDate(0, 0, day)
	if err := p.store.Update(func(tx *kv.Tx) error {
		for _, code := range []string{"PRESS", "KILN", "METER"} {
			if err := p.services.History.Forget(tx, "northgate", code, first.Add(time.Minute).UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	p.restart()
	p.same("computed again", n-windowDays, n-2, shown)
	kiln("computed again")

	// A signal of the first of these days changes that day and nothing else; one that is older than any is refused.
	late := func(at time.Time) string {
		_, b := p.ask("POST", "/signal", fmt.Sprintf(
			`{"signals":[{"stationCode":"PRESS","at":%q,"id":"late","productionCompleteGood":500}]}`, at.Format(stamp)))
		p.pass()
		return string(b)
	}
	if b := late(first.Add(-49 * time.Hour)); !strings.Contains(b, `"accepted":false`) {
		t.Errorf("a signal of day %d of %d: %s", n-signalDays-1, n, b)
	}
	p.same("after a signal that came too late", n-windowDays, n-2, shown)
	if b := late(first.Add(5 * time.Hour)); !strings.Contains(b, `"accepted":true`) {
		t.Errorf("a signal of day %d of %d: %s", day, n, b)
	}
	if was, is := shown[day]["/oee"], p.seen(day)["/oee"]; good(t, is) != good(t, was)+500 {
		t.Errorf("a late signal of 500 units makes %v good units of %v", good(t, is), good(t, was))
	}
	p.same("after a late signal", n-windowDays, day-1, shown)
	p.same("after a late signal", day+1, n-2, shown)
	p.whole()
}

// good reads the good units of an answer of GET /oee with one row.
func good(t *testing.T, answer string) float64 {
	t.Helper()
	var oee struct {
		Results []struct{ ProductionGoodCount float64 }
	}
	if err := json.Unmarshal([]byte(answer), &oee); err != nil || len(oee.Results) != 1 {
		t.Fatalf("%v: %s", err, answer)
	}
	return oee.Results[0].ProductionGoodCount
}

// TestClockJumpsOfAPlant checks that a clock which is wrong for some hours, a year ahead or some days back, removes nothing, with
// and without a restart meanwhile. Once it is set right, the plant goes on as one whose clock was never wrong: the days before
// and after show the same, and the stations are live.
func TestClockJumpsOfAPlant(t *testing.T) {
	apptest.Long(t)
	const before, after = 10, 4
	straight, right := newPlantLife(t), map[int]map[string]string{}
	straight.live(before+after, right)
	for _, c := range []struct {
		name     string
		by       time.Duration
		restarts bool
	}{
		{"ahead", 365 * 24 * time.Hour, false},
		{"ahead, with a restart", 365 * 24 * time.Hour, true},
		{"back", -3 * 24 * time.Hour, false},
		{"back, with a restart", -3 * 24 * time.Hour, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, shown := newPlantLife(t), map[int]map[string]string{}
			p.live(before, shown)
			restart := func() {
				if c.restarts {
					p.restart()
				}
			}
			midnight := p.clock.Load()
			p.clock.Add(c.by.Milliseconds())
			restart()
			for range 5 { // gateways take their time from the PC
				p.send(p.now(), p.now().Add(time.Minute))
				p.clock.Add(time.Hour.Milliseconds())
				if err := p.upkeep(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			p.clock.Store(midnight)
			restart()
			p.clock.Add((10 * time.Minute).Milliseconds())
			p.pass()
			p.same("when the clock is right again", 0, before-2, shown)
			p.live(after, shown)
			p.same("days later", 0, before-2, shown)
			for day := before - 1; day <= before+after-2; day++ {
				if diff := cmp.Diff(anonymous(right[day]), anonymous(shown[day])); diff != "" {
					t.Errorf("day %d is not shown as where the clock was right (-right +jumped):\n%.2500s", day, diff)
				}
			}
			if got, want := liveOf(t, p), liveOf(t, straight); got != want {
				t.Errorf("the stations are %s, want %s", got, want)
			}
			p.whole()
		})
	}
}

// ids are what differs between two lives that are the same: names, and the seconds in which something was told.
var ids = regexp.MustCompile(`"(id|scheduleId|recordedAt|createdAt|updatedAt)":"[^"]*"`)

func anonymous(shown map[string]string) map[string]string {
	out := map[string]string{}
	for path, body := range shown {
		out[path] = ids.ReplaceAllString(body, `"$1":""`)
	}
	return out
}

// liveOf is how the stations are shown.
func liveOf(t *testing.T, p *plantLife) string {
	t.Helper()
	var list struct {
		Results []struct {
			Code, StatusCode string
			StatusSince      string
		}
	}
	if err := json.Unmarshal([]byte(p.get("/station", nil)), &list); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(list.Results)
}

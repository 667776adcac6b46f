//go:build rig

package tablet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/simulate"
	"opsmon/app/test/browser/webtest"
)

const (
	minute = int64(time.Minute / time.Millisecond)
	hour   = 60 * minute
)

// shift is a simulated shift: machines send signals, an operator works at the tablet, and the test sets the clock of
// both.
type shift struct {
	t     *testing.T
	s     *webtest.Service
	line  *webtest.Line
	clock *webtest.Clock
	h     hand
	from  int64 // ms
	at    int64 // ms; the machines' signals are sent up to here
	rough bool  // the network is cut, and the service is restarted
	told  []string
}

// counted returns a plant whose machines count, six units a minute; two minutes without one are a stop.
func counted() []byte {
	return plant(func(account, group object) {
		group["stations"].([]object)[0]["downtimeDetectionMode"] = "production"
		delete(account, "enableManualProduction")
		account["plants"].([]object)[0]["dayStartHour"] = 0 // the simulated shift is within one day
		for _, sku := range account["skus"].([]object) {
			sku["unitsPerMinute"], sku["downtimeDurationThresholdMultiplier"] = 6, 12
		}
	})
}

// startShift starts a shift on its own service.
func startShift(t *testing.T, from int64, rough bool) *shift {
	t.Helper()
	x := &shift{t: t, clock: new(webtest.Clock), from: from, at: from, rough: rough}
	x.clock.Set(from)
	x.s = webtest.Serve(t, webtest.Options{Manifest: counted(), Clock: x.clock})
	x.line = webtest.NewLine(t, x.s)
	x.h = hand{webtest.Open(t, x.line.Base, webtest.TabletTall)}
	// The tablet uses the test's clock, which is in the page's storage so that reloaded pages have it.
	x.h.Before(`{
		const real = Date.now;
		Date.now = () => { try { return Number(localStorage.getItem("played")) || real(); } catch { return real(); } };
	}`)
	x.h.Visit("/signin")
	x.h.Eval(fmt.Sprintf(`localStorage.setItem("played", "%d")`, from))
	x.h.Visit("/link#" + pair(x.s, "Packing", "PACK-1"))
	x.h.Until(`!document.getElementById("here")?.disabled`)
	x.h.Tab.Tap("#here")
	x.h.Until(`location.pathname === "/tablet" && document.querySelector(".t-nav")`)
	x.h.Until(`navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller !== null)`)
	return x
}

// till runs the machines up to a time of the shift, and sets the clocks to it.
func (x *shift) till(minutes int64) {
	x.t.Helper()
	to := x.from + minutes*minute
	plant, err := simulate.ReadPlant(counted())
	if err != nil {
		x.t.Fatal(err)
	}
	player := simulate.NewPlayer(simulate.PlayConfig{
		Generator: simulate.New(plant, simulate.Config{Seed: 5, Interval: 20_000, TrueClocks: true}), Send: x.send, From: x.at, Until: to, Stations: []string{"PACK-1"},
		Step: 100_000, Patience: time.Minute, Clock: x.clock.Set, Only: func(e *simulate.Event) bool { return e.Act == nil },
	})
	if err := player.Play(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
	x.at = to
	x.clock.Set(to)
	x.h.Eval(fmt.Sprintf(`localStorage.setItem("played", "%d")`, to))
	// The two clocks are not set at the same moment, and an answer in between shows a difference to the page.
	x.h.Eval(`import(new URL("../shared/api.js", document.querySelector('script[type="module"]').src).href).then((m) => m.get("/health", { signal: AbortSignal.timeout(5000) })).catch(() => {})`)
}

func (x *shift) send(ctx context.Context, in simulate.Request) (simulate.Answer, error) {
	req, err := http.NewRequestWithContext(ctx, in.Method, x.s.Base+in.Path+"?"+in.Query.Encode(), bytes.NewReader(in.Body))
	if err != nil {
		return simulate.Answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-API-KEY", x.s.Key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return simulate.Answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return simulate.Answer{Status: resp.StatusCode, Body: body}, err
}

// cut cuts the network if rough is set.
func (x *shift) cut() {
	if !x.rough {
		return
	}
	x.line.Cut()
	x.h.Until(`document.querySelector(".t-state.away")`)
}

// mend restores the network, and waits until all actions are sent.
func (x *shift) mend() {
	if !x.rough {
		return
	}
	x.line.Mend()
	x.h.Until(`document.querySelector(".t-state.ok")`)
}

// did waits for the result of an action on the tablet: done, or queued.
func (x *shift) did(text string) {
	x.t.Helper()
	x.h.Until(fmt.Sprintf(`(() => { const e = document.querySelector(".t-last"); return e.textContent.includes(%q) && (e.classList.contains("sent") || e.classList.contains("waiting")); })()`, text))
}

// work is the operator's work in a shift.
func (x *shift) work() {
	x.t.Helper()
	h := x.h
	plan(x.s, 5, "PACK-1", "BK-500", 0)
	x.till(6)
	h.page("next")
	h.shows(".entry", "WO-4711")
	h.do("start")
	h.in(".primary")
	h.am("KLM")
	x.did("Started BK-500")
	h.page("run")
	h.shows(".now h2", "BK-500")

	x.till(65)
	h.do("reject")
	h.key("3")
	x.did("3 rejected")
	x.till(100)
	h.page("messages")
	h.do("write")
	h.Until(`document.querySelector("dialog[open] #f-text")`)
	h.Type("#f-text", "The film runs out on Tuesday.")
	h.in("[data-do=done]")
	x.did("Message left")
	h.page("run")

	x.till(150) // offline for the first time
	x.cut()
	x.till(155)
	h.do("reject")
	h.key("2")
	x.did("2 rejected")
	x.till(160)
	h.do("down")
	h.in(`[data-reason="FILM"]`)
	x.did("Downtime: Out of film")
	x.till(172)
	h.do("up")
	h.in(".primary")
	x.did("Downtime ended")
	x.till(180)
	x.mend()

	x.till(200)
	h.page("tasks")
	h.do("complete")
	h.Until(`!document.querySelector("dialog")`)
	x.did("Done: ")
	h.page("run")

	x.till(240) // offline for the second time; the service is restarted, and the tablet loses power
	x.cut()
	x.till(243)
	h.do("end")
	h.in("footer .button:last-child")
	x.did("BK-500")
	x.till(250)
	h.do("quick")
	h.in(`[data-sku="BK-1000"]`)
	h.in("footer .primary")
	x.did("Started BK-1000")
	if x.rough {
		x.s.Stop()
		x.s.Start()
		h.Visit("/tablet")
		h.Until(`document.querySelector(".t-nav") && document.querySelector("[data-value=waiting]")?.textContent === "2"`)
	}
	x.till(265)
	h.do("reject")
	h.key("1")
	x.did("1 rejected")
	x.till(280)
	x.mend()

	x.till(330)
	h.shows(".now h2", "BK-1000")
	h.do("end")
	h.in("footer .button:last-child")
	x.did("BK-1000")
	x.till(480)
}

// figures returns all results of the shift, without the IDs that differ from run to run.
func (x *shift) figures() []string {
	x.t.Helper()
	span := fmt.Sprintf("stationcodes=PACK-1&from=%s&to=%s", stamp(x.from), stamp(x.from+8*hour))
	names, lines := map[string]string{}, []string{}
	read := func(path string, fields ...string) {
		var rows []map[string]any
		x.s.Call("GET", path, nil, &rows)
		var some []string
		for i, row := range rows {
			if id, ok := row["id"].(string); ok && strings.HasPrefix(path, "/schedule") {
				names[id] = fmt.Sprint("schedule ", i)
			}
			if len(fields) > 0 {
				kept := map[string]any{}
				for _, name := range fields {
					kept[name] = row[name]
				}
				row = kept
			}
			b, _ := json.Marshal(row) // maps are encoded in sorted order
			some = append(some, string(b))
		}
		if len(fields) > 0 {
			sort.Strings(some)
		}
		lines = append(lines, path[:4]+fmt.Sprint(len(some)))
		lines = append(lines, some...)
	}
	read("/schedule?limit=100&"+span, "stationCode", "state", "skuCode", "actualStartAt", "actualEndAt", "goodCount", "badCount", "otherCount", "unappliedEntries", "workOrderReference", "id")
	read("/production?limit=100&"+span, "effectiveAt", "good", "bad", "reject", "initials", "unapplied", "undoneBy")
	read("/issue?limit=1000&"+span, "id", "type", "startAt", "endAt", "causeCode", "uncausedMs")
	read("/task?limit=100&"+span, "taskCode", "state", "completedAt", "completedBy", "note")
	read("/message?stationcodes=PACK-1", "text", "initials", "at")
	read("/station-window?limit=1000&" + span)
	read("/oee?by=hour&" + span)
	read("/oee?by=sku&profile=vorne&" + span)
	for i := range lines {
		for id, name := range names {
			lines[i] = strings.ReplaceAll(lines[i], id, name)
		}
	}
	return lines
}

// rest waits until the figures include all signals, and records them. The clock was set to the end of the shift before
// its last signals were sent, so they may be late and count only after some time.
func (x *shift) rest(t *testing.T) {
	t.Helper()
	after := x.at + 10*minute
	for end, at := time.Now().Add(time.Minute), after; ; at += 10_000 {
		x.clock.Set(at)
		if x.computed() >= after {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the figures do not come to rest")
		}
		time.Sleep(200 * time.Millisecond)
	}
	x.told = x.figures()
	if n := webtest.Eval[int](x.h.Tab, `document.querySelectorAll("[data-refused]").length`); n > 0 {
		t.Errorf("refused: %s", x.h.Text(".t-told"))
	}
}

// computed returns the end of calculated windows, ms.
func (x *shift) computed() int64 {
	x.t.Helper()
	var account struct {
		Cursors []struct {
			Type      string
			Timestamp int64
		}
	}
	x.s.Call("GET", "/account", nil, &account)
	for _, c := range account.Cursors {
		if c.Type == "windows" {
			return c.Timestamp
		}
	}
	x.t.Fatal("the account tells nothing of its windows")
	return 0
}

func stamp(at int64) string { return time.UnixMilli(at).UTC().Format(time.RFC3339) }

// A whole shift of an operator with two network failures and a restart of the service: nothing is lost or counted
// twice, and all figures equal those of the same shift without failures.
func TestAShiftWithoutTheNetwork(t *testing.T) {
	// yesterday at six: a shift within one day at any time of the test
	from := time.Now().UTC().Truncate(24 * time.Hour).Add(-18 * time.Hour).UnixMilli()
	t.Parallel()
	var calm, rough *shift
	t.Run("played", func(t *testing.T) {
		t.Run("calm", func(t *testing.T) { t.Parallel(); calm = startShift(t, from, false); calm.work(); calm.rest(t) })
		t.Run("rough", func(t *testing.T) { t.Parallel(); rough = startShift(t, from, true); rough.work(); rough.rest(t) })
	})
	if t.Failed() || calm == nil || rough == nil { // only one was selected
		return
	}
	text := strings.Join(calm.told, "\n")
	for _, want := range []string{`"state":"completed"`, `"skuCode":"BK-1000"`, `"causeCode":"FILM"`, `"reject":2`, `"reject":3`, `"reject":1`, "Tuesday", `"completedBy":"KLM"`, `"type":"stop"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the shift has no %s", want)
		}
	}
	if diff := cmp.Diff(calm.told, rough.told); diff != "" {
		t.Errorf("with a network that failed (+) it is another shift than with one that held (-):\n%s", diff[:min(len(diff), 6000)])
	}
}

//go:build rig

package tablet_test

import (
	"testing"
	"time"

	"opsmon/app/test/browser/webtest"
)

// small8 is the screen of a cheap 8-inch tablet.
var small8 = webtest.Viewport{Width: 600, Height: 960, Scale: 2, Touch: true}

func signal(s *webtest.Service, values object) {
	values["stationCode"] = "PACK-1"
	s.Call("POST", "/signal", object{"signals": []object{values}}, nil)
}

type issue struct {
	ID, Type  string
	CauseCode *string
	EndAt     *string
}

func issues(s *webtest.Service) (list []issue) {
	s.Call("GET", "/issue?stationcodes=PACK-1&rangecode=last7d", nil, &list)
	return list
}

// cause returns the cause of the only issue of a type; "": none.
func cause(t *testing.T, s *webtest.Service, of string) string {
	t.Helper()
	for _, i := range issues(s) {
		if i.Type == of && i.CauseCode != nil {
			return *i.CauseCode
		}
	}
	return ""
}

// A stop gets its reason in two taps, from the recent ones or from the tree; downtime is reported, and ended.
func TestStopsAndDowntime(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.Call("POST", "/quick-schedule", object{"stationCode": "PACK-1", "skuCode": "BK-1000", "initials": "ABC"}, nil)
	signal(s, object{"productive": true})
	h := tablet(t, s, webtest.TabletWide, "Packing", "PACK-1")
	h.shows(".band", "Producing")
	h.Shot("producing-wide")
	signal(s, object{"productive": false})
	h.shows(".band", "Stopped")
	h.shows(".band", "No reason given")
	h.sound(t, "stopped-wide")
	h.do("reason")
	h.sound(t, "reason-wide")
	h.lacks("dialog[open] .recent")
	h.in(`[data-reason=BRK]`)
	h.sound(t, "reason-below-wide")
	h.in(`[data-reason=BRK-E]`)
	h.am("KLM")
	h.said("sent", "Reason: Electrical")
	h.shows(".band", "Electrical")
	if got := cause(t, s, "stop"); got != "BRK-E" {
		t.Errorf("the cause is %q", got)
	}
	signal(s, object{"productive": true})
	h.shows(".band", "Producing")
	time.Sleep(20 * time.Millisecond) // so that the next stop has another start
	signal(s, object{"productive": false})
	h.shows(".band", "No reason given")
	h.do("reason") // the two taps
	h.in(`.recent [data-reason=BRK-E]`)
	h.shows(".band", "Electrical")
	h.page("stops")
	h.shows("main", "Every stop of the last 12 hours has its reason")
	h.sound(t, "stops-wide")
	h.tap(`.entry [data-do=reason]`)
	h.in(`[data-reason=FILM]`)
	h.shows(".entry", "Out of film")
	h.page("run")
	h.do("down")
	h.sound(t, "down-wide")
	h.in(`[data-reason=FILM]`)
	h.said("sent", "Downtime: Out of film")
	h.shows(".band", "Manual downtime")
	h.Until(`document.querySelector("[data-do=up]")`)
	h.do("up")
	h.in(".primary")
	h.said("sent", "Downtime ended")
	h.lacks("[data-do=up]")
	manual := 0
	for _, i := range issues(s) {
		if i.Type == "manual" && i.EndAt != nil && *i.CauseCode == "FILM" {
			manual++
		}
	}
	if manual != 1 {
		t.Errorf("%d downtimes: %v", manual, issues(s))
	}
	h.Clean()
}

// If the machine counts, entries do not count: the page says so before, and does not show them as counted.
func TestTheMachineCounts(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.Call("POST", "/quick-schedule", object{"stationCode": "PACK-1", "skuCode": "BK-1000", "plannedQuantity": 8, "initials": "ABC"}, nil)
	signal(s, object{"productive": true, "productionCompleteGood": 4})
	h := tablet(t, s, small8, "Packing", "PACK-1")
	h.shows("[data-value=good]", "4")
	h.do("good")
	h.shows("dialog[open] .notice", "The machine counts here")
	h.key("5")
	h.am("KLM")
	h.said("sent", "5 good")
	h.shows("[data-do=undo]", "5 good")
	h.do("bad")
	h.key("1")
	h.said("sent", "1 scrap")
	h.shows("[data-value=bad]", "1")
	if got := h.Text("[data-value=good]"); got != "4" {
		t.Errorf("%s are counted", got)
	}
	h.do("reject") // of the counted units
	h.shows("dialog[open] .entered-hint", "Of 4 good units.")
	h.key("1")
	h.shows("[data-value=good]", "3")
	h.shows("[data-value=bad]", "2")
	h.shows("[data-do=undo]", "1 rejected")
	signal(s, object{"productionCompleteGood": 5})
	h.shows("[data-value=good]", "8")
	h.shows("[data-do=end]", "End") // the quantity is reached: no longer a cut short
	h.sound(t, "machine-small")
	s.Call("POST", "/account", object{"enableRejectProduction": "off"}, nil)
	h.lacks("[data-do=undo]") // undoing a reject requires the flag of rejects
	h.Clean()
}

// Unplanned schedules can be started, also a break during another one; a schedule of another station of the group can
// be moved here.
func TestQuickStartAndTheGroup(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	other := plan(s, 30, "PACK-2", "BK-500", 0)
	plan(s, 5, "PACK-2", "CAKE", 10)
	h := tablet(t, s, small8, "Packing", "PACK-1")
	h.do("quick")
	h.lacks(`dialog[open] [data-sku="BK-500"]`) // not allowed here
	h.sound(t, "quick-small")
	h.in(`[data-sku="BK-1000"]`)
	h.in(`[data-do=quantity]`)
	h.sound(t, "quantity-small")
	h.key("250")
	h.Type("dialog[open] #f-order", "WO-9")
	h.sound(t, "quick-sku-small")
	h.in(".primary")
	h.am("Åse7")
	h.said("sent", "Started BK-1000")
	h.shows(".now-count", "of 250")
	h.shows(".now-order", "WO-9")
	h.do("quick")
	h.in("[data-do=reasons]")
	h.in("[data-reason=BREAK]")
	h.in(".primary")
	h.shows(".pause", "Break")
	h.shows(".pause", "BK-1000 pauses")
	h.sound(t, "pause-small")
	h.shows("[data-do=end]", "Break")
	h.do("end")
	h.in(".primary, dialog[open] .danger")
	h.lacks(".pause")
	h.page("next")
	h.shows("main", "At other stations of Packing")
	h.shows(".entry", "It cannot run at this station")
	h.sound(t, "next-group-small")
	h.tap(`[data-schedule="` + other + `"] [data-do=start]`)
	h.shows("dialog[open]", "BK-1000 is running")
	h.shows("dialog[open]", "it moves here")
	h.in(".primary")
	h.said("sent", "Started BK-500")
	h.page("run")
	h.shows(".now h2", "BK-500")
	var now struct{ State, StationCode string }
	if s.Call("GET", "/schedule/"+other, nil, &now); now.State != "running" || now.StationCode != "PACK-1" {
		t.Errorf("the schedule is %s at %s", now.State, now.StationCode)
	}
	h.Clean()
}

// Tasks are completed, with notes if required; a list is started by hand; messages are written, read and done.
func TestTasksAndMessages(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.Call("POST", "/quick-schedule", object{"stationCode": "PACK-1", "skuCode": "BK-1000", "initials": "ABC"}, nil)
	s.Call("POST", "/message", object{"stationCode": "PACK-1", "text": "The feeder jams: run it at 80 %", "initials": "ABC"}, nil)
	h := tablet(t, s, webtest.TabletTall, "Packing", "PACK-1")
	h.shows("[data-page=tasks] .badge", "2")
	h.shows("[data-page=messages] .badge", "1")
	h.page("tasks")
	h.shows(".entry", "Check the guards")
	h.sound(t, "tasks")
	h.tap(`.entry [aria-label="Done: Check the guards"]`)
	h.am("KLM")
	h.said("sent", "Done: Check the guards")
	h.tap(`.entry [aria-label="Done: Weigh three packs"]`)
	h.Until(`document.querySelector("dialog[open] [data-do=done]").disabled`)
	h.sound(t, "notes")
	h.Type("dialog[open] #f-text", "1002, 998, 1001 g")
	h.in("[data-do=done]")
	h.said("sent", "Done: Weigh three packs")
	h.shows("main", "No Task waits here")
	h.tap(`[data-list=clean] [data-do=start-list]`)
	h.in(".primary")
	h.shows(".entry h3", "Wipe the belt")
	h.Until(`document.querySelector("[data-list=clean] button").disabled`)
	h.tap(`.entry [aria-label="Done with notes: Wipe the belt"]`)
	h.Type("dialog[open] #f-text", "worn")
	h.in("[data-do=done]")
	h.Until(`!document.querySelector("[data-list=clean] button").disabled`)
	var tasks []struct{ TaskCode, State, CompletedBy, Note string }
	s.Call("GET", "/task?stationcode=PACK-1&state=completed", nil, &tasks)
	notes := map[string]string{}
	for _, task := range tasks {
		notes[task.TaskCode] = task.CompletedBy + ": " + task.Note
	}
	if notes["guards"] != "KLM: " || notes["weigh"] != "KLM: 1002, 998, 1001 g" || notes["belt"] != "KLM: worn" {
		t.Errorf("done: %v", notes)
	}
	h.page("messages")
	h.shows(".entry", "run it at 80 %")
	h.sound(t, "messages")
	h.do("settle")
	h.shows(".entry.done", "done by KLM")
	h.do("write")
	h.Type("dialog[open] #f-text", "الفيلم الأزرق ينفد")
	h.sound(t, "write")
	h.in("[data-do=done]")
	h.shows(".entry:not(.done)", "الفيلم")
	h.Clean()
}

package floor

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"opsmon/app/deliver/event"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/station"
	"opsmon/kv"
)

// StatusCode is the name of a monitor.Status.
//
//openapi:as {"type": "string", "enum": ["disconnected", "manualDowntime", "downtime", "nonProduction", "slow", "productive",
//openapi:and "idle", "unscheduled", "outOfShift"]}
type StatusCode string

// Status is a station as it is now.
//
// See monitoring.md sections 3 and 8.
//
//openapi:schema StationStatus
type Status struct {
	StationCode string `json:"stationCode"`
	Name        string `json:"name"`
	PlantCode   string `json:"plantCode"`
	GroupCode   string `json:"groupCode"`
	// The first of these that fits.
	StatusCode StatusCode `json:"statusCode"`
	// Since when; null: noSignalYet.
	StatusCodeUpdatedAt *string `json:"statusCodeUpdatedAt" schema:"ref=Moment"`
	// It is disconnected because no device has ever sent anything of it.
	NoSignalYet bool `json:"noSignalYet"`
	// There was a sign of life lately.
	IsAlive          bool    `json:"isAlive"`
	OperatorInitials *string `json:"currentOperatorInitials"` // who works there; null: nobody
	// When that was said last; null: nobody.
	OperatorSince *string `json:"currentOperatorSince" schema:"ref=Moment"`
	// What all should see; null: nothing.
	AlertMessage *string `json:"alertMessage"`
	// Until when it is shown; null: until it is taken down.
	AlertExpiresAt *string `json:"alertExpiresAt" schema:"ref=Moment"`
	// The shown speed; null: not known.
	LineSpeed *float64 `json:"lineSpeed"`
	// The schedule's, else the SKU's, else the station's.
	LineSpeedTarget *float64 `json:"lineSpeedTarget"`
	// The production schedule that runs.
	Schedule *RunningStatus `json:"schedule"`
	// The non-production schedule that runs, and pauses the other.
	NonProduction *RunningStatus `json:"nonProductionSchedule"`
	// The stops and slow periods that go on.
	Issues []IssueStatus `json:"issues"`
	// The shift that goes on, so far; null: out of shift, or nothing is captured there.
	Shift    *ShiftStatus `json:"shift"`
	Archived bool         `json:"archived"` // it has left the manifest, and this is how it was last
	// Grows with each change; the same one shows the same everywhere.
	Sequence uint64 `json:"sequence"`
}

// RunningStatus is a schedule that runs.
//
//openapi:schema RunningSchedule
type RunningStatus struct {
	ID              string   `json:"id"`
	SKUCode         *string  `json:"skuCode"`
	ReasonCode      *string  `json:"reasonCode"`
	WorkOrder       *string  `json:"workOrderReference"`
	PlannedQuantity *float64 `json:"plannedQuantity"` // units; null: none planned
	GoodCount       float64  `json:"goodCount"`       // units recorded so far
	BadCount        float64  `json:"badCount"`
	// Units due by the last full minute, by the rate in the schedule's known time; null: there is no rate.
	IdealCount  *float64 `json:"idealCount"`
	TargetCount *float64 `json:"targetCount"` // the same without downtime
	// Good units that operators enter are counted; otherwise the machine counts, and what they enter is kept and not
	// added.
	CountedByHand bool `json:"countedByHand"`
}

// IssueStatus is a stop, slow period or manual downtime that goes on.
//
//openapi:schema OpenIssue
type IssueStatus struct {
	ID        string  `json:"id"`
	Type      string  `json:"type" schema:"enum=stop|slow|manual"`
	StartAt   string  `json:"startAt" schema:"ref=Moment"`
	CauseCode *string `json:"causeCode"` // null: not known
}

// Instant returns a moment, ms, as answers carry it.
func Instant(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func orNull[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

// Status returns a live station as answers and events carry it.
func (l *Live) Status() Status { return l.status }

// noSignalYet reports whether a station is disconnected because nothing was ever heard of it: since no moment, then.
func noSignalYet(v *monitor.View) bool { return v.Status == monitor.StatusDisconnected && !v.Heard }

func statusOf(s *station.Station, v *monitor.View, note station.Note) Status {
	st := Status{
		StationCode: s.Code, Name: s.Name, PlantCode: s.Plant.Code, GroupCode: s.Group.Code,
		StatusCode: StatusCode(v.Status.String()), NoSignalYet: noSignalYet(v), IsAlive: v.Alive,
		LineSpeedTarget: orNull(s.Monitor.LineSpeedTarget), Issues: []IssueStatus{}, Archived: s.Archived,
	}
	if !st.NoSignalYet {
		st.StatusCodeUpdatedAt = orNull(Instant(v.Since))
	}
	st.OperatorInitials, st.AlertMessage = orNull(note.OperatorInitials), orNull(note.AlertMessage)
	if note.OperatorInitials != "" {
		st.OperatorSince = orNull(Instant(note.OperatorSince))
	}
	if note.AlertExpiresAt != 0 {
		st.AlertExpiresAt = orNull(Instant(note.AlertExpiresAt))
	}
	if v.SpeedKnown {
		st.LineSpeed = &v.Speed
	}
	for i := range v.Running {
		r := &v.Running[i]
		run := &RunningStatus{ID: r.ID, SKUCode: orNull(r.SKU), ReasonCode: orNull(r.Reason), WorkOrder: orNull(r.WorkOrder), PlannedQuantity: orNull(r.Quantity), GoodCount: float64(r.Good) / monitor.Micro, BadCount: float64(r.Bad) / monitor.Micro, CountedByHand: r.Manual}
		if r.NonProduction {
			st.NonProduction = run
			continue
		}
		if r.HasRate {
			run.IdealCount, run.TargetCount = &r.Ideal, &r.Target
		}
		st.Schedule = run
		sku, _ := s.Monitor.SKU(r.SKU, v.Now)
		if target := cmpOr(r.LineSpeedTarget, sku.LineSpeedTarget); target != 0 {
			st.LineSpeedTarget = &target
		}
	}
	for i := range v.Open {
		issue := &v.Open[i]
		st.Issues = append(st.Issues, IssueStatus{ID: IssueID(s.Code, issue), Type: issue.Type.String(), StartAt: Instant(issue.Start), CauseCode: orNull(issue.Cause)})
	}
	return st
}

func cmpOr(a, b float64) float64 {
	if a != 0 {
		return a
	}
	return b
}

// IssueID names an issue of a station within its account.
func IssueID(stationCode string, i *monitor.Issue) string {
	return stationCode + "." + monitor.IssueID(i.Type, i.Start)
}

// shown is what watchers know of a tracker.
type shown struct {
	Status
	digest [sha256.Size]byte // of it as JSON, but for the sequence; zero: nothing was shown yet
}

// still is what a station was shown by that is silent, and at which nothing goes on: nothing of it changes before the
// minute is over, unless one of these does, or it takes something in.
type still struct {
	station *station.Station // nil: something goes on
	note    station.Note
	minute  int64 // ms
}

// showEvery is how often a tracker is looked at to which nothing came: time alone changes it. showPause is how soon
// after one look at a tracker that goes on taking things in the next one follows. Both ms.
const (
	showEvery = 2000
	showPause = 300
	// answerAge is how old the live fields of an answer may be (monitoring.md section 10: a second), less what it takes
	// to send it.
	answerAge = 800
)

// show tells watchers when a tracker has changed. It is the worker's.
func (wk *worker) show(tr *tracker, now int64) {
	s := wk.plan().Of(tr.code)
	if s == nil {
		return
	}
	if err := wk.look(tr, s, now, showEvery, showEvery); err != nil {
		tr.mu.Lock()
		tr.markLate(tr.watermark - hour)
		tr.mu.Unlock()
		wk.trouble("a station has stopped counting; it is computed again", err)
	}
}

// look brings what is shown of a tracker up to a moment: who looks first tells the others, so that what an answer shows
// with a sequence number is what every watcher sees with it. Any goroutine may do so. What time alone changes may be
// age old, ms; of a tracker with very much that is not kept (heavyFrom) the sums of its shift may be rest old. Error:
// the tracker cannot be computed.
func (wk *worker) look(tr *tracker, s *station.Station, now, age, rest int64) error {
	tr.showing.Lock()
	defer tr.showing.Unlock()
	note := wk.f.cfg.Notes(wk.account, tr.code, now)
	as := still{s, note, now - mod(now, minute)}
	if tr.still == as && !tr.tookIn() {
		return nil
	}
	g, ok, err := tr.glimpse(now, age)
	if err != nil || !ok {
		return err
	}
	if g.heavy {
		g.rest = rest
	}
	tr.soFar.stale = tr.soFar.stale || g.took
	if g.rated != 0 && g.rated < tr.soFar.until {
		tr.soFar.until = 0 // it is to be added up again, and at once
	}
	v := g.View
	v.Outputs, v.Open = monitor.Outputs{}, slices.Clone(g.Open) // what is shown points into it
	if err := wk.name(tr.code, v.Open, now); err != nil {
		wk.trouble("what people said of a stop that goes on cannot be read", err)
	}
	tr.mu.Lock()
	tr.seen = v
	tr.mu.Unlock()
	tr.still = still{}
	st := statusOf(s, &v, note)
	if st.Shift, err = wk.shift(tr, s, &g); err != nil {
		wk.trouble("the shift so far cannot be read", err)
	}
	if v.Status == monitor.StatusDisconnected && len(v.Running) == 0 && len(v.Open) == 0 && !g.rested {
		tr.still = as
	}
	body, err := json.Marshal(&st)
	if err != nil {
		return err
	}
	body = body[:len(body)-len("0}")] // its sequence number follows
	digest := sha256.Sum256(body)
	tr.mu.Lock()
	was := tr.shown.digest
	tr.mu.Unlock()
	if digest == was {
		return nil
	}
	news := tr.differ(&g.View, g.Open)
	if was == ([sha256.Size]byte{}) { // nothing changed: it is seen for the first time since the start
		st.Sequence, news = wk.f.cfg.Events.Last(), nil
	} else {
		st.Sequence = wk.f.cfg.Events.Tell(wk.account, func(sequence uint64) event.Event {
			data := strconv.AppendUint(slices.Clip(body), sequence, 10)
			return event.Event{At: now, Type: event.Station, Station: tr.code, Data: append(data, '}')}
		})
	}
	tr.mu.Lock()
	tr.shown = shown{Status: st, digest: digest}
	tr.mu.Unlock()
	wk.tellIssues(tr.code, news, g.Now)
	return nil
}

// tookIn reports whether the tracker took something in since it was last looked at.
func (tr *tracker) tookIn() bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.touched
}

// glimpse shows the tracker at a moment; false when nothing came since it was looked at, less than age before, ms.
func (tr *tracker) glimpse(now, age int64) (g glimpse, ok bool, err error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if !tr.touched && now-tr.seenAt < age && now >= tr.seenAt {
		return g, false, nil
	}
	if g.View, err = tr.view(now); err != nil {
		return g, false, err
	}
	g.took = tr.touched
	g.heavy = tr.settled.count()+len(tr.fresh.Segments) > heavyFrom
	g.rated, tr.rated = tr.rated, 0
	tr.touched, tr.seenAt = false, now
	g.trackerState = tr.is()
	return g, true, nil
}

// name gives issues that go on the causes that people found, in place of the machine's: of one that is split, that of
// the part which goes on. The caller does not hold the tracker's mu.
func (wk *worker) name(code string, open []monitor.Issue, now int64) error {
	if len(open) == 0 {
		return nil
	}
	return wk.f.cfg.Store.View(func(tx *kv.Tx) error {
		findings, err := wk.f.cfg.Findings(tx, wk.account, code, open)
		for i := range open {
			for _, f := range findings {
				if f.Type == open[i].Type && f.Issue == open[i].Start && f.Cause != "" && f.Start <= now && now < f.End {
					open[i].Cause = f.Cause
				}
			}
		}
		return err
	})
}

// differ compares the issues that go on with those that watchers know of, and gives those that began or ended since.
// Manual downtime is left out: who says that it begins or ends tells of it. The caller holds showing.
func (tr *tracker) differ(v *monitor.View, open []monitor.Issue) (news []monitor.Issue) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	was := tr.open
	tr.open = map[string]monitor.Issue{}
	for _, i := range open {
		if i.Type == monitor.IssueManual {
			continue
		}
		id := IssueID(tr.code, &i)
		tr.open[id] = i
		if _, known := was[id]; !known {
			news = append(news, i)
		}
		delete(was, id)
	}
	for id, i := range was {
		i.End = v.Now
		for _, list := range [][]monitor.Issue{tr.settled.Issues, tr.fresh.Issues, v.Issues} {
			for k := range list {
				if IssueID(tr.code, &list[k]) == id {
					i = list[k]
				}
			}
		}
		news = append(news, i)
	}
	return news
}

// tellIssues tells watchers of issues that began or ended.
func (wk *worker) tellIssues(code string, news []monitor.Issue, now int64) {
	if len(news) == 0 || wk.f.cfg.Issue == nil {
		return
	}
	err := wk.f.cfg.Store.View(func(tx *kv.Tx) error {
		for _, i := range news {
			data, err := wk.f.cfg.Issue(tx, wk.account, code, i, now)
			if err != nil {
				return err
			}
			wk.f.cfg.Events.Publish(wk.account, event.Event{At: now, Type: event.Issue, Station: code, Data: data})
		}
		return nil
	})
	if err != nil {
		wk.trouble("a stop that began or ended is not told to who watches", err)
	}
}

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
	// The ongoing stops and slow periods.
	Issues []IssueStatus `json:"issues"`
	// The current shift so far; null: out of shift, or the station captures no production.
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

// published is the last published status of a tracker.
type published struct {
	Status
	digest [sha256.Size]byte // of its JSON without the sequence; zero: nothing was published yet
}

// idleView is the input of the status of a disconnected station with nothing ongoing. Such a status changes only with
// these fields, each minute, or with a new input.
type idleView struct {
	station *station.Station // nil: something goes on
	note    station.Note
	minute  int64 // ms
}

// showEvery is how often a tracker is looked at to which nothing came: time alone changes it. showPause is how soon
// after one look at a tracker that goes on taking things in the next one follows. Both ms.
const (
	// showEvery is how often a tracker without new inputs is updated, since time alone changes it. showPause is the
	// minimum time between two updates of a tracker with new inputs. Both are in ms.
	showEvery = 2000
	showPause = 300
	// answerAge is how old the live fields of an answer may be (monitoring.md section 10: a second), less what it takes
	// to send it.
	answerAge = 800
)

// show publishes a tracker's status if it has changed. Only the worker calls it.
func (wk *worker) show(tr *tracker, now int64) {
	s := wk.plan().Of(tr.code)
	if s == nil {
		return
	}
	if err := wk.refreshView(tr, s, now, showEvery, showEvery); err != nil {
		tr.mu.Lock()
		tr.markLate(tr.watermark - hour)
		tr.mu.Unlock()
		wk.logError("a station cannot be computed; it is recomputed", err)
	}
}

// refreshView updates a tracker's view and publishes the status if it has changed. Whoever comes first publishes, so
// that a sequence number stands for the same values in every answer and event. It may be called from any goroutine.
// Values that change only with time may be age old, in ms; of a tracker with very many results that are not stored
// (heavyFrom), the sums of its shift may be rest old. Error: the tracker cannot be computed.
func (wk *worker) refreshView(tr *tracker, s *station.Station, now, age, rest int64) error {
	tr.showing.Lock()
	defer tr.showing.Unlock()
	note := wk.f.cfg.Notes(wk.account, tr.code, now)
	as := idleView{s, note, now - mod(now, minute)}
	if tr.idle == as && !tr.tookIn() {
		return nil
	}
	g, ok, err := tr.liveView(now, age)
	if err != nil || !ok {
		return err
	}
	if g.heavy {
		g.rest = rest
	}
	tr.soFar.stale = tr.soFar.stale || g.took
	if g.rated != 0 && g.rated < tr.soFar.until {
		tr.soFar.until = 0 // add it up again, at once
	}
	v := g.View
	v.Outputs, v.Open = monitor.Outputs{}, slices.Clone(g.Open) // the status points into it
	if err := wk.setCauses(tr.code, v.Open, now); err != nil {
		wk.logError("the entered causes of ongoing stops cannot be read", err)
	}
	tr.mu.Lock()
	tr.seen = v
	tr.mu.Unlock()
	tr.idle = idleView{}
	st := statusOf(s, &v, note)
	if st.Shift, err = wk.shift(tr, s, &g); err != nil {
		wk.logError("the shift so far cannot be read", err)
	}
	if v.Status == monitor.StatusDisconnected && len(v.Running) == 0 && len(v.Open) == 0 && !g.rested {
		tr.idle = as
	}
	body, err := json.Marshal(&st)
	if err != nil {
		return err
	}
	body = body[:len(body)-len("0}")] // its sequence number follows
	digest := sha256.Sum256(body)
	tr.mu.Lock()
	was := tr.published.digest
	tr.mu.Unlock()
	if digest == was {
		return nil
	}
	news := tr.changedIssues(&g.View, g.Open)
	if was == ([sha256.Size]byte{}) { // nothing changed: it is seen for the first time since the start
		st.Sequence, news = wk.f.cfg.Events.Last(), nil
	} else {
		st.Sequence = wk.f.cfg.Events.PublishNumbered(wk.account, func(sequence uint64) event.Event {
			data := strconv.AppendUint(slices.Clip(body), sequence, 10)
			return event.Event{At: now, Type: event.Station, Station: tr.code, Data: append(data, '}')}
		})
	}
	tr.mu.Lock()
	tr.published = published{Status: st, digest: digest}
	tr.mu.Unlock()
	wk.publishIssues(tr.code, news, g.Now)
	return nil
}

// tookIn reports whether the tracker got inputs since its last update.
func (tr *tracker) tookIn() bool {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.touched
}

// liveView returns the state of the tracker at a moment; false if it got no inputs since the last update, which is less
// than age old, in ms.
func (tr *tracker) liveView(now, age int64) (g liveView, ok bool, err error) {
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

// setCauses sets the causes that people entered for ongoing issues, in place of the machine's; for a split issue, the
// cause of its last part. The caller must not hold the tracker's mu.
func (wk *worker) setCauses(code string, open []monitor.Issue, now int64) error {
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

// changedIssues compares ongoing issues with those last published, and returns those that began or ended. It ignores
// manual downtime, which is published when people enter it. The caller holds showing.
func (tr *tracker) changedIssues(v *monitor.View, open []monitor.Issue) (news []monitor.Issue) {
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

// publishIssues publishes issues that began or ended.
func (wk *worker) publishIssues(code string, news []monitor.Issue, now int64) {
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
		wk.logError("the begin or end of a stop is not published", err)
	}
}

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

// Instant gives a moment, ms, as answers carry it.
func Instant(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func orNull[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

// Status gives a live station as answers and events carry it.
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

// shown is what watchers know of a line.
type shown struct {
	Status
	digest [sha256.Size]byte // of it as JSON, but for the sequence; zero: nothing was shown yet
}

// still is what a station was shown by that is silent, and at which nothing goes on: nothing of it changes before the minute is
// over, unless one of these does, or it takes something in.
type still struct {
	station *station.Station // nil: something goes on
	note    station.Note
	minute  int64 // ms
}

// showEvery is how often a line is looked at to which nothing came: time alone changes it. showPause is how soon after one
// look at a line that goes on taking things in the next one follows. Both ms.
const (
	showEvery = 2000
	showPause = 300
	// answerAge is how old the live fields of an answer may be (monitoring.md section 10: a second), less what it takes to send it.
	answerAge = 800
)

// show tells watchers when a line has changed. It is the owner's.
func (o *owner) show(l *line, now int64) {
	s := o.plan().Of(l.code)
	if s == nil {
		return
	}
	if err := o.look(l, s, now, showEvery, showEvery); err != nil {
		l.mu.Lock()
		l.goBack(l.baseAt - hour)
		l.mu.Unlock()
		o.trouble("a station has stopped counting; it is computed again", err)
	}
}

// look brings what is shown of a line up to a moment: who looks first tells the others, so that what an answer shows with
// a sequence number is what every watcher sees with it. Any goroutine may do so. What time alone changes may be age old, ms; of a
// line with very much that is not kept (heavyFrom) the sums of its shift may be rest old. Error: the line cannot be computed.
func (o *owner) look(l *line, s *station.Station, now, age, rest int64) error {
	l.showing.Lock()
	defer l.showing.Unlock()
	note := o.f.cfg.Notes(o.account, l.code, now)
	as := still{s, note, now - mod(now, minute)}
	if l.still == as && !l.tookIn() {
		return nil
	}
	g, ok, err := l.glimpse(now, age)
	if err != nil || !ok {
		return err
	}
	if g.heavy {
		g.rest = rest
	}
	l.soFar.stale = l.soFar.stale || g.took
	if g.rated != 0 && g.rated < l.soFar.until {
		l.soFar.until = 0 // it is to be added up again, and at once
	}
	v := g.View
	v.Outputs, v.Open = monitor.Outputs{}, slices.Clone(g.Open) // what is shown points into it
	if err := o.name(l.code, v.Open, now); err != nil {
		o.trouble("what people said of a stop that goes on cannot be read", err)
	}
	l.mu.Lock()
	l.seen = v
	l.mu.Unlock()
	l.still = still{}
	st := statusOf(s, &v, note)
	if st.Shift, err = o.shift(l, s, &g); err != nil {
		o.trouble("the shift so far cannot be read", err)
	}
	if v.Status == monitor.StatusDisconnected && len(v.Running) == 0 && len(v.Open) == 0 && !g.rested {
		l.still = as
	}
	body, err := json.Marshal(&st)
	if err != nil {
		return err
	}
	body = body[:len(body)-len("0}")] // its sequence number follows
	digest := sha256.Sum256(body)
	l.mu.Lock()
	was := l.shown.digest
	l.mu.Unlock()
	if digest == was {
		return nil
	}
	news := l.differ(&g.View, g.Open)
	if was == ([sha256.Size]byte{}) { // nothing changed: it is seen for the first time since the start
		st.Sequence, news = o.f.cfg.Events.Last(), nil
	} else {
		st.Sequence = o.f.cfg.Events.Tell(o.account, func(sequence uint64) event.Event {
			data := strconv.AppendUint(slices.Clip(body), sequence, 10)
			return event.Event{At: now, Type: event.Station, Station: l.code, Data: append(data, '}')}
		})
	}
	l.mu.Lock()
	l.shown = shown{Status: st, digest: digest}
	l.mu.Unlock()
	o.tellIssues(l.code, news, g.Now)
	return nil
}

// tookIn reports whether the line took something in since it was last looked at.
func (l *line) tookIn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.touched
}

// glimpse shows the line at a moment; false when nothing came since it was looked at, less than age before, ms.
func (l *line) glimpse(now, age int64) (g glimpse, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.touched && now-l.seenAt < age && now >= l.seenAt {
		return g, false, nil
	}
	if g.View, err = l.view(now); err != nil {
		return g, false, err
	}
	g.took = l.touched
	g.heavy = l.settled.count()+len(l.fresh.Segments) > heavyFrom
	g.rated, l.rated = l.rated, 0
	l.touched, l.seenAt = false, now
	g.lineState = l.is()
	return g, true, nil
}

// name gives issues that go on the causes that people found, in place of the machine's: of one that is split, that of the
// part which goes on. The caller does not hold the line's mu.
func (o *owner) name(code string, open []monitor.Issue, now int64) error {
	if len(open) == 0 {
		return nil
	}
	return o.f.cfg.Store.View(func(tx *kv.Tx) error {
		findings, err := o.f.cfg.Findings(tx, o.account, code, open)
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

// differ compares the issues that go on with those that watchers know of, and gives those that began or ended since. Manual
// downtime is left out: who says that it begins or ends tells of it. The caller holds showing.
func (l *line) differ(v *monitor.View, open []monitor.Issue) (news []monitor.Issue) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.open
	l.open = map[string]monitor.Issue{}
	for _, i := range open {
		if i.Type == monitor.IssueManual {
			continue
		}
		id := IssueID(l.code, &i)
		l.open[id] = i
		if _, known := was[id]; !known {
			news = append(news, i)
		}
		delete(was, id)
	}
	for id, i := range was {
		i.End = v.Now
		for _, list := range [][]monitor.Issue{l.settled.Issues, l.fresh.Issues, v.Issues} {
			for k := range list {
				if IssueID(l.code, &list[k]) == id {
					i = list[k]
				}
			}
		}
		news = append(news, i)
	}
	return news
}

// tellIssues tells watchers of issues that began or ended.
func (o *owner) tellIssues(code string, news []monitor.Issue, now int64) {
	if len(news) == 0 || o.f.cfg.Issue == nil {
		return
	}
	err := o.f.cfg.Store.View(func(tx *kv.Tx) error {
		for _, i := range news {
			data, err := o.f.cfg.Issue(tx, o.account, code, i, now)
			if err != nil {
				return err
			}
			o.f.cfg.Events.Publish(o.account, event.Event{At: now, Type: event.Issue, Station: code, Data: data})
		}
		return nil
	})
	if err != nil {
		o.trouble("a stop that began or ended is not told to who watches", err)
	}
}

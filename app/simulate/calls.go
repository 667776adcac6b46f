package simulate

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"opsmon/app/instant"
)

// people performs the actions of people through the API.
type people struct {
	client    *client
	seed      uint64
	schedules map[string]string // work order -> schedule ID
}

// errNothingToDo is the result of an action that had nothing to do.
var errNothingToDo = errors.New("nothing to do")

// object is the body of a request.
type object map[string]any

// query returns query parameters of alternating names and values.
func query(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

// do performs the action of an event. Errors: errNothingToDo, *Refusal, those of client.call.
func (p *people) do(ctx context.Context, e *Event) error {
	a := e.Act
	switch a.Kind {
	case Plan:
		_, err := p.plan(ctx, e)
		var no *Refusal
		if errors.As(err, &no) && no.Status == conflict {
			if k, lookup := p.find(ctx, e); lookup == nil && k.ID != "" {
				return errNothingToDo // this plant was simulated before
			}
		}
		return err
	case Start:
		return p.start(ctx, e)
	case End:
		return p.end(ctx, e)
	case SignOn:
		return p.write(ctx, e, "/station/"+url.PathEscape(e.Station)+"/operator", nil, object{"initials": a.Initials}, nil)
	case Count:
		return p.write(ctx, e, "/production", nil, object{"stationCode": e.Station, "good": a.Good, "bad": a.Bad, "initials": a.Initials, "at": instant.FormatMs(a.At)}, nil)
	case Reject:
		return p.write(ctx, e, "/production", nil, object{"stationCode": e.Station, "reject": a.Bad, "initials": a.Initials, "at": instant.FormatMs(a.At)}, nil)
	case Cause:
		return p.explain(ctx, e)
	case Halt:
		return p.write(ctx, e, "/issue", nil, object{"stationCode": e.Station, "startAt": instant.FormatMs(a.At), "causeCode": a.Reason, "initials": a.Initials, "at": instant.FormatMs(a.At)}, nil)
	case Resume:
		return p.write(ctx, e, "/issue", nil, object{"stationCode": e.Station, "endAt": instant.FormatMs(a.At), "initials": a.Initials, "at": instant.FormatMs(a.At)}, nil)
	case DoTasks:
		return p.doTasks(ctx, e)
	case Walk:
		return p.write(ctx, e, "/task-list/"+url.PathEscape(a.List)+"/start", nil, object{"stationCode": e.Station, "initials": a.Initials, "at": instant.FormatMs(a.At)}, nil)
	}
	return errNothingToDo
}

// write sends a request with an effect. Repeated requests take effect once.
func (p *people) write(ctx context.Context, e *Event, path string, q url.Values, in object, out any) error {
	about := path
	if e.Act.Schedule != nil {
		about += e.Act.Schedule.Ref
	}
	key := fmt.Sprintf("sim-%x-%x-%x-%x", p.seed, newDice(0, e.Station), e.Act.Kind, newDice(uint64(e.Act.At), about))
	return p.client.ask(ctx, Request{Method: "POST", Path: path, Query: q, IdempotencyKey: key}, in, out)
}

// read requests a list.
func (p *people) read(ctx context.Context, path string, q url.Values, out any) error {
	return p.client.ask(ctx, Request{Method: "GET", Path: path, Query: q}, nil, out)
}

// known is an existing schedule of the service.
type known struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Ref   string `json:"workOrderReference"`
}

// plan enters a schedule and returns its ID.
func (p *people) plan(ctx context.Context, e *Event) (string, error) {
	s := e.Act.Schedule
	in := object{"stationCode": e.Station, "workOrderReference": s.Ref, "plannedStartAt": instant.FormatMs(s.PlannedStart), "at": instant.FormatMs(e.Act.At)}
	if s.Reason != "" {
		in["kind"], in["reasonCode"] = "nonProduction", s.Reason
	} else {
		in["kind"], in["skuCode"] = "production", s.SKU
		if s.Quantity > 0 {
			in["plannedQuantity"], in["autoEndOnQuantityComplete"] = s.Quantity, s.AutoEnd
		}
	}
	if s.PlannedEnd > 0 {
		in["plannedEndAt"] = instant.FormatMs(s.PlannedEnd)
	}
	var made known
	if err := p.write(ctx, e, "/schedule", nil, in, &made); err != nil {
		return "", err
	}
	p.schedules[s.Ref] = made.ID
	return made.ID, nil
}

// find returns the service's schedule for an event; without an ID if it has none.
func (p *people) find(ctx context.Context, e *Event) (known, error) {
	s := e.Act.Schedule
	if id := p.schedules[s.Ref]; id != "" {
		return known{ID: id}, nil
	}
	var list []known
	q := query("stationcodes", e.Station, "from", instant.FormatMs(min(s.PlannedStart, s.start)-hour), "to", instant.FormatMs(max(s.PlannedEnd, s.end)+hour), "limit", "1000")
	if err := p.read(ctx, "/schedule", q, &list); err != nil {
		return known{}, err
	}
	for _, k := range list {
		if k.Ref == s.Ref {
			p.schedules[s.Ref] = k.ID
			return k, nil
		}
	}
	return known{}, nil
}

// start starts a schedule, and enters it first if it is missing.
func (p *people) start(ctx context.Context, e *Event) error {
	a, s := e.Act, e.Act.Schedule
	k, err := p.find(ctx, e)
	switch {
	case err != nil:
		return err
	case k.State != "" && k.State != "planned":
		return errNothingToDo // this plant was simulated before
	case k.ID == "" && s.Quick:
		return p.quick(ctx, e)
	case k.ID == "":
		if k.ID, err = p.plan(ctx, e); err != nil {
			return err
		}
	}
	return p.write(ctx, e, "/schedule/"+url.PathEscape(k.ID)+"/start", query("endrunning", "true"), object{"at": instant.FormatMs(a.At), "initials": a.Initials}, nil)
}

// quick starts an unplanned schedule.
func (p *people) quick(ctx context.Context, e *Event) error {
	a, s := e.Act, e.Act.Schedule
	in := object{"stationCode": e.Station, "workOrderReference": s.Ref, "at": instant.FormatMs(a.At), "initials": a.Initials}
	if s.Reason != "" {
		in["reasonCode"] = s.Reason
	} else {
		in["skuCode"] = s.SKU
	}
	if s.PlannedEnd > a.At {
		in["plannedEndAt"] = instant.FormatMs(s.PlannedEnd)
	}
	var made known
	if err := p.write(ctx, e, "/quick-schedule", query("endrunning", "true"), in, &made); err != nil {
		return err
	}
	p.schedules[s.Ref] = made.ID
	return nil
}

// end ends a schedule. An automatic one may have ended already.
func (p *people) end(ctx context.Context, e *Event) error {
	k, err := p.find(ctx, e)
	if err != nil {
		return err
	}
	if k.ID == "" {
		return errNothingToDo
	}
	delete(p.schedules, e.Act.Schedule.Ref)
	err = p.write(ctx, e, "/schedule/"+url.PathEscape(k.ID)+"/end", nil, object{"at": instant.FormatMs(e.Act.At), "initials": e.Act.Initials}, nil)
	var no *Refusal
	if errors.As(err, &no) && no.Status == conflict && e.Act.Schedule.AutoEnd {
		return errNothingToDo
	}
	return err
}

// explain sets the cause of a stop: of the service's stops, the one that overlaps the event's most.
func (p *people) explain(ctx context.Context, e *Event) error {
	a := e.Act
	var list []struct {
		ID    string     `json:"id"`
		Type  string     `json:"type"`
		Start time.Time  `json:"startAt"`
		End   *time.Time `json:"endAt"`
		Cause *string    `json:"causeCode"`
	}
	if err := p.read(ctx, "/issue", query("stationcodes", e.Station, "from", instant.FormatMs(a.From), "to", instant.FormatMs(a.To), "limit", "100"), &list); err != nil {
		return err
	}
	id, most := "", int64(0)
	for _, issue := range list {
		end := a.To
		if issue.End != nil {
			end = min(end, issue.End.UnixMilli())
		}
		if common := end - max(a.From, issue.Start.UnixMilli()); issue.Type == "stop" && issue.Cause == nil && common > most {
			id, most = issue.ID, common
		}
	}
	if id == "" {
		return errNothingToDo
	}
	return p.write(ctx, e, "/issue/"+url.PathEscape(id)+"/cause", nil, object{"causeCode": a.Reason, "initials": a.Initials, "at": instant.FormatMs(a.At)}, nil)
}

// pending is a pending Task.
type pending struct {
	ID    string `json:"id"`
	Code  string `json:"taskCode"`
	Notes bool   `json:"requireNotes"`
}

// doTasks completes most of the pending Tasks of the station.
func (p *people) doTasks(ctx context.Context, e *Event) error {
	a := e.Act
	var list []pending
	if err := p.read(ctx, "/task", query("stationcode", e.Station, "state", "pending"), &list); err != nil {
		return err
	}
	slices.SortFunc(list, func(x, y pending) int { return strings.Compare(x.ID, y.ID) })
	done := 0
	for _, t := range list {
		if newDice(uint64(a.At), t.Code).float() < 0.15 || done == 10 { // forgotten, or done later
			continue
		}
		in := object{"initials": a.Initials, "at": instant.FormatMs(a.At)}
		if t.Notes {
			in["note"] = "as it should be"
		}
		if err := p.write(ctx, e, "/task/"+url.PathEscape(t.ID)+"/complete", nil, in, nil); err != nil {
			return err
		}
		done++
	}
	if done == 0 {
		return errNothingToDo
	}
	return nil
}

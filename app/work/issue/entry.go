package issue

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"opsmon/app/engine/monitor"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

// Author is the author of an entry, with its times in Unix ms.
type Author struct {
	By       string // e-mail address or name of a credential
	Initials string // 3 to 8 letters or digits; "" if initials are not required
	At       int64  // time of the entry: earlier than Now if a tablet was offline
	Now      int64  // when the service received it
}

// PartInput is a part of a split. It lasts from StartAt (nil, only for the first part: the issue's start) to the next
// part's start, the last one to the issue's end.
type PartInput struct {
	StartAt *instant.Time `json:"startAt"`
	Cause   *string       `json:"causeCode"` // nil: unknown
}

// reasons returns why a code cannot be the cause of a stop; "" if it can.
type reasons func(code string) (issue string)

// own returns the record to change: the issue's own record, a copy of the one that it inherited, or a new one. Its time
// range becomes the issue's current one.
func (o *Of) own(now int64) *Record {
	until := o.End
	if until == 0 {
		until = max(now, o.Start)
	}
	r := &Record{Start: o.Start, Type: o.Type}
	if o.Own != nil {
		r = o.Own.clone()
		r.move(o.Start)
	}
	r.Until = until
	return r
}

// move changes the start of a record made for another start. Its first part becomes the part at the new start.
func (r *Record) move(start int64) {
	if r.Start = start; len(r.Cuts) == 0 {
		return
	}
	first := 0
	for first+1 < len(r.Cuts) && r.Cuts[first+1].At <= start {
		first++
	}
	r.Cuts = slices.Clone(r.Cuts[first:])
	r.Cuts[0].At = start
}

// note appends an event.
func (r *Record) note(s Author, a Action, value, text string) error {
	if len(r.Events) >= MaxEvents {
		return errdefs.New(errdefs.Conflict, "this stop has %d events, which is the limit", MaxEvents)
	}
	r.Events = append(r.Events, Event{At: s.At, RecordedAt: s.Now, By: s.By, Initials: s.Initials, Action: a, Value: value, Note: text})
	return nil
}

// newer reports whether the record has an entry with one of the actions that is newer than the author's. The newer
// entry then stays in force, and the late one, from a tablet that was offline, is only recorded as an event.
func (r *Record) newer(s Author, actions ...Action) bool {
	return slices.ContainsFunc(r.Events, func(e Event) bool { return e.At > s.At && slices.Contains(actions, e.Action) })
}

// newerCause reports whether the record has a newer entry about a cause.
func (r *Record) newerCause(s Author) bool {
	return len(r.Cuts) == 0 && r.CausedAt > s.At || slices.ContainsFunc(r.Cuts, func(c Cut) bool { return c.EnteredAt > s.At })
}

// caused records the time and the note of an entry about the cause.
func (r *Record) caused(s Author, text string) {
	if s.At < r.CausedAt {
		return
	}
	if r.CausedAt, r.HeardAt = s.At, s.Now; text != "" {
		r.Note = text
	}
}

// acknowledge records an acknowledgement.
func (r *Record) acknowledge(s Author, text string) error {
	if a := r.Acknowledged; a != nil {
		who := a.By
		if a.Initials != "" {
			who = a.Initials
		}
		return errdefs.New(errdefs.Conflict, "this stop was acknowledged by %s at %s", who, instant.FormatMs(a.At))
	}
	r.Acknowledged = &Acknowledged{At: s.At, By: s.By, Initials: s.Initials}
	return r.note(s, ActionAcknowledge, "", text)
}

// estimate records the expected end of an issue in progress; 0 removes it.
func (r *Record) estimate(s Author, o *Of, end int64, text string) error {
	switch {
	case o.End != 0:
		return errdefs.New(errdefs.Conflict, "this stop ended at %s; nothing is left to estimate", instant.FormatMs(o.End))
	case end == 0:
		if !r.newer(s, ActionEstimate) {
			r.Estimate = nil
		}
		return r.note(s, ActionEstimate, "", text)
	case end <= s.At:
		return errdefs.InvalidField("expectedEndAt", "must lie after %s; it is %s", instant.FormatMs(s.At), instant.FormatMs(end))
	case end > s.At+366*24*time.Hour.Milliseconds():
		return errdefs.InvalidField("expectedEndAt", "must lie within a year; it is %s", instant.FormatMs(end))
	}
	if !r.newer(s, ActionEstimate) {
		r.Estimate = &Estimate{At: s.At, By: s.By, EndAt: end}
	}
	return r.note(s, ActionEstimate, instant.FormatMs(end), text)
}

// escalate raises the escalation level.
func (r *Record) escalate(s Author, level int, text string) error {
	if level < 1 || level > MaxEscalated {
		return errdefs.InvalidField("level", "must be from 1 to %d; it is %d", MaxEscalated, level)
	}
	if !r.newer(s, ActionEscalate) {
		r.Escalation = &Escalation{At: s.At, By: s.By, Level: level, Text: text}
	}
	return r.note(s, ActionEscalate, strconv.Itoa(level), text)
}

// cause sets the cause of the whole issue, or of the part that begins at part. "" removes the causes that people
// entered, including those of issues merged into this one.
func (r *Record) cause(s Author, taken []*Record, may reasons, code string, part int64, text string) error {
	i := slices.IndexFunc(r.Cuts, func(c Cut) bool { return c.At == part })
	var problems errdefs.Problems
	if issue := may(code); code != "" && issue != "" {
		problems.Add("causeCode", "%s", issue)
	}
	if part != 0 && i < 0 {
		problems.Add("partStartAt", "must be the start of a part of this stop; it is %s", instant.FormatMs(part))
	}
	if err := problems.Err("the cause"); err != nil {
		return err
	}
	switch {
	case part == 0:
		r.whole(s, code)
		for _, t := range taken {
			if code == "" {
				t.whole(s, "")
			}
		}
	case r.Cuts[i].EnteredAt <= s.At:
		r.Cuts[i].Cause, r.Cuts[i].EnteredAt = code, s.At
	}
	r.caused(s, text)
	return r.note(s, ActionCause, code, text)
}

// whole sets the cause of the whole issue. Parts with a newer entry keep theirs.
func (r *Record) whole(s Author, code string) {
	switch {
	case r.newerCause(s):
		for i := range r.Cuts {
			if c := &r.Cuts[i]; c.EnteredAt <= s.At {
				c.Cause, c.EnteredAt = code, s.At
			}
		}
	case code == "":
		r.Cuts = nil
	default:
		r.Cuts = []Cut{{At: r.Start, Cause: code, EnteredAt: s.At}}
	}
	r.caused(s, "")
}

// split replaces the parts of the issue.
func (r *Record) split(s Author, may reasons, parts []PartInput, text string) error {
	var details []errdefs.Detail
	bad := func(i int, field, format string, args ...any) {
		details = append(details, errdefs.Detail{Field: fmt.Sprintf("parts[%d].%s", i, field), Issue: fmt.Sprintf(format, args...)})
	}
	if n := len(parts); n < 2 || n > MaxParts {
		return errdefs.InvalidField("parts", "must have 2 to %d items; it has %d", MaxParts, n)
	}
	cuts := make([]Cut, len(parts))
	for i, p := range parts {
		c := Cut{At: r.Start, EnteredAt: s.At}
		switch {
		case p.StartAt != nil:
			c.At = p.StartAt.UnixMilli()
		case i > 0:
			c.At = cuts[i-1].At
			bad(i, "startAt", "must be given for every part but the first")
		}
		switch {
		case i > 0 && p.StartAt == nil:
		case i == 0 && c.At != r.Start:
			bad(i, "startAt", "must be the start of the stop, %s; it is %s", instant.FormatMs(r.Start), instant.FormatMs(c.At))
		case i > 0 && c.At <= cuts[i-1].At:
			bad(i, "startAt", "must lie after the start of the part before it, %s; it is %s", instant.FormatMs(cuts[i-1].At), instant.FormatMs(c.At))
		case i > 0 && c.At >= r.Until:
			bad(i, "startAt", "must lie before the end of the stop, %s; it is %s", instant.FormatMs(r.Until), instant.FormatMs(c.At))
		}
		if p.Cause != nil {
			if issue := may(*p.Cause); issue != "" {
				bad(i, "causeCode", "%s", issue)
			}
			c.Cause = *p.Cause
		}
		cuts[i] = c
	}
	if err := errdefs.InvalidDetails("the split", errdefs.Cap(details)); err != nil {
		return err
	}
	if !r.newerCause(s) {
		r.Cuts = cuts
	}
	r.caused(s, text)
	return r.note(s, ActionSplit, strconv.Itoa(len(cuts)), text)
}

// exclude excludes the issue from the figures, or includes it and all issues merged into it again.
func (r *Record) exclude(s Author, taken []*Record, out bool, text string) error {
	action := ActionExclude
	if !out {
		action = ActionInclude
	}
	newer := func(r *Record) bool { return r.newer(s, ActionExclude, ActionInclude) }
	partly := slices.ContainsFunc(taken, func(t *Record) bool { return t.Excluded })
	switch {
	case r.Type == monitor.IssueSlow:
		return errdefs.New(errdefs.Conflict, "a slow period cannot be taken out of the figures: units were made in it")
	case out && text == "":
		return errdefs.InvalidField("note", "must say why the stop is taken out of the figures")
	case newer(r):
	case out && r.Excluded:
		return errdefs.New(errdefs.Conflict, "this stop is out of the figures")
	case !out && !r.Excluded && !partly:
		return errdefs.New(errdefs.Conflict, "this stop is in the figures")
	default:
		r.Excluded = out
	}
	for _, t := range taken {
		t.Excluded = t.Excluded && (out || newer(t))
	}
	return r.note(s, action, "", text)
}

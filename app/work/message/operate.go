package message

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/floor"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Input is a new message.
type Input struct {
	StationCode string `json:"stationCode"`
	Text        string `json:"text"`     // at most 500 characters, checked by the caller
	Initials    string `json:"initials"` // 3 to 8 letters or digits
	At          *int64 `json:"-"`        // ms: when it was written; nil: now
}

// Post stores a message. It requires an operator of the station. Errors: Invalid (stationCode, text, at); Forbidden;
// Conflict if it is older than all of the station's stored messages and their number is at the limit.
func (s *Service) Post(w *floor.Work, p auth.Principal, in Input) (*View, error) {
	if err := s.allowed(w, p, in.StationCode); err != nil {
		return nil, err
	}
	var problems errdefs.Problems
	if strings.TrimSpace(in.Text) == "" {
		problems.Add("text", "must have something to read in it")
	}
	at, initials := timeAndAuthor(&problems, in.At, in.Initials, w.Now)
	st, err := w.StationAt(in.StationCode, at)
	if errdefs.KindOf(err) == errdefs.NotFound {
		problems.Add("stationCode", "must be the code of a station; no station has this code")
		err = nil
	}
	if err == nil {
		err = problems.Err("the message")
	}
	if err != nil {
		return nil, err
	}
	number, err := messages.Next(w.Tx)
	if err != nil {
		return nil, err
	}
	shift, _, _ := st.Calendar.At(at)
	k, r := keyOf(w.Account, in.StationCode, at, number), record{Text: in.Text, Initials: initials, Shift: shift.Name, Noted: w.Now}
	if err := messages.Put(w.Tx, k, r); err != nil {
		return nil, fmt.Errorf("keep a message at %s: %w", in.StationCode, err)
	}
	if err := crowdOut(w, k); err != nil {
		return nil, err
	}
	return s.publish(w, p, k, r, "message.post", map[string]string{"text": in.Text, "initials": initials, "at": instant.Format(instant.OfMs(at).Time)})
}

// crowdOut deletes a station's oldest messages beyond the limit. Error: Conflict if the new message is the oldest.
func crowdOut(w *floor.Work, k key) error {
	kept := 0
	for item, err := range messages.ScanDown(w.Tx, of(w.Account, k.B.A)) {
		if err != nil {
			return err
		}
		if kept++; kept <= maxKept {
			continue
		}
		if item.Key == k {
			return errdefs.New(errdefs.Conflict, "the station %s has %d newer messages, which is the limit", k.B.A, maxKept)
		}
		if err := messages.Delete(w.Tx, item.Key); err != nil {
			return err
		}
	}
	return nil
}

// DoneInput is a request to mark a message as done.
type DoneInput struct {
	Initials string `json:"initials"` // 3 to 8 letters or digits
	At       *int64 `json:"-"`        // ms: when it was done; nil: now
}

// Done marks a message as done. It requires an operator of the station. A message that is already done is not changed.
// Errors: NotFound; Forbidden; Invalid (at).
func (s *Service) Done(w *floor.Work, p auth.Principal, id string, in DoneInput) (*View, error) {
	k, ok := parseID(w.Account, id)
	if !ok {
		return nil, errNone
	}
	r, err := messages.Get(w.Tx, k)
	if errors.Is(err, kv.ErrNotFound) {
		return nil, errNone
	}
	if err != nil {
		return nil, err
	}
	if err := s.allowed(w, p, k.B.A); err != nil {
		return nil, err
	}
	var problems errdefs.Problems
	at, initials := timeAndAuthor(&problems, in.At, in.Initials, w.Now)
	if written := int64(k.B.B.A); r.Done == 0 && at < written {
		problems.Add("at", "must not be before the message was written, %s; it is %s", instant.Format(instant.OfMs(written).Time), instant.Format(instant.OfMs(at).Time))
	}
	if err := problems.Err("the request"); err != nil {
		return nil, err
	}
	if r.Done != 0 {
		return viewOf(k, r), nil
	}
	r.Done, r.DoneBy, r.DoneTold = at, initials, w.Now
	if err := messages.Put(w.Tx, k, r); err != nil {
		return nil, fmt.Errorf("keep that a message at %s is done: %w", k.B.A, err)
	}
	return s.publish(w, p, k, r, "message.done", map[string]string{"initials": initials, "at": instant.Format(instant.OfMs(at).Time)})
}

// timeAndAuthor returns the time of an entry, by default now, and its author.
func timeAndAuthor(problems *errdefs.Problems, at *int64, initials string, now int64) (ms int64, by string) {
	ms, err := floor.Moment("at", at, now)
	if err != nil {
		ms = now
	}
	by, unfit := auth.Initials(initials, true)
	_, _ = problems.Take(err), problems.Take(unfit) // both are Invalid
	return ms, by
}

var errNone = errdefs.New(errdefs.NotFound, "there is no such message; messages are stored for 31 days, and at most the newest %d of a station", maxKept)

// allowed checks that the caller may act at a station. Error: Forbidden.
func (s *Service) allowed(w *floor.Work, p auth.Principal, stationCode string) error {
	return auth.AuthorizeAt(s.cfg.Authorize, w.Tx, p, auth.Operator, stationCode)
}

// publish writes the audit record of a change, publishes the message and returns it.
func (s *Service) publish(w *floor.Work, p auth.Principal, k key, r record, action string, detail map[string]string) (*View, error) {
	v := viewOf(k, r)
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	w.Publish(event.Event{Type: event.Message, Station: v.StationCode, Data: data})
	detail["stationCode"] = v.StationCode
	return v, audit.Put(w.Tx, w.Account, p.Actor(), action, v.ID, detail)
}

// List returns the newest messages of some stations, the newest first. open selects open messages or those that are
// done; nil: both. Errors are the store's.
func (s *Service) List(accountID string, stationCodes []string, open *bool, limit int) ([]*View, error) {
	list := []*View{}
	err := s.cfg.Store.View(func(tx *kv.Tx) error {
		for _, code := range stationCodes {
			n := 0
			for item, err := range messages.ScanDown(tx, of(accountID, code)) { // at most maxKept
				if err != nil {
					return fmt.Errorf("read the messages of %s: %w", code, err)
				}
				if open != nil && *open != (item.Value.Done == 0) {
					continue
				}
				if n++; n > limit {
					break
				}
				// bounds memory by the limit instead of the number of stations
				if list = append(list, viewOf(item.Key, item.Value)); len(list) >= 2*limit {
					list = newest(list, limit)
				}
			}
		}
		return nil
	})
	return newest(list, limit), err
}

// newest sorts messages, the newest first, and returns up to limit of them.
func newest(list []*View, limit int) []*View {
	slices.SortStableFunc(list, func(a, b *View) int {
		return cmp.Or(b.At.Compare(a.At.Time), cmp.Compare(a.StationCode, b.StationCode), b.RecordedAt.Compare(a.RecordedAt.Time))
	})
	n := min(limit, len(list))
	clear(list[n:])
	return list[:n]
}

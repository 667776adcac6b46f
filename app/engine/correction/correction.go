// Package correction changes the configuration of stations for a range in the past: a threshold, a shift, a rate, a
// SKU, a reason (monitoring.md section 8). Signals, schedules and entries of people are not changed; the results
// calculated from them are recalculated.
//
// A correction overrides the manifest's revisions in its range, even after later revisions, which apply from their own
// time on. A correction is never edited. If it is undone, it has no effect any more, but stays in the list.
//
// A preview shows the effect of a correction in advance: the OEE of each affected station and production day, before
// and after.
//
// The corrections are stored by package station, whose timelines include them.
package correction

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/idempotency"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Config has the dependencies and settings of a Service.
type Config struct {
	Accounts interface {
		Get(accountID string) (*account.Snapshot, error)
	}
	Floor    *floor.Floor
	Requests *idempotency.Service
	// Authorize checks in a transaction that the caller's credential is still valid and that its role is sufficient.
	Authorize func(tx *kv.Tx, p auth.Principal, need auth.Role) error
	// Retention is the retention of signals: older results cannot be recalculated.
	Retention time.Duration
	Clock     func() time.Time // nil = time.Now
}

// Service makes and undoes corrections. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) *Service {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	return &Service{cfg: cfg}
}

// Input is a request for a correction. Its format is the schema correction-create.
type Input struct {
	StationCodes []string
	From, To     time.Time
	Changes      any // as decoded by strictjson
	Note         string
}

// Correction is a change to the configuration of stations for a past range.
//
//openapi:schema Correction
type Correction struct {
	ID           string          `json:"id"`
	CreatedAt    instant.Time    `json:"createdAt"`
	Author       string          `json:"author"` // who made it
	Note         string          `json:"note"`
	StationCodes []string        `json:"stationCodes"`
	From         instant.Time    `json:"from"`
	To           instant.Time    `json:"to"`
	Changes      json.RawMessage `json:"changes" schema:"type=object"` // the changes as they were sent
	UndoneAt     *instant.Time   `json:"undoneAt"`                     // when it was undone; null if it is in force
	UndoneBy     *string         `json:"undoneBy"`                     // who undid it
}

func shown(c *station.Correction) Correction {
	s := Correction{
		ID: strconv.FormatUint(c.Number, 10), CreatedAt: instant.Of(c.CreatedAt), Author: c.Author, Note: c.Note, StationCodes: c.StationCodes,
		From: instant.OfMs(c.From), To: instant.OfMs(c.To), Changes: letters(c.Changes), UndoneAt: instant.OrNil(c.UndoneAt),
	}
	if s.UndoneAt != nil {
		s.UndoneBy = &c.UndoneBy
	}
	return s
}

// letters removes from JSON the HTML escapes that encoding/json adds when it is stored.
func letters(stored json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(stored))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return stored
	}
	if plain, err := encode(v); err == nil {
		return plain
	}
	return stored
}

// encode returns v as JSON without HTML escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// List returns a page of the corrections of an account, newest first, and their total number. Errors: errdefs.NotFound;
// the store's.
func (s *Service) List(accountID string, limit, skip int) ([]Correction, int, error) {
	t, err := s.cfg.Floor.Timeline(accountID)
	if err != nil {
		return nil, 0, err
	}
	all := t.Corrections()
	list := []Correction{}
	for i := len(all) - 1 - max(skip, 0); i >= 0 && len(list) < limit; i-- {
		list = append(list, shown(&all[i]))
	}
	return list, len(all), nil
}

// Check validates a correction. Errors: Invalid, Conflict, the store's.
func (s *Service) Check(p auth.Principal, in Input) error {
	_, _, err := s.checked(p, in)
	return err
}

// Make makes a correction. It requires an admin. The stations are then recalculated from the correction's start when
// other work leaves time. A repeated request with the same idempotency key returns the correction made before. Errors:
// Invalid, Forbidden, Conflict for an archived account, or as Floor.Once's.
func (s *Service) Make(p auth.Principal, r idempotency.Request, in Input) (*Correction, error) {
	return s.once(p, r, func() (station.Correction, *station.Timeline, error) { return s.checked(p, in) }, func(w *floor.Work, c *station.Correction) (err error) {
		c.CreatedAt = w.Tx.Now()
		if *c, err = station.AddCorrection(w.Tx, w.Account, *c); err != nil {
			return err
		}
		return audit.Put(w.Tx, w.Account, p.Actor(), "correction.make", strconv.FormatUint(c.Number, 10), map[string]string{
			"stations": strconv.Itoa(len(c.StationCodes)), "from": instant.FormatMs(c.From), "to": instant.FormatMs(c.To), "note": c.Note,
		})
	})
}

// Undo undoes a correction. It requires an admin and is idempotent as Make. Errors: Forbidden, NotFound, Conflict if it
// is already undone, if the signals of its time have been deleted, or if the account is archived, or as Floor.Once's.
func (s *Service) Undo(p auth.Principal, r idempotency.Request, id string) (*Correction, error) {
	return s.once(p, r, func() (station.Correction, *station.Timeline, error) { return s.standing(p.AccountID, id) }, func(w *floor.Work, c *station.Correction) error {
		number := c.Number
		now, err := station.GetCorrection(w.Tx, w.Account, number)
		if err != nil {
			return fmt.Errorf("read correction %d: %w", number, err)
		}
		if !now.UndoneAt.IsZero() {
			return undone(&now)
		}
		if *c, err = station.UndoCorrection(w.Tx, w.Account, now, author(p)); err != nil {
			return err
		}
		return audit.Put(w.Tx, w.Account, p.Actor(), "correction.undo", id, nil)
	})
}

// patience is how long the answer to a correction waits for the recalculation.
const patience = 2 * time.Second

// Follow starts the recalculation for a correction that was made or undone, and returns the stations that are not
// finished within a short time. Errors are the floor's.
func (s *Service) Follow(accountID string, c *Correction) ([]string, error) {
	return s.cfg.Floor.Follow(accountID, c.StationCodes, patience)
}

// standing returns a correction that can be undone.
func (s *Service) standing(accountID, id string) (c station.Correction, t *station.Timeline, err error) {
	if t, err = s.cfg.Floor.Timeline(accountID); err != nil {
		return c, nil, err
	}
	number, err := strconv.ParseUint(id, 10, 64)
	all := t.Corrections()
	if err != nil || number < 1 || number > uint64(len(all)) {
		return c, nil, errdefs.New(errdefs.NotFound, "there is no correction with this id")
	}
	c = all[number-1]
	switch {
	case !c.UndoneAt.IsZero():
		return c, nil, undone(&c)
	case c.From < s.oldest():
		return c, nil, errdefs.New(errdefs.Conflict, "correction %d begins at %s; signals of that time have been deleted, so it cannot be recalculated", c.Number, instant.FormatMs(c.From))
	}
	return c, t, nil
}

func undone(c *station.Correction) error {
	return errdefs.New(errdefs.Conflict, "correction %d was undone at %s", c.Number, instant.Format(c.UndoneAt))
}

// oldest returns the moment, ms, before which nothing can be recalculated, with a margin of a day for the deletion of
// signals.
func (s *Service) oldest() int64 {
	return s.cfg.Clock().Add(24*time.Hour - s.cfg.Retention).UnixMilli()
}

// once runs an idempotent change of the correction returned by begin, and starts the recalculation. begin is not called
// for a repeated request, because the state that it reads may have changed since.
func (s *Service) once(p auth.Principal, r idempotency.Request, begin func() (station.Correction, *station.Timeline, error), change func(w *floor.Work, c *station.Correction) error) (*Correction, error) {
	if !p.Role.AtLeast(auth.Admin) {
		return nil, errdefs.New(errdefs.Forbidden, "this needs the role %s; yours is %s", auth.Admin, p.Role)
	}
	answer, done, err := s.cfg.Requests.Answered(p.AccountID, p.Actor(), r)
	if err != nil {
		return nil, err
	}
	if !done {
		c, t, err := begin()
		if err != nil {
			return nil, err
		}
		if answer, err = s.store(p, r, &c, t, change); err != nil {
			return nil, err
		}
	}
	made := new(Correction)
	return made, json.Unmarshal(answer.Body, made)
}

// store runs the change in a transaction and returns the correction as the answer.
func (s *Service) store(p auth.Principal, r idempotency.Request, c *station.Correction, t *station.Timeline, change func(w *floor.Work, c *station.Correction) error) (answer idempotency.Answer, err error) {
	err = s.cfg.Floor.Do(p.AccountID, func(w *floor.Work) (err error) {
		w.By = p.Actor()
		answer, err = idempotency.Do(w.Tx, p.AccountID, w.By, r, w.Now, func() (answer idempotency.Answer, err error) {
			if s.cfg.Authorize != nil {
				if err := s.cfg.Authorize(w.Tx, p, auth.Admin); err != nil {
					return answer, err
				}
			}
			snap, err := s.cfg.Accounts.Get(p.AccountID)
			if err != nil {
				return answer, err
			}
			if err := snap.Account.Writable(); err != nil {
				return answer, err
			}
			if err := change(w, c); err != nil {
				return answer, err
			}
			for _, code := range c.StationCodes {
				if err := w.Backfill(code, c.From); err != nil {
					return answer, err
				}
			}
			w.After(func() { t.Correct(*c) })
			answer.Body, err = encode(shown(c))
			return answer, err
		})
		return err
	})
	return answer, err
}

func author(p auth.Principal) string {
	if p.Type == auth.TypeLocal {
		return "local administrator"
	}
	return p.Email
}

// stamp writes a moment, ms, as answers do.
// Limits of one correction.
const (
	maxStations  = 1000
	maxRevisions = 500
)

// checked validates a request and returns its correction, or an error with all problems.
func (s *Service) checked(p auth.Principal, in Input) (c station.Correction, t *station.Timeline, err error) {
	if t, err = s.cfg.Floor.Timeline(p.AccountID); err != nil {
		return c, nil, err
	}
	var problems errdefs.Problems
	problem := problems.Add
	c = station.Correction{Author: author(p), Note: in.Note, StationCodes: slices.Clone(in.StationCodes), From: in.From.UnixMilli(), To: in.To.UnixMilli()}
	now := s.cfg.Clock().UnixMilli()
	switch {
	case c.From%instant.MinuteMs != 0:
		problem("from", "must be a whole minute; it is %s", instant.FormatMs(c.From))
	case c.From < s.oldest():
		problem("from", "must not lie before %s: older signals are not kept, so that their time cannot be computed again", instant.FormatMs(s.oldest()))
	}
	switch {
	case c.To%instant.MinuteMs != 0:
		problem("to", "must be a whole minute; it is %s", instant.FormatMs(c.To))
	case c.To <= c.From:
		problem("to", "must lie after from")
	case c.To > now:
		problem("to", "must not lie in the future: for what is to come, change the manifest")
	}
	timed := len(problems) == 0
	if n := len(in.StationCodes); n > maxStations {
		problem("stationCodes", "must have %d items or fewer; it has %d", maxStations, n)
	}
	if n := len(t.Corrections()); n >= station.MaxCorrections {
		return c, nil, errdefs.New(errdefs.Conflict, "there are %d corrections, which is all that an account may have", n)
	}
	var plans []*station.Plan
	if timed { // otherwise the configuration of the range is unknown
		if plans, err = t.Plans(c.From, c.To, maxRevisions); err != nil {
			return c, nil, err
		}
	}
	problems.Merge(check(plans, c.StationCodes, station.PatchOf(in.Changes)))
	if err := errdefs.InvalidDetails("the correction", errdefs.Cap(problems)); err != nil {
		return c, nil, err
	}
	c.Changes, err = json.Marshal(in.Changes)
	return c, t, err
}

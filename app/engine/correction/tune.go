package correction

import (
	"context"
	"math"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
)

// LongestTuning is the longest range of Tune: a day takes some hundredths of a second.
const LongestTuning = 31 * 24 * time.Hour

// Tuned is the figures and stops of a range.
//
//openapi:schema Tuned
type Tuned struct {
	Figures Figures `json:"figures"`
	Stops   Lengths `json:"stops"`
}

// Lengths are ranges of time by length, cut to the requested range.
//
//openapi:schema Lengths
type Lengths struct {
	Count   int   `json:"count" schema:"min=0"`
	TotalMs int64 `json:"totalMs" schema:"min=0"`
	Bins    []Bin `json:"histogram"` // bins in order, without gaps
}

// Bin is the ranges of at least fromMs and less than toMs.
//
//openapi:schema LengthBin
type Bin struct {
	FromMs  int64  `json:"fromMs" schema:"min=0"`
	ToMs    *int64 `json:"toMs"` // null for no upper limit
	Count   int    `json:"count" schema:"min=0"`
	TotalMs int64  `json:"totalMs" schema:"min=0"`
}

// LengthsOf converts lengths to their representation.
func LengthsOf(l *oee.Lengths) Lengths {
	out := Lengths{Count: l.Count, TotalMs: l.Ms}
	for _, b := range l.Bins() {
		bin := Bin{FromMs: b.From, Count: b.Count, TotalMs: b.Ms}
		if b.To != 0 {
			bin.ToMs = &b.To
		}
		out.Bins = append(out.Bins, bin)
	}
	return out
}

// Tuning is the figures and stops of a range, by the actual and by other settings.
//
//openapi:schema Tuning
type Tuning struct {
	Before Tuned `json:"before"`
	After  Tuned `json:"after"`
}

// Tune returns the figures and stops of one station as if a correction had been in force. It requires a supervisor and
// stores nothing. Errors: Invalid, Forbidden, ctx's.
func (s *Service) Tune(ctx context.Context, p auth.Principal, in Input) (*Tuning, error) {
	if !p.Role.AtLeast(auth.Supervisor) {
		return nil, errdefs.New(errdefs.Forbidden, "this needs the role %s; yours is %s", auth.Supervisor, p.Role)
	}
	if n := len(in.StationCodes); n != 1 {
		return nil, errdefs.InvalidField("stationCodes", "must have one item, for one station is tuned at a time; it has %d", n)
	}
	if length := in.To.Sub(in.From); length > LongestTuning {
		return nil, errdefs.InvalidField("from", "must make a range of %d days or less; it is one of %.1f", int(LongestTuning/(24*time.Hour)), length.Hours()/24)
	}
	c, t, err := s.checked(p, in)
	if err != nil {
		return nil, err
	}
	from, to := c.From, c.To
	tuned := func(t *station.Timeline) (Tuned, error) {
		r, err := s.cfg.Floor.Preview(ctx, p.AccountID, t, in.StationCodes[0], from, to)
		if err != nil {
			return Tuned{}, err
		}
		return Tuned{Figures: figures(r.Rows), Stops: LengthsOf(&r.Stops)}, nil
	}
	out := &Tuning{}
	if out.Before, err = tuned(t); err != nil {
		return nil, err
	}
	c.To = math.MaxInt64 // judges a stop at the end by the same settings
	out.After, err = tuned(t.With(c))
	return out, err
}

package report

import (
	"context"
	"slices"
	"strings"
	"time"

	"opsmon/app/engine/energy"
	"opsmon/app/engine/oee"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
)

// Figures by the minute are limited to a day of 25 hours, for the end of daylight saving time, and to few stations.
const (
	longestMinutes = 25 * time.Hour
	mostByMinute   = 4
)

// Longest returns the longest range of figures by some dimensions.
func Longest(by []oee.By) time.Duration {
	switch {
	case slices.Contains(by, oee.ByMinute):
		return longestMinutes
	case slices.Contains(by, oee.ByHour):
		return LongestDetail
	}
	return LongestSums
}

// ParseBy parses a comma-separated list of dimensions: at most two of the allowed ones, of which at most one is a time.
// Errors are errdefs.Invalid for the field by.
func ParseBy(text string, allowed ...oee.By) (by []oee.By, err error) {
	if text == "" {
		return nil, nil
	}
	names := make([]string, len(allowed))
	for i, b := range allowed {
		names[i] = b.String()
	}
	times := 0
	for name := range strings.SplitSeq(text, ",") {
		b, ok := oee.ParseBy(name)
		switch {
		case !ok || !slices.Contains(allowed, b):
			return nil, errdefs.InvalidField("by", "must be up to two of %s, with a comma between them; it has %q", strings.Join(names, ", "), errdefs.Shorten(name))
		case slices.Contains(by, b):
			return nil, errdefs.InvalidField("by", "has %s twice", name)
		}
		if _, ok := b.Time(); ok {
			times++
		}
		by = append(by, b)
	}
	switch {
	case len(by) > 2:
		return nil, errdefs.InvalidField("by", "must be two or fewer; it has %d", len(by))
	case times > 1:
		return nil, errdefs.InvalidField("by", "must have one time at most; it is %q", errdefs.Shorten(text))
	}
	return by, nil
}

// CheckOEE returns errdefs.Invalid if OEE would have too many results.
func (s *Service) CheckOEE(x *Selection, by []oee.By) error {
	return s.checkSize(x.Account, x.Captured(), by)
}

// OEE returns the sums of terms of a selection's captured stations, ordered by place, time, shift and SKU. Each sum has
// its time, even without a time bucket. With an empty by it returns one sum. Errors: errdefs.Invalid if there are too
// many sums; the store's.
func (s *Service) OEE(ctx context.Context, x *Selection, by []oee.By) ([]oee.Sum, error) {
	list := x.Captured()
	places := make(map[string]oee.Place, len(list))
	for _, a := range list {
		places[a.Code] = oee.Place{Plant: a.Plant.Code, Group: a.Group.Code, Station: a.Code}
	}
	summer := oee.NewSummer(by...)
	err := s.sums(ctx, x.Account, list, by, func(r *station.Rules, rows []oee.Row, _ []energy.Row) error {
		summer.Add(places[r.Code], r.Calendar, rows)
		return s.tooMany(summer.Len())
	})
	if err != nil {
		return nil, err
	}
	sums := summer.Sums()
	if len(sums) == 0 && len(by) == 0 {
		sums = []oee.Sum{{}}
	}
	for i := range sums {
		if b := &sums[i].Bucket; b.End == 0 {
			b.Start, b.End = x.Span(b.Plant)
		}
	}
	return sums, nil
}

// sums reads the rows of the figures station by station: those of whole days if hours are not needed.
func (s *Service) sums(ctx context.Context, account string, list []Station, by []oee.By, use func(*station.Rules, []oee.Row, []energy.Row) error) error {
	read := s.cfg.Floor.Days
	switch {
	case slices.Contains(by, oee.ByMinute):
		if read = s.cfg.Floor.Minutes; len(list) > mostByMinute {
			return errdefs.InvalidField("by", "may be minute for %d stations or fewer; there are %d", mostByMinute, len(list))
		}
	case slices.Contains(by, oee.ByHour):
		read = s.cfg.Floor.Rows
	}
	heard := func(r *station.Rules, rows []oee.Row, used []energy.Row) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return use(r, rows, used)
	}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := read(account, []string{list[i].Code}, list[i].From, list[i].To, heard); err != nil {
			return err
		}
	}
	return nil
}

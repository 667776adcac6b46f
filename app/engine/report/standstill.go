package report

import (
	"cmp"
	"context"
	"slices"

	"opsmon/app/engine/oee"
)

// Stretch is a range of time, ms.
type Stretch struct{ Start, End int64 }

// Standstills are the standstills of a station in scheduled production, however short.
type Standstills struct {
	Lengths  oee.Lengths
	Complete bool      // Longest has all of them
	Longest  []Stretch // ordered by time
}

// Standstills returns a station's standstills, with the longest ones in full, as many as most at the most. Errors: the floor's, ctx's.
func (s *Service) Standstills(ctx context.Context, account string, a *Station, most int) (Standstills, error) {
	var out Standstills
	long := longest{most: most}
	err := s.cfg.Floor.Standstills(ctx, account, a.Code, a.From, a.To, func(start, end int64) {
		long.add(Stretch{start, end})
		out.Lengths.Add(end - start)
	})
	out.Complete, out.Longest = out.Lengths.Count <= most, long.byTime()
	return out, err
}

// longest collects the longest ranges.
type longest struct {
	list []Stretch
	most int
}

func (l *longest) add(x Stretch) {
	if l.list = append(l.list, x); len(l.list) >= 2*l.most {
		l.cut()
	}
}

// cut reduces the list to the limit; of equal ones the first remain.
func (l *longest) cut() {
	slices.SortFunc(l.list, func(a, b Stretch) int {
		return cmp.Or(cmp.Compare(b.End-b.Start, a.End-a.Start), cmp.Compare(a.Start, b.Start))
	})
	l.list = l.list[:min(len(l.list), l.most)]
}

// byTime returns the ranges ordered by time.
func (l *longest) byTime() []Stretch {
	l.cut()
	slices.SortFunc(l.list, func(a, b Stretch) int { return cmp.Compare(a.Start, b.Start) })
	return l.list
}

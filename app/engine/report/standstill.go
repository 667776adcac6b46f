package report

import (
	"cmp"
	"context"
	"slices"

	"opsmon/app/engine/oee"
)

// Stretch is a stretch of time, ms.
type Stretch struct{ Start, End int64 }

// Standstills is how long a station stood in scheduled production, however short that was.
type Standstills struct {
	Lengths  oee.Lengths
	Complete bool      // Longest are all
	Longest  []Stretch // in order of time
}

// Standstills returns a station's standstills, and the longest of them, most at most. Errors: the floor's, ctx's.
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

// longest holds the longest of many stretches.
type longest struct {
	list []Stretch
	most int
}

func (l *longest) add(x Stretch) {
	if l.list = append(l.list, x); len(l.list) >= 2*l.most {
		l.cut()
	}
}

// cut leaves no more than the most; of equal ones the first.
func (l *longest) cut() {
	slices.SortFunc(l.list, func(a, b Stretch) int {
		return cmp.Or(cmp.Compare(b.End-b.Start, a.End-a.Start), cmp.Compare(a.Start, b.Start))
	})
	l.list = l.list[:min(len(l.list), l.most)]
}

// byTime returns them in order of time.
func (l *longest) byTime() []Stretch {
	l.cut()
	slices.SortFunc(l.list, func(a, b Stretch) int { return cmp.Compare(a.Start, b.Start) })
	return l.list
}

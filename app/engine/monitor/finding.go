package monitor

import (
	"cmp"
	"slices"
)

// Finding is what people entered about a part of an issue: a cause, a part of a split, or an exclusion.
type Finding struct {
	Type       IssueType
	Issue      int64  // start of the issue
	Start, End int64  // of the part; far in the future for a part that lasts to the issue's end
	Cause      string // "" keeps the machine's cause
	Excluded   bool   // the stop or manual downtime is excluded from the figures
}

// Explain returns the segments with the causes of findings instead of the machine's. It splits segments where findings
// begin and end, so that the parts of a split issue have exactly its time. Of overlapping findings, the last one with a
// cause applies. Findings about an issue that no longer exists or is now shorter have no effect outside of issues.
func Explain(segments []Segment, findings []Finding) []Segment {
	if len(findings) == 0 {
		return segments
	}
	out := make([]Segment, 0, len(segments)+2*len(findings))
	for _, g := range segments {
		var about []Finding
		cuts := []int64{g.Start, g.End}
		for _, f := range findings {
			if f.Type == IssueSlow && g.Class() != Slow || f.Type == IssueStop && g.Manual != 0 {
				continue // downtime in a slow period has its own cause, and so has manual downtime in a stop
			}
			if start := *g.mark(f.Type); start != 0 && start == f.Issue && f.Start < g.End && f.End > g.Start {
				about = append(about, f)
				cuts = append(cuts, max(f.Start, g.Start), min(f.End, g.End))
			}
		}
		slices.SortFunc(cuts, func(a, b int64) int { return cmp.Compare(a, b) })
		cuts = slices.Compact(cuts)
		for i := 0; i+1 < len(cuts); i++ {
			part := g
			part.Start, part.End = cuts[i], cuts[i+1]
			for _, f := range about {
				if f.Start <= part.Start && part.End <= f.End {
					if f.Cause != "" {
						part.Cause = f.Cause
					}
					part.Excluded = part.Excluded || f.Excluded && part.Class() == Downtime
				}
			}
			if n := len(out); i > 0 && out[n-1].same(&part) {
				out[n-1].End = part.End
				continue
			}
			out = append(out, part)
		}
	}
	return out
}

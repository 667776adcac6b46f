package monitor

import (
	"cmp"
	"slices"
)

// Finding is what people say of a part of an issue. One for the whole issue gives its cause; several split it.
type Finding struct {
	Type       IssueType
	Issue      int64  // the start of the issue that it is about
	Start, End int64  // of the part; far ahead for one that reaches to the issue's end, whenever that comes
	Cause      string // "" leaves what is known of the cause as it is
	Excluded   bool   // a stop or manual downtime is taken out of the figures
}

// Explain returns the segments with the causes that people found in place of the machine's: cut where findings begin and
// end, so that the parts of an issue that was split have its time exactly. Of findings that overlap the last one with a
// cause counts. Findings about an issue that is not there, or no longer reaches so far since late signals came, change
// nothing.
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
				continue // downtime that lies over a slow period has its own cause, and so has manual downtime over a stop
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

package issue

import (
	"cmp"
	"math"
	"slices"

	"opsmon/app/engine/monitor"
)

// forever is the end of what goes on.
const forever = math.MaxInt64

// Of is an issue with what was said of it.
type Of struct {
	monitor.Issue
	Own    *Record   // nil: nothing was said of it
	Others []*Record // said of issues that it has taken in, by their start
}

// Follow finds for each issue what was said of it, and the records that are about none of them. Issues and records are
// those of one station; issues whole, and all that have time in common with the records.
func Follow(issues []monitor.Issue, said []*Record) (out []Of, orphans []*Record) {
	heard := make(map[*Record]bool, len(said))
	for _, x := range issues {
		of := Of{Issue: x}
		for _, r := range said {
			if !related(&x, r) {
				continue
			}
			heard[r] = true
			if of.Own == nil || nearer(&x, r, of.Own) {
				r, of.Own = of.Own, r
			}
			if r != nil {
				of.Others = append(of.Others, r)
			}
		}
		slices.SortFunc(of.Others, func(a, b *Record) int { return cmp.Compare(a.Start, b.Start) })
		out = append(out, of)
	}
	for _, r := range said {
		if !heard[r] {
			orphans = append(orphans, r)
		}
	}
	return out, orphans
}

func related(x *monitor.Issue, r *Record) bool {
	return r.Type == x.Type && (r.Start == x.Start || r.Start < endOf(x) && r.end() > x.Start)
}

// nearer reports whether a is rather an issue's own record than b: that of its name, else that of the nearest start, of two
// as near the earlier.
func nearer(x *monitor.Issue, a, b *Record) bool {
	far := func(r *Record) int64 { return max(r.Start-x.Start, x.Start-r.Start) }
	return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(a.Start, b.Start)) < 0
}

// endOf returns the end of an issue, which for one that goes on is not in sight.
func endOf(x *monitor.Issue) int64 {
	if x.End == 0 {
		return forever
	}
	return x.End
}

// Findings returns what was said in the form that monitor.Explain takes. The last word on a time comes last.
func (o *Of) Findings() []monitor.Finding {
	var out []monitor.Finding
	add := func(start, end int64, cause string, excluded bool) {
		if start = max(start, o.Start); start < end && (cause != "" || excluded) {
			out = append(out, monitor.Finding{Type: o.Type, Issue: o.Start, Start: start, End: end, Cause: cause, Excluded: excluded})
		}
	}
	if own := o.Own; own != nil {
		add(o.Start, forever, "", own.Excluded)
		// The whole has a cause, wherever it has moved to: the first part begins with it, the last ends with it.
		for i, c := range own.Cuts {
			start, end := c.At, int64(forever)
			if i == 0 {
				start = o.Start
			}
			if i+1 < len(own.Cuts) {
				end = own.Cuts[i+1].At
			}
			add(start, end, c.Cause, false)
		}
	}
	if len(o.Others) == 0 {
		return out
	}
	all := slices.Clone(o.Others)
	if o.Own != nil {
		all = append(all, o.Own)
	}
	slices.SortStableFunc(all, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(a.CausedAt, b.CausedAt), cmp.Compare(a.HeardAt, b.HeardAt))
	})
	for _, r := range all {
		if r != o.Own {
			add(r.Start, r.end(), "", r.Excluded)
		}
		for i, c := range r.Cuts {
			end := r.end()
			if i+1 < len(r.Cuts) {
				end = r.Cuts[i+1].At
			}
			add(c.At, end, c.Cause, false)
		}
	}
	return out
}

// Part is a stretch of an issue that has one cause.
type Part struct {
	Start, End int64
	Cause      string // "": uncaused
	ByMachine  bool   // the machine's error code named it, and nobody else
	Excluded   bool   // out of the figures
}

// Parts cuts an issue where its cause changes and where people cut it. One that goes on ends at now. They have its time
// exactly, and the causes that monitor.Explain gives it.
func (o *Of) Parts(now int64) []Part {
	end := o.End
	if end == 0 {
		end = max(now, o.Start)
	}
	findings, cuts, meant := o.Findings(), []int64{o.Start, end}, map[int64]bool{}
	for _, f := range findings {
		cuts = append(cuts, f.Start, f.End)
	}
	if o.Own != nil {
		for _, c := range o.Own.Cuts[min(1, len(o.Own.Cuts)):] {
			cuts, meant[c.At] = append(cuts, c.At), true
		}
	}
	slices.Sort(cuts)
	var out []Part
	for i, cut := range slices.Compact(cuts) {
		if cut < o.Start || cut >= end && cut > o.Start { // one that just began has a part, too
			continue
		}
		p := Part{Start: cut, End: end, Cause: o.Cause, ByMachine: o.Cause != ""}
		for _, f := range findings {
			if f.Start <= cut && cut < f.End {
				p.Excluded = p.Excluded || f.Excluded && o.Type != monitor.IssueSlow
				if f.Cause != "" {
					p.Cause, p.ByMachine = f.Cause, false
				}
			}
		}
		if n := len(out); i > 0 && n > 0 {
			last := &out[n-1]
			if last.Cause == p.Cause && last.ByMachine == p.ByMachine && last.Excluded == p.Excluded && !meant[cut] {
				continue
			}
			last.End = cut
		}
		out = append(out, p)
	}
	return out
}

// Uncaused returns the time of an issue that nobody has named a cause of, ms.
func Uncaused(parts []Part) int64 {
	sum := int64(0)
	for _, p := range parts {
		if p.Cause == "" {
			sum += p.End - p.Start
		}
	}
	return sum
}

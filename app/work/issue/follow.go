package issue

import (
	"cmp"
	"math"
	"slices"

	"opsmon/app/engine/monitor"
)

// forever is the end of an issue in progress.
const forever = math.MaxInt64

// Of is an issue with the records that belong to it.
type Of struct {
	monitor.Issue
	Own    *Record   // nil: nothing was entered about it
	Others []*Record // records of issues that were merged into this one, ordered by start
}

// Follow matches issues with records and returns the records that match no issue as orphans. All issues and records
// must be of one station; issues must be whole, and every issue that overlaps a record must be included.
func Follow(issues []monitor.Issue, records []*Record) (out []Of, orphans []*Record) {
	matched := make(map[*Record]bool, len(records))
	for _, x := range issues {
		of := Of{Issue: x}
		for _, r := range records {
			if !related(&x, r) {
				continue
			}
			matched[r] = true
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
	for _, r := range records {
		if !matched[r] {
			orphans = append(orphans, r)
		}
	}
	return out, orphans
}

func related(x *monitor.Issue, r *Record) bool {
	return r.Type == x.Type && (r.Start == x.Start || r.Start < endOf(x) && r.end() > x.Start)
}

// nearer reports whether a is a better own record of an issue than b: the record with the issue's start, else the one
// with the nearest start, else the earlier one.
func nearer(x *monitor.Issue, a, b *Record) bool {
	far := func(r *Record) int64 { return max(r.Start-x.Start, x.Start-r.Start) }
	return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(a.Start, b.Start)) < 0
}

// endOf returns the end of an issue, or forever while it is in progress.
func endOf(x *monitor.Issue) int64 {
	if x.End == 0 {
		return forever
	}
	return x.End
}

// Findings returns the records in the form that monitor.Explain takes. The latest entry for a time comes last.
func (o *Of) Findings() []monitor.Finding {
	var out []monitor.Finding
	add := func(start, end int64, cause string, excluded bool) {
		if start = max(start, o.Start); start < end && (cause != "" || excluded) {
			out = append(out, monitor.Finding{Type: o.Type, Issue: o.Start, Start: start, End: end, Cause: cause, Excluded: excluded})
		}
	}
	if own := o.Own; own != nil {
		add(o.Start, forever, "", own.Excluded)
		// The cause applies to the whole issue, even if it has moved: the first part begins and the last part ends with
		// it.
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

// Part is a part of an issue with one cause.
type Part struct {
	Start, End int64
	Cause      string // "": uncaused
	ByMachine  bool   // the machine's error code is the only source of the cause
	Excluded   bool   // excluded from the figures
}

// Parts cuts an issue where its cause changes and where people split it. An issue in progress ends at now. The parts
// cover the issue exactly and have the causes that monitor.Explain finds.
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
		if cut < o.Start || cut >= end && cut > o.Start { // an issue that just began has a part, too
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

// Uncaused returns the time of an issue without a cause, ms.
func Uncaused(parts []Part) int64 {
	sum := int64(0)
	for _, p := range parts {
		if p.Cause == "" {
			sum += p.End - p.Start
		}
	}
	return sum
}

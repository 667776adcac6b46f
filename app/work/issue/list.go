package issue

import (
	"cmp"
	"context"
	"slices"

	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
	"opsmon/kv"
)

// MaxList is the largest number of issues in one answer.
const MaxList = 1000

// Where is a station and a requested time range, ms: [From, To).
type Where struct {
	StationCode string
	From, To    int64
}

// has reports whether an issue overlaps the range.
func (w *Where) has(v *View) bool {
	return v.StartAt.UnixMilli() < w.To && (v.EndAt == nil || v.EndAt.UnixMilli() > w.From)
}

// Query selects issues to list.
type Query struct {
	Where    []Where // only issues that overlap these ranges
	Types    []monitor.IssueType
	Open     *bool // nil: both
	Uncaused bool  // only issues with time without a cause
	Limit    int
	Skip     int
}

// List returns a page of issues, the latest first, and their total number. It must not be called inside a transaction.
// Errors are the store's, the floor's and ctx's.
func (s *Service) List(ctx context.Context, account string, q Query) (page []*View, total int, err error) {
	all := []*View{}
	now := s.Now()
	for _, at := range q.Where {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		list, err := s.of(account, at.StationCode, instant.FloorMinute(at.From), instant.CeilMinute(at.To), now)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, slices.DeleteFunc(list, func(v *View) bool { return !at.has(v) || !q.wants(v) })...)
	}
	slices.SortStableFunc(all, func(a, b *View) int {
		return cmp.Or(b.StartAt.Compare(a.StartAt.Time), cmp.Compare(a.StationCode, b.StationCode), cmp.Compare(a.Type, b.Type))
	})
	page = all[min(q.Skip, len(all)):]
	return page[:min(q.Limit, len(page))], len(all), nil
}

func (q *Query) wants(v *View) bool {
	typed := len(q.Types) == 0 || slices.ContainsFunc(q.Types, func(t monitor.IssueType) bool { return t.String() == v.Type })
	return typed && (q.Open == nil || *q.Open == (v.EndAt == nil)) && (!q.Uncaused || v.UncausedMs > 0 && !v.Orphaned)
}

// of returns the issues of a station that overlap a range, and the orphaned records in it.
func (s *Service) of(account, code string, from, to, now int64) ([]*View, error) {
	d, err := s.cfg.Detail(account, code, from, to)
	if err != nil {
		return nil, err
	}
	first, last := extent(append(slices.Clone(d.Issues), monitor.Issue{Start: from, End: to}))
	var records []*Record
	if err := s.cfg.Store.View(func(tx *kv.Tx) (err error) {
		records, err = about(tx, account, code, first, last)
		return err
	}); err != nil {
		return nil, err
	}
	of, orphans := Follow(d.Issues, records)
	var out []*View
	for i := range of {
		out = append(out, show(code, &of[i], now))
	}
	for _, r := range orphans {
		if r.end() <= from || r.Start >= to {
			continue
		}
		// The record may belong to an issue outside of the range.
		if r.Start < from || r.end() > to {
			d, err := s.cfg.Detail(account, code, instant.FloorMinute(r.Start), instant.CeilMinute(r.end()))
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(d.Issues, func(x monitor.Issue) bool { return related(&x, r) }) {
				continue
			}
		}
		out = append(out, orphan(code, r))
	}
	return out, nil
}

package history

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"opsmon/app/column"
	"opsmon/app/engine/monitor"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Config has the dependencies and settings of a Store.
type Config struct {
	Store     *kv.Store
	Retention time.Duration // of days; 0: DefaultRetention
	// Signals is the retention of signals: an older state cannot be used for a recalculation. 0: DefaultSignals.
	Signals time.Duration
	Clock   func() time.Time // nil: time.Now; only used by Sweep
	Log     *slog.Logger     // nil: discard
}

// The default retention times.
const (
	DefaultRetention = 10 * 365 * 24 * time.Hour
	DefaultSignals   = 400 * 24 * time.Hour
)

// Store stores the history of all stations. Its methods may be called from any goroutine, in a transaction of its
// store.
type Store struct{ cfg Config }

// New returns a Store and deletes data of another format. Errors are the store's.
func New(cfg Config) (*Store, error) {
	if cfg.Store == nil {
		return nil, errors.New("history: no store is given")
	}
	if cfg.Retention == 0 {
		cfg.Retention = DefaultRetention
	}
	if cfg.Signals == 0 {
		cfg.Signals = DefaultSignals
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{cfg}
	return s, s.renew()
}

// Day returns the UTC day of a moment, as days since 1970.
func Day(at int64) int64 {
	day := at / instant.DayMs
	if at%instant.DayMs < 0 {
		day--
	}
	return day
}

// dayKey has an account, a station, and a UTC day or a moment. Days before 1970 sort first.
type dayKey = kv.Pair[string, kv.Pair[string, uint64]]

// issueKey has an account, a station, a type of issue and its end.
type issueKey = kv.Pair[string, kv.Pair[string, kv.Pair[uint64, uint64]]]

const sign = 1 << 63

func keyOf(account, station string, n int64) dayKey {
	return dayKey{A: account, B: kv.Pair[string, uint64]{A: station, B: uint64(n) ^ sign}}
}

// numberOf returns the day or moment of a key.
func numberOf(k dayKey) int64 { return int64(k.B.B ^ sign) }

func issueKeyOf(account, station string, t monitor.IssueType, end int64) issueKey {
	return issueKey{A: account, B: kv.Pair[string, kv.Pair[uint64, uint64]]{A: station, B: kv.Pair[uint64, uint64]{A: uint64(t), B: uint64(end) ^ sign}}}
}

func endOf(k issueKey) int64 { return int64(k.B.B.B ^ sign) }

var (
	dayKeys = kv.PairOf(kv.String, kv.PairOf(kv.String, kv.Uint64))
	details = kv.NewBucket("historyDetail", dayKeys, kv.Raw)
	issues  = kv.NewBucket("historyIssue", kv.PairOf(kv.String, kv.PairOf(kv.String, kv.PairOf(kv.Uint64, kv.Uint64))), kv.Raw)
	hours   = kv.NewBucket("historyHour", dayKeys, kv.Raw)
	days    = kv.NewBucket("historyDay", dayKeys, kv.Raw)
	states  = kv.NewBucket("historyState", dayKeys, kv.Raw)
)

// Buckets returns the names of the package's buckets, for kv.Config.Buckets.
func Buckets() []string {
	return []string{details.Name(), issues.Name(), hours.Name(), days.Name(), states.Name(), formats.Name(), losts.Name()}
}

// issueTypes has all types.
var issueTypes = [...]monitor.IssueType{monitor.IssueStop, monitor.IssueSlow, monitor.IssueManual}

// broken returns the error for a value with a valid checksum that cannot be decoded.
func broken(bucket, station string, day int64, err error) error {
	return &kv.Error{Op: "read", Bucket: bucket, Key: fmt.Sprintf("%s/%d", station, day), Kind: kv.ErrDamaged, Err: err}
}

// joins reports whether b directly follows a and is otherwise equal.
func joins(a, b *monitor.Segment) bool {
	if a.End != b.Start || !a.Ctx.Same(b.Ctx) {
		return false
	}
	x := *b
	x.Start, x.End, x.Ctx = a.Start, a.End, a.Ctx
	return x == *a
}

// Join appends the segments b to a, and merges the last of a with the first of b if they belong together.
func Join(a, b []monitor.Segment) []monitor.Segment {
	if n := len(a); n > 0 && len(b) > 0 && joins(&a[n-1], &b[0]) {
		a[n-1].End = b[0].End
		b = b[1:]
	}
	return append(a, b...)
}

// Cut returns the part of outputs that belongs to [from, to): segments cut to it, minutes and events that begin in it,
// issues that end in it. It shares memory with out where possible. A worker's results that are not yet stored are the
// Cut from the end of the last Replace.
func Cut(out monitor.Outputs, from, to int64) monitor.Outputs {
	after := func(at, edge int64) int {
		if at < edge {
			return -1
		}
		return 1
	}
	span := func(n func(edge int64) (int, bool)) (int, int) {
		first, _ := n(from)
		last, _ := n(to)
		return first, max(first, last)
	}
	var cut monitor.Outputs
	if from >= to {
		return cut
	}
	first, _ := slices.BinarySearchFunc(out.Segments, from, func(g monitor.Segment, edge int64) int { return after(g.End, edge+1) })
	last, _ := slices.BinarySearchFunc(out.Segments, to, func(g monitor.Segment, edge int64) int { return after(g.Start, edge) })
	if first < last {
		cut.Segments = out.Segments[first:last:last]
		if n := len(cut.Segments); cut.Segments[0].Start < from || cut.Segments[n-1].End > to {
			cut.Segments = slices.Clone(cut.Segments)
			cut.Segments[0].Start = max(cut.Segments[0].Start, from)
			cut.Segments[n-1].End = min(cut.Segments[n-1].End, to)
		}
	}
	if first, last = span(func(edge int64) (int, bool) {
		return slices.BinarySearchFunc(out.Minutes, edge, func(m monitor.Minute, edge int64) int { return after(m.Start, edge) })
	}); first < last {
		cut.Minutes = out.Minutes[first:last:last]
	}
	if first, last = span(func(edge int64) (int, bool) {
		return slices.BinarySearchFunc(out.Issues, edge, func(i monitor.Issue, edge int64) int { return after(i.End, edge) })
	}); first < last {
		cut.Issues = out.Issues[first:last:last]
	}
	if first, last = span(func(edge int64) (int, bool) {
		return slices.BinarySearchFunc(out.Events, edge, func(e monitor.Event, edge int64) int { return after(e.At, edge) })
	}); first < last {
		cut.Events = out.Events[first:last:last]
	}
	return cut
}

// sound checks that outputs are valid for [from, to).
func sound(from, to int64, out *monitor.Outputs) error {
	at := from
	for i := range out.Segments {
		g := &out.Segments[i]
		if g.Ctx == nil || g.Start < at || g.End <= g.Start || g.End > to {
			return fmt.Errorf("segment %d, %d to %d, is out of place", i, g.Start, g.End)
		}
		at = g.End
	}
	at = from
	for i := range out.Minutes {
		m := &out.Minutes[i]
		if m.Start < at || m.Start%instant.MinuteMs != 0 || m.Start >= to {
			return fmt.Errorf("minute %d, %d, is out of place", i, m.Start)
		}
		at = m.Start + instant.MinuteMs
		for k := range m.Parts {
			if m.Parts[k].Ctx == nil {
				return fmt.Errorf("minute %d, %d, has a part without a context", i, m.Start)
			}
		}
	}
	at = from
	for i := range out.Issues {
		x := &out.Issues[i]
		if x.Type < monitor.IssueStop || x.Type > monitor.IssueManual || x.Start >= x.End || x.End < at || x.End >= to {
			return fmt.Errorf("issue %d, %d to %d, is out of place", i, x.Start, x.End)
		}
		at = x.End
	}
	return nil
}

// covered reports whether segments cover [from, to) without gaps.
func covered(from, to int64, list []monitor.Segment) bool {
	for i := range list {
		if list[i].Start != from {
			return false
		}
		from = list[i].End
	}
	return from == to
}

// Through returns the end of a station's stored history; 0: nothing is stored. Errors: kv.ErrDamaged and others of the
// store.
func (s *Store) Through(tx *kv.Tx, account, station string) (int64, error) {
	for item, err := range details.ScanDown(tx, of(account, station, math.MinInt64, math.MaxInt64)) {
		if err != nil {
			return 0, fmt.Errorf("read the history of %s: %w", station, err)
		}
		until, err := untilOf(item.Value)
		if err != nil {
			return 0, broken(details.Name(), station, numberOf(item.Key), err)
		}
		return until, nil
	}
	return 0, nil
}

// Since returns the start of a station's stored history; 0: nothing is stored. Errors: kv.ErrDamaged and others of the
// store.
func (s *Store) Since(tx *kv.Tx, account, station string) (int64, error) {
	for item, err := range details.Scan(tx, of(account, station, math.MinInt64, math.MaxInt64)) {
		if err != nil {
			return 0, fmt.Errorf("read the history of %s: %w", station, err)
		}
		day := numberOf(item.Key)
		out, err := unpack(day, item.Value, &monitor.Contexts{})
		if err != nil {
			return 0, broken(details.Name(), station, day, err)
		}
		return out.Segments[0].Start, nil
	}
	return 0, nil
}

// of returns the key range of a station's days or moments [first, last).
func of(account, station string, first, last int64) kv.Range {
	return details.Between(keyOf(account, station, first), keyOf(account, station, last))
}

// Replace stores a station's final results in [from, to), which are whole minutes. It deletes everything stored from
// `from` on: detail, and sums that include some of it. If from is before Through, it also deletes the states from
// `from` on, because they are outdated.
//
// out may exceed the range on both sides; the part that Cut returns is stored, except events. It must therefore come
// from a State stored before `from`, not at it, or be the rest of the previous Replace. The segments must cover the
// range. Errors: unsuitable outputs; kv.ErrDamaged and others of the store.
func (s *Store) Replace(tx *kv.Tx, account, station string, from, to int64, out monitor.Outputs) error {
	fail := func(err error) error { return fmt.Errorf("keep the history of %s: %w", station, err) }
	out = Cut(out, from, to)
	switch err := sound(from, to, &out); {
	case err != nil:
		return fail(err)
	case from > to || from%instant.MinuteMs != 0 || to%instant.MinuteMs != 0:
		return fail(fmt.Errorf("%d to %d is no range of whole minutes", from, to))
	case !covered(from, to, out.Segments):
		return fail(fmt.Errorf("the segments leave a hole in %d to %d", from, to))
	}
	through, err := s.Through(tx, account, station)
	if err != nil {
		return err
	}
	if from < through {
		if err := s.clear(tx, account, station, from); err != nil {
			return fail(err)
		}
		if err := s.ForgetStates(tx, account, station, from); err != nil {
			return err
		}
	}
	if from == to {
		return nil
	}
	for day := Day(from); day*instant.DayMs < to; day++ {
		part := Cut(out, day*instant.DayMs, (day+1)*instant.DayMs)
		if day == Day(from) && from%instant.DayMs != 0 {
			before, err := readDetail(tx, account, station, day, &monitor.Contexts{})
			if err != nil {
				return err
			}
			part.Segments = Join(before.Segments, part.Segments)
			part.Minutes = append(before.Minutes, part.Minutes...)
			part.Issues = append(before.Issues, part.Issues...)
		}
		if err := putDetail(tx, account, station, day, part); err != nil {
			return fail(err)
		}
	}
	return nil
}

// putDetail stores a day. Its issues that began on an earlier day are stored separately.
func putDetail(tx *kv.Tx, account, station string, day int64, out monitor.Outputs) error {
	short := out.Issues[:0:0]
	for i := range out.Issues {
		x := &out.Issues[i]
		if x.Start >= day*instant.DayMs {
			short = append(short, *x)
			continue
		}
		if err := issues.Put(tx, issueKeyOf(account, station, x.Type, x.End), packIssue(x)); err != nil {
			return err
		}
	}
	out.Issues = short
	b, err := pack(day, out)
	if err != nil {
		return err
	}
	return details.Put(tx, keyOf(account, station, day), b)
}

// readDetail reads a day, or returns an empty one if it is not stored. Issues that began on an earlier day are not
// included.
func readDetail(tx *kv.Tx, account, station string, day int64, known *monitor.Contexts) (monitor.Outputs, error) {
	b, err := details.Get(tx, keyOf(account, station, day))
	if errors.Is(err, kv.ErrNotFound) {
		return monitor.Outputs{}, nil
	}
	if err != nil {
		return monitor.Outputs{}, fmt.Errorf("read the history of %s: %w", station, err)
	}
	out, err := unpack(day, b, known)
	if err != nil {
		return out, broken(details.Name(), station, day, err)
	}
	return out, nil
}

// clear deletes detail and sums from a moment on.
func (s *Store) clear(tx *kv.Tx, account, station string, from int64) error {
	day := Day(from)
	if from > day*instant.DayMs {
		before, err := readDetail(tx, account, station, day, &monitor.Contexts{})
		if err != nil {
			return err
		}
		before = Cut(before, day*instant.DayMs, from)
		if len(before.Segments) > 0 {
			if err := putDetail(tx, account, station, day, before); err != nil {
				return err
			}
		} else if err := details.Delete(tx, keyOf(account, station, day)); err != nil {
			return err
		}
		if err := dropSums(tx, account, station, day, from); err != nil {
			return err
		}
		day++
	}
	for _, b := range []*kv.Bucket[dayKey, []byte]{details, hours, days} {
		if err := drop(tx, b, of(account, station, day, math.MaxInt64)); err != nil {
			return err
		}
	}
	for _, t := range issueTypes {
		if err := drop(tx, issues, issues.Between(issueKeyOf(account, station, t, from), issueKeyOf(account, station, t, math.MaxInt64))); err != nil {
			return err
		}
	}
	return nil
}

// drop deletes a range of keys.
func drop[K any](tx *kv.Tx, b *kv.Bucket[K, []byte], r kv.Range) error {
	for item, err := range b.Scan(tx, r) {
		if err != nil {
			return err
		}
		if err := b.Delete(tx, item.Key); err != nil {
			return err
		}
	}
	return nil
}

// Forget deletes everything stored of a station from a moment on, a whole minute: detail, sums and states. Errors:
// kv.ErrDamaged and others of the store.
func (s *Store) Forget(tx *kv.Tx, account, station string, from int64) error {
	if err := s.clear(tx, account, station, from); err != nil {
		return fmt.Errorf("forget the history of %s: %w", station, err)
	}
	return s.ForgetStates(tx, account, station, from)
}

// Detail returns the stored results of a station in [from, to), which are whole minutes: segments cut to the range, the
// minutes in it, and the whole issues that overlap it, ordered by end. Results after through are not stored; through is
// at most `to`, and 0 if nothing is stored. Calls with the same range return the same. Errors: kv.ErrDamaged and others
// of the store.
func (s *Store) Detail(tx *kv.Tx, account, station string, from, to int64) (out monitor.Outputs, through int64, err error) {
	if through, err = s.Through(tx, account, station); err != nil {
		return out, 0, err
	}
	known := &monitor.Contexts{}
	for item, err := range details.Scan(tx, of(account, station, Day(from), Day(to-1)+1)) {
		if err != nil {
			return monitor.Outputs{}, 0, fmt.Errorf("read the history of %s: %w", station, err)
		}
		day := numberOf(item.Key)
		part, err := unpack(day, item.Value, known)
		if err != nil {
			return monitor.Outputs{}, 0, broken(details.Name(), station, day, err)
		}
		if kept := Cut(part, from, to); out.Segments == nil && out.Minutes == nil {
			out.Segments, out.Minutes = kept.Segments, kept.Minutes // not shared with others
		} else {
			out.Segments = Join(out.Segments, kept.Segments)
			out.Minutes = append(out.Minutes, kept.Minutes...)
		}
		for i := range part.Issues {
			if x := &part.Issues[i]; x.Start < to && x.End > from {
				out.Issues = append(out.Issues, *x)
			}
		}
	}
	if out.Issues, err = longIssues(tx, account, station, from, to, out.Issues); err != nil {
		return monitor.Outputs{}, 0, err
	}
	slices.SortStableFunc(out.Issues, func(a, b monitor.Issue) int { return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Type, b.Type)) })
	return out, min(to, through), nil
}

// longIssues appends the issues that extend over the end of a day and overlap [from, to). Issues of one type do not
// overlap, so the first one that begins after the range ends the search.
func longIssues(tx *kv.Tx, account, station string, from, to int64, list []monitor.Issue) ([]monitor.Issue, error) {
	for _, t := range issueTypes {
		for item, err := range issues.Scan(tx, issues.Between(issueKeyOf(account, station, t, from+1), issueKeyOf(account, station, t, math.MaxInt64))) {
			if err != nil {
				return nil, fmt.Errorf("read the issues of %s: %w", station, err)
			}
			x, err := unpackIssue(item)
			if err != nil {
				return nil, err
			}
			if x.Start >= to {
				break
			}
			list = append(list, x)
		}
	}
	return list, nil
}

const formatIssue byte = 1

// packIssue encodes an issue; its type and end are in the key.
func packIssue(x *monitor.Issue) []byte {
	var w writer
	w.issue(x.End, x)
	return w.Payload([]byte{formatIssue})
}

func unpackIssue(item kv.Item[issueKey, []byte]) (x monitor.Issue, err error) {
	end := endOf(item.Key)
	if err = column.ErrBroken; len(item.Value) > 0 && item.Value[0] == formatIssue {
		r := newReader(item.Value[1:])
		x = r.issue(end)
		err = r.End()
	}
	if err == nil && (x.End != end || uint64(x.Type) != item.Key.B.B.A || Day(x.Start) == Day(x.End)) {
		err = column.ErrBroken
	}
	if err != nil {
		return x, broken(issues.Name(), item.Key.B.A, end, err)
	}
	return x, nil
}

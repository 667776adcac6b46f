package history

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/column"
	"opsmon/app/engine/energy"
	"opsmon/app/engine/monitor"
	"opsmon/app/engine/oee"
	"opsmon/app/instant"
)

// fill sets every field reachable from a value, so a new field that is not encoded is detected.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(3) > 0)
	case reflect.String:
		v.SetString([]string{"a", "ß", "x y", ""}[r.IntN(4)])
	case reflect.Float64:
		v.SetFloat([]float64{1, 0.1, -7.25, math.Pi, 1e300, math.SmallestNonzeroFloat64, math.Copysign(0, -1), math.Inf(1), 0.1 + 0.2, r.NormFloat64(), 0}[r.IntN(11)])
	case reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 1 << 40, math.MinInt64, math.MaxInt64, r.Int64N(1000)}[r.IntN(7)])
	case reflect.Int32:
		v.SetInt([]int64{0, 20000, math.MinInt32, math.MaxInt32}[r.IntN(4)])
	case reflect.Uint8:
		v.SetUint(uint64(r.IntN(3)))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Slice:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(r, v.Index(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem())
	default:
		panic("what is a " + v.Type().String())
	}
}

func filled[T any](r *rand.Rand) (v T) {
	fill(r, reflect.ValueOf(&v).Elem())
	return v
}

// oddDay returns a day with extreme values in every field.
func oddDay(r *rand.Rand, day int64) (out monitor.Outputs) {
	n := 1 + r.IntN(30)
	var known []*monitor.Context
	context := func() *monitor.Context {
		if len(known) == 0 || r.IntN(3) == 0 {
			x := filled[monitor.Context](r)
			known = append(known, &x)
		}
		return known[r.IntN(len(known))]
	}
	at := day * instant.DayMs
	for i := range n {
		g := filled[monitor.Segment](r)
		g.Ctx, g.Start = context(), at+r.Int64N(2)*r.Int64N(1000)
		g.End = g.Start + 1 + r.Int64N(1000)
		if i == n-1 && r.IntN(2) == 0 {
			g.End = (day + 1) * instant.DayMs
		}
		at = g.End
		out.Segments = append(out.Segments, g)
	}
	for at := day*instant.DayMs + r.Int64N(3)*instant.MinuteMs; at < (day+1)*instant.DayMs; at += (1 + r.Int64N(700)) * instant.MinuteMs {
		m := filled[monitor.Minute](r)
		m.Start = at
		for i := range m.Parts {
			m.Parts[i].Ctx = context()
		}
		out.Minutes = append(out.Minutes, m)
	}
	for at := day * instant.DayMs; r.IntN(4) > 0; {
		x := filled[monitor.Issue](r)
		x.Type, x.Start = monitor.IssueStop+monitor.IssueType(r.IntN(3)), day*instant.DayMs+r.Int64N(at-day*instant.DayMs+1)
		x.End = at + 1 + r.Int64N(1000)
		at = x.End
		out.Issues = append(out.Issues, x)
	}
	return out
}

// bitwise is DeepEqual, but distinguishes 0 and -0.
func bitwise(a, b any) bool {
	return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) && reflect.DeepEqual(a, b)
}

// TestPack checks that a day is decoded exactly as it was encoded.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 500 {
		day := int64(i%5) * 5000
		want := oddDay(r, day)
		b, err := pack(day, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpack(day, b, &monitor.Contexts{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Fatal(cmp.Diff(want, got))
		}
		for k := range want.Segments {
			x, y := want.Segments[k].Ctx, got.Segments[k].Ctx
			if !bitwise(*x.Plan, *y.Plan) || !bitwise([]any{x.UnitsPerMinute, x.UnitGap}, []any{y.UnitsPerMinute, y.UnitGap}) {
				t.Fatalf("%+v of %+v became %+v of %+v", x, x.Plan, y, y.Plan)
			}
		}
		for k := range want.Minutes {
			if x, y := want.Minutes[k], got.Minutes[k]; math.Float64bits(x.SpeedSum) != math.Float64bits(y.SpeedSum) || math.Float64bits(x.RSSISum) != math.Float64bits(y.RSSISum) {
				t.Fatalf("%+v became %+v", x, y)
			}
		}
		again, err := pack(day, got)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("what was read is packed otherwise: %v", err)
		}
	}
}

func TestPackSums(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 500 {
		want := hourSums{until: r.Int64()}
		var quick daySums
		quick.until = want.until
		for range r.IntN(20) {
			want.rows = append(want.rows, filled[oee.Row](r))
			quick.rows = append(quick.rows, dayRow{filled[oee.Row](r), r.Int64N(1 << 40), r.Int64N(1 << 40)})
		}
		for range r.IntN(20) {
			want.used = append(want.used, filled[energy.Row](r))
			quick.used = append(quick.used, dayUsed{filled[energy.Row](r), r.Int64N(1 << 40), r.Int64N(1 << 40)})
		}
		b, err := packHours(20_000, want.until, want.rows, want.used)
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpackHours(20_000, b)
		if err != nil || len(got.rows) != len(want.rows) || len(got.used) != len(want.used) || got.until != want.until {
			t.Fatalf("%d and %d rows to %d, %v", len(got.rows), len(got.used), got.until, err)
		}
		for i := range want.rows {
			if !bitwise(want.rows[i], got.rows[i]) {
				t.Fatal(cmp.Diff(want.rows[i], got.rows[i]))
			}
		}
		for i := range want.used {
			if !bitwise(want.used[i], got.used[i]) {
				t.Fatal(cmp.Diff(want.used[i], got.used[i]))
			}
		}
		var again daySums
		again.rows = make([]dayRow, 3)
		if err := again.unpack(20_000, packDays(20_000, quick.until, quick.rows, quick.used)); err != nil {
			t.Fatal(err)
		}
		if again.until != quick.until || fmt.Sprint(again.rows) != fmt.Sprint(quick.rows) || fmt.Sprint(again.used) != fmt.Sprint(quick.used) {
			t.Fatalf("%+v became %+v", quick, again)
		}
	}
}

// TestTermsAreAllPacked checks that each field of Terms has its own number.
func TestTermsAreAllPacked(t *testing.T) {
	var x oee.Terms
	seen := map[any]bool{}
	for i := range wholes {
		seen[whole(&x, i)] = true
	}
	for i := range floats {
		seen[float(&x, i)] = true
	}
	for i := range flags {
		seen[flag(&x, i)] = true
	}
	var count func(v reflect.Value) int
	count = func(v reflect.Value) (n int) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				n += count(v.Field(i))
			}
		case reflect.Array:
			for i := range v.Len() {
				n += count(v.Index(i))
			}
		default:
			n = 1
		}
		return n
	}
	if n := count(reflect.ValueOf(x)); n != len(seen) || n != wholes+floats+flags {
		t.Errorf("of %d fields %d are packed, by %d numbers", n, len(seen), wholes+floats+flags)
	}
	if wholes > 64 || floats+flags > 64 {
		t.Errorf("%d and %d fields do not fit a mask", wholes, floats+flags)
	}
}

// readAnything decodes arbitrary bytes. It must return an error or a value, not panic, and not use more memory than a
// value may.
func readAnything(t *testing.T, b []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const day = 20_000
	if out, err := unpack(day, b, &monitor.Contexts{}); err == nil {
		again, err := pack(day, out)
		if err != nil {
			t.Fatalf("what could be read cannot be packed: %v", err)
		}
		if _, err := unpack(day, again, &monitor.Contexts{}); err != nil {
			t.Fatal(err)
		}
	} else if !errors.Is(err, column.ErrBroken) {
		t.Errorf("%v", err)
	}
	if _, err := unpackHours(day, b); err != nil && !errors.Is(err, column.ErrBroken) {
		t.Errorf("%v", err)
	}
	var s daySums
	if err := s.unpack(day, b); err != nil && !errors.Is(err, column.ErrBroken) {
		t.Errorf("%v", err)
	}
	if _, err := unpackState(b); err != nil && !errors.Is(err, column.ErrBroken) {
		t.Errorf("%v", err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 512<<20 {
		t.Errorf("%d bytes were made of %d", used, len(b))
	}
}

// FuzzUnpack changes the payloads before compression, so that the changes reach the decoder.
func FuzzUnpack(f *testing.F) {
	p := run(3, time.UTC, 1, 60*secondMs)
	shift := 20_000*instant.DayMs - p.from
	for i := range p.out.Segments {
		p.out.Segments[i].Start += shift
		p.out.Segments[i].End += shift
	}
	p.out.Segments, p.out.Minutes, p.out.Issues = p.out.Segments[:10], nil, nil
	small := monitor.Outputs{Segments: p.out.Segments}
	detail, err := pack(20_000, small)
	if err != nil {
		f.Fatal(err)
	}
	odd, err := pack(20_000, oddDay(rand.New(rand.NewPCG(4, 4)), 20_000))
	if err != nil {
		f.Fatal(err)
	}
	hourly, err := packHours(20_000, 5, []oee.Row{{Start: 7, SKU: "A"}}, []energy.Row{{Start: 7}})
	if err != nil {
		f.Fatal(err)
	}
	for _, b := range [][]byte{detail, odd, hourly} {
		payload, err := compression.Decompress(b[detailHead:])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:detailHead], payload, true)
		f.Add(b[:detailHead], b[detailHead:], false)
	}
	f.Add([]byte{formatDays}, packDays(20_000, 5, []dayRow{{oee.Row{SKU: "A"}, 1, 2}}, []dayUsed{{}})[1:], false)
	f.Fuzz(func(t *testing.T, head, rest []byte, wrap bool) {
		if wrap {
			rest = compression.Compress(nil, rest)
		}
		readAnything(t, append(bytes.Clone(head), rest...))
	})
}

// TestUnpackDamaged: truncated values and values with a changed byte lead to an error or another value, never to a
// panic.
func TestUnpackDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		b, err := pack(20_000, oddDay(r, 20_000))
		if err != nil {
			t.Fatal(err)
		}
		for n := range b {
			if _, err := unpack(20_000, b[:n], &monitor.Contexts{}); !errors.Is(err, column.ErrBroken) {
				t.Errorf("%d of %d bytes are read: %v", n, len(b), err)
			}
		}
		payload, err := compression.Decompress(b[detailHead:])
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			changed := bytes.Clone(payload)
			changed[r.IntN(len(changed))] ^= 1 << r.IntN(8)
			readAnything(t, compression.Compress(bytes.Clone(b[:detailHead]), changed))
		}
	}
	// Many zeros compress to few bytes: a value that decompresses to too much must be refused before memory is
	// allocated.
	for _, n := range []int{1 << 20, most, most + 1} {
		readAnything(t, compression.Compress(bytes.Clone(append([]byte{formatDetail}, make([]byte, 8)...)), make([]byte, n)))
	}
}

package monitor

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestExact compares sums of rates times milliseconds with arithmetic of arbitrary precision, in any order and
// grouping.
func TestExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		type product struct {
			rate float64
			ms   int64
		}
		list := make([]product, 1+rng.IntN(60))
		want := new(big.Float).SetPrec(2000)
		for i := range list {
			list[i] = product{math.Ldexp(1+rng.Float64(), rng.IntN(60)-30), rng.Int64N(1 << uint(1+rng.IntN(36)))}
			if rng.IntN(4) == 0 {
				list[i].rate = float64(rng.IntN(100)) / 3
			}
			one := new(big.Float).SetPrec(2000).SetFloat64(list[i].rate)
			want.Add(want, one.Mul(one, new(big.Float).SetInt64(list[i].ms)))
		}
		nearest, _ := want.Float64()
		var parts []float64
		for turn := range 3 {
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			var x, piece exact
			for i, p := range list {
				cut := rng.Int64N(p.ms + 1)
				x.add(p.rate, cut)
				if piece.add(p.rate, p.ms-cut); i%7 == 6 {
					x.addAll(piece)
					piece = nil
				}
			}
			x.addAll(piece)
			if got := x.value(); got != nearest {
				t.Fatalf("%v: %v, want %v", list, got, nearest)
			}
			if turn == 0 {
				parts = x.parts()
			} else if !slices.Equal(parts, x.parts()) {
				t.Fatalf("%v: the parts are %v and %v", list, parts, x.parts())
			}
			if len(x) > 12 {
				t.Fatalf("%d numbers are kept", len(x))
			}
			sum := new(big.Float).SetPrec(2000)
			for _, part := range parts {
				sum.Add(sum, new(big.Float).SetFloat64(part))
			}
			if sum.Cmp(want) != 0 {
				t.Fatalf("the parts of %v make %v, want %v", list, sum, want)
			}
		}
	}
}

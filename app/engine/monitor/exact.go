package monitor

import "math"

// exact is a sum of products without rounding, so that it does not depend on order and grouping. It has a few
// floating-point numbers of increasing magnitude whose digits do not overlap (J. R. Shewchuk, Adaptive Precision
// Floating-Point Arithmetic, 1997).
type exact []float64

// add adds a rate times a number of milliseconds.
func (x *exact) add(rate float64, ms int64) {
	if rate == 0 || ms == 0 {
		return
	}
	n := float64(ms)
	product := rate * n
	x.grow(math.FMA(rate, n, -product)) // the rounding error of the product
	x.grow(product)
}

func (x *exact) addAll(other exact) {
	for _, part := range other {
		x.grow(part)
	}
}

func (x *exact) grow(more float64) {
	kept := (*x)[:0]
	for _, part := range *x {
		if math.Abs(more) < math.Abs(part) {
			more, part = part, more
		}
		sum := more + part
		if rest := part - (sum - more); rest != 0 {
			kept = append(kept, rest)
		}
		more = sum
	}
	if more != 0 {
		kept = append(kept, more)
	}
	*x = kept
}

// value returns the sum, rounded once.
func (x exact) value() float64 {
	n := len(x)
	if n == 0 {
		return 0
	}
	sum, rest := x[n-1], 0.0
	for n--; n > 0 && rest == 0; n-- {
		was := sum
		sum = was + x[n-1]
		rest = x[n-1] - (sum - was)
	}
	// If the rest is exactly half of the last digit, the sign of the lower numbers decides.
	if n > 0 && rest != 0 && (rest > 0) == (x[n-1] > 0) {
		if up := sum + 2*rest; 2*rest == up-sum {
			sum = up
		}
	}
	return sum
}

// parts returns the canonical numbers of the sum, the largest first: equal sums have equal parts.
func (x exact) parts() (list []float64) {
	left := append(exact(nil), x...)
	for len(left) > 0 {
		most := left.value()
		list = append(list, most)
		left.grow(-most)
	}
	return list
}

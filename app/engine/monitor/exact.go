package monitor

import "math"

// exact is a sum of products that is not rounded, so that it does not depend on the order and the pieces in which they came. It
// holds floating point numbers of rising magnitude whose digits do not overlap, a handful of them (J. R. Shewchuk, Adaptive
// Precision Floating-Point Arithmetic, 1997).
type exact []float64

// add adds a rate times whole milliseconds.
func (x *exact) add(rate float64, ms int64) {
	if rate == 0 || ms == 0 {
		return
	}
	n := float64(ms)
	product := rate * n
	x.grow(math.FMA(rate, n, -product)) // what rounding took from the product
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
	// What lies below decides where the rest is exactly half of the last digit.
	if n > 0 && rest != 0 && (rest > 0) == (x[n-1] > 0) {
		if up := sum + 2*rest; 2*rest == up-sum {
			sum = up
		}
	}
	return sum
}

// parts returns numbers that have the same sum, and are the same for each exact with this sum: the largest first.
func (x exact) parts() (list []float64) {
	left := append(exact(nil), x...)
	for len(left) > 0 {
		most := left.value()
		list = append(list, most)
		left.grow(-most)
	}
	return list
}

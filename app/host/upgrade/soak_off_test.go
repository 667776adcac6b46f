//go:build !soak

package upgrade

import "math/rand/v2"

// stride is how many steps lie between two that are tried; first is the first of them.
const stride = 4

func first() int { return 1 + rand.IntN(stride) }

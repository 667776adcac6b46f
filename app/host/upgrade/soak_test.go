//go:build soak

package upgrade

// Every step is tried.
const stride = 1

func first() int { return 1 }

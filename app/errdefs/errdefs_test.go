package errdefs_test

import (
	"strings"
	"testing"

	"opsmon/app/errdefs"
)

func TestShorten(t *testing.T) {
	full := strings.Repeat("ß", 64)
	for _, tt := range [][2]string{{"", ""}, {"short", "short"}, {full, full}, {full + "x", full + "…"}} {
		if got := errdefs.Shorten(tt[0]); got != tt[1] {
			t.Errorf("%q became %q, want %q", tt[0], got, tt[1])
		}
	}
}

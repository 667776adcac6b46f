package backup

import (
	"errors"
	"testing"
)

// TestErrorReadsLikeAPath: also where an error is named that others were joined to.
func TestErrorReadsLikeAPath(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{during("back up", &Error{Kind: ErrNoRoom, Err: errors.New("0 MB are free")}), "back up: not enough room: 0 MB are free"},
		{during("back up", errors.Join(&Error{Kind: ErrNoRoom, Err: errors.New("0 MB are free")}, nil)), "back up: not enough room: 0 MB are free"},
		{during("verify x", errors.Join(damaged("app.db", "it is cut"), nil)), "verify x: app.db: damaged: it is cut"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

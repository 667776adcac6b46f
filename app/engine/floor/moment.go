package floor

import (
	"opsmon/app/errdefs"
	"opsmon/app/instant"
)

const (
	// backdate is how far back what people enter may take effect, ms: for tablets that were offline.
	backdate = 24 * hour
	// drift is how much a client's clock may be ahead of ours, ms.
	drift = 2 * minute
)

// Moment returns when a write takes effect, ms: at, the value of a field of the request, or now when it is nil. It may
// be up to 24 hours back; a client's clock may be two minutes ahead, which is now. Otherwise the error is Invalid, by
// the field.
func Moment(field string, at *int64, now int64) (int64, error) {
	switch {
	case at == nil:
		return now, nil
	case *at > now+drift:
		return 0, errdefs.InvalidField(field, "must not be in the future; it is %s, and now it is %s", stampOf(*at), stampOf(now))
	case *at < now-backdate:
		return 0, errdefs.InvalidField(field, "must not be more than 24 hours ago; it is %s, and now it is %s", stampOf(*at), stampOf(now))
	}
	return min(*at, now), nil
}

func stampOf(ms int64) string { return instant.FormatMs(ms) }

// Time is the time by which the Floor goes, ms.
func (f *Floor) Time() int64 { return f.now() }

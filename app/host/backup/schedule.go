package backup

import "time"

// Schedule says when backups are made: every so many days at a time of day. The zero value is midnight, every day, UTC.
type Schedule struct {
	Hour, Minute int            // of the day, on the wall
	Days         int            // from one to the next; 0 = 1
	Off          bool           // no backups are made
	Zone         *time.Location // nil = UTC
}

// How failures are dealt with.
const (
	retryAfter   = time.Hour     // a failed backup is tried again
	overdueAfter = 6 * time.Hour // a backup that is due for so long is reported
)

// Next returns when the backup after one made at last is due: the next time of the schedule, or the number of days
// later if Days is set. It may be in the past. For the zero time it returns the zero time: the first backup is due at
// once. On a day whose clock skips the time, it is due before or after the gap.
func (s Schedule) Next(last time.Time) time.Time {
	if last.IsZero() {
		return last
	}
	zone := s.Zone
	if zone == nil {
		zone = time.UTC
	}
	year, month, day := last.In(zone).Date()
	at := func(day int) time.Time { return time.Date(year, month, day, s.Hour, s.Minute, 0, 0, zone) }
	if !at(day).After(last) {
		day++
	}
	return at(day + max(s.Days, 1) - 1)
}

// Status says how the scheduled backups are doing.
type Status struct {
	Newest      Kept      // the newest backup in the folder, scheduled or manual; Name is "" if there is none
	Next        time.Time // when the next is due; zero = now
	Running     bool
	FailedAt    time.Time // when the newest attempt failed; zero when it did not
	Failures    int       // attempts that failed since the start
	Error       string    // why it failed; "" when it did not
	Overdue     bool      // no backup although one has been due for six hours
	CleaningErr string    // why old backups could not be removed; "" when they could
}

// Healthy reports whether there is neither a failure nor a missing backup.
func (s Status) Healthy() bool { return s.Error == "" && s.CleaningErr == "" && !s.Overdue }

// Problem returns a sentence that describes the problem; "" if there is none.
func (s Status) Problem() string {
	switch {
	case s.Error != "":
		return s.Error
	case s.CleaningErr != "":
		return "old backups could not be removed: " + s.CleaningErr
	case s.Overdue:
		return "no backup was made for too long"
	}
	return ""
}

// due returns the time of the next attempt. A failure in the future was noted while the clock was wrong, and does not
// delay it.
func due(s Schedule, newest, failed, now time.Time) time.Time {
	next := s.Next(newest)
	if retry := failed.Add(retryAfter); !failed.IsZero() && !failed.After(now) && retry.After(next) {
		return retry
	}
	return next
}

// overdue reports whether a backup has been due for too long. Without any backup it has been due since the start.
func overdue(s Schedule, newest, start, now time.Time) bool {
	if s.Off {
		return false
	}
	since := s.Next(newest)
	if since.Before(start) && !start.After(now) { // else the clock was wrong then
		since = start // nothing could be made while the service was off
	}
	return now.Sub(since) >= overdueAfter
}

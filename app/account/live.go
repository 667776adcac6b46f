package account

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/klauspost/compress/gzip"

	"opsmon/app/account/manifest"
)

// Live has the live fields of GET /account (monitoring.md section 10). They are not part of a revision, and are null
// in the manifest.
type Live struct {
	Cursors []Cursor
	// Station returns the live fields of a station. It is called by one goroutine for each of the account's stations.
	Station func(code string) LiveStation
}

// Cursor is the progress of a stage of the monitoring (monitoring.md section 8).
type Cursor struct {
	Type string // signals, windows, tasks or schedules
	At   int64  // Unix ms
}

// LiveStation has the live fields of a station. Zero values are shown as null.
type LiveStation struct {
	OperatorInitials string
	Status           string
	StatusAt         int64 // start of the status, Unix ms
	AlertMessage     string
	AlertExpiresAt   int64 // Unix ms
}

// liveFor is how long an answer with live values is reused. Its values may be LiveAge old when it is made, so with
// the time of the request none is older than a second.
const liveFor = 700 * time.Millisecond

// LiveAge is the maximum age of the values of Live.
const LiveAge = 200 * time.Millisecond

// liveKept is how long an unused answer with live values is cached.
const liveKept = time.Minute

// liveAnswers are the answers of GET /account with live values, as of one moment. Their entity tags are weak and
// exclude the cursors, which change every second, so clients with an otherwise current answer need not read it again.
type liveAnswers struct {
	at     time.Time
	digest [sha256.Size]byte // live values and cursors
	reps   [2]*Representation
}

// livePlace is the position of a station's live members in the rendered arrays.
type livePlace struct {
	code  string
	start int
}

// liveState belongs to a snapshot. Answers are made on demand, by one of the requests.
type liveState struct {
	mu      sync.Mutex
	current atomic.Pointer[liveAnswers]
	forgets bool // a call of forget is scheduled
}

// forget drops answers that were not used recently, because they may be large. Later answers will be equal. It
// reports whether it must be called again.
func (l *liveState) forget(now time.Time) (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cur := l.current.Load(); cur != nil {
		if idle := now.Sub(cur.at); idle >= 0 && idle < liveKept {
			return true
		}
	}
	l.current.Store(nil)
	l.forgets = false
	return false
}

// forgetLater schedules a call of forget, unless the snapshot has been garbage-collected by then.
func forgetLater(of weak.Pointer[Snapshot], clock func() time.Time) {
	time.AfterFunc(liveKept, func() {
		if snap := of.Value(); snap != nil && snap.live.forget(clock()) {
			forgetLater(of, clock)
		}
	})
}

// Answer returns the body of GET /account with live values, at most a second old; secret includes what only the role
// admin may see. It returns the same Representation while nothing changes.
func (s *Service) Answer(snap *Snapshot, secret bool) *Representation {
	which := 0
	if secret {
		which = 1
	}
	if s.live == nil {
		return snap.answers[which]
	}
	now := s.clock()
	if cur := snap.live.current.Load(); cur.fresh(now) {
		return cur.reps[which]
	}
	snap.live.mu.Lock()
	defer snap.live.mu.Unlock()
	cur := snap.live.current.Load()
	if cur.fresh(now) { // another request was faster
		return cur.reps[which]
	}
	live := s.live(snap.Account.ID)
	if live == nil {
		return snap.answers[which]
	}
	next := snap.withLive(live, now, cur)
	snap.live.current.Store(next)
	if !snap.live.forgets {
		snap.live.forgets = true
		forgetLater(weak.Make(snap), s.clock)
	}
	return next.reps[which]
}

func (l *liveAnswers) fresh(now time.Time) bool {
	return l != nil && now.Sub(l.at) < liveFor && !now.Before(l.at)
}

// withLive makes the answers with live values, or returns the previous ones if nothing changed.
func (s *Snapshot) withLive(live *Live, now time.Time, before *liveAnswers) *liveAnswers {
	places := s.arrays.places()
	var values []byte
	ends := make([]int, len(places))
	for i, p := range places {
		var station LiveStation
		if live.Station != nil {
			station = live.Station(p.code)
		}
		values = appendLive(values, station)
		ends[i] = len(values)
	}
	cursors := appendCursors(nil, live.Cursors, now)
	hash := sha256.New()
	hash.Write(values)
	tag := hash.Sum(nil)
	hash.Write(cursors)
	next := &liveAnswers{at: now, digest: [sha256.Size]byte(hash.Sum(nil))}
	if before != nil && before.digest == next.digest {
		next.reps = before.reps
		return next
	}
	rendered, from, taken := s.arrays.rendered, 1, 0
	body := make([]byte, 0, len(rendered)+len(values))
	for i, p := range places {
		body = append(append(body, rendered[from:p.start]...), values[taken:ends[i]]...)
		from, taken = p.start+len(manifest.LiveMembers), ends[i]
	}
	body = append(body, rendered[from:]...)
	for i := range next.reps {
		rep := newRepresentation(s.Account, s.answerHead([]byte("[]"), i == 1), body, []byte("}}}"), tag...).weak()
		rep.show(s.answerHead(cursors, i == 1))
		rep.level = gzip.BestSpeed // it is used for only a second
		next.reps[i] = rep
	}
	return next
}

// placesOf finds the live members of all stations in the rendered arrays.
func placesOf(rendered []byte) []livePlace {
	var places []livePlace
	// members and elements return subslices of rendered, so the capacity determines the offset.
	offset := func(part []byte) int { return cap(rendered) - cap(part) }
	var walk func(array []byte, children []string)
	walk = func(array []byte, children []string) {
		manifest.Elements(array, func(object []byte) {
			code := ""
			manifest.Members(object, 0, func(key, value []byte) {
				switch name := manifest.Plain(key); {
				case name == children[0]:
					walk(value, children[1:])
				case name == "code" && children[0] == "":
					code = manifest.Plain(value[1 : len(value)-1])
				}
			})
			if children[0] == "" && bytes.HasSuffix(object, []byte(manifest.LiveMembers+"}")) {
				places = append(places, livePlace{code, offset(object) + len(object) - len(manifest.LiveMembers) - 1})
			}
		})
	}
	manifest.Members(rendered, 0, func(key, value []byte) {
		if manifest.Plain(key) == "plants" {
			walk(value, manifest.TreeChildren)
		}
	})
	return places
}

func appendLive(dst []byte, l LiveStation) []byte {
	text := func(name, value string) {
		dst = append(append(append(dst, `,"`...), name...), `":`...)
		if value == "" {
			dst = append(dst, "null"...)
			return
		}
		dst = manifest.AppendString(dst, value)
	}
	moment := func(name string, ms int64) {
		dst = append(append(append(dst, `,"`...), name...), `":`...)
		var t time.Time
		if ms != 0 {
			t = time.UnixMilli(ms)
		}
		dst = manifest.AppendTime(dst, t)
	}
	text("currentOperatorInitials", l.OperatorInitials)
	text("statusCode", l.Status)
	moment("statusCodeUpdatedAt", l.StatusAt)
	text("alertMessage", l.AlertMessage)
	moment("alertExpiresAt", l.AlertExpiresAt)
	return dst
}

// appendCursors appends the array of cursors: timestamp in Unix milliseconds, value as a formatted time, valueAgo as
// the time since.
func appendCursors(dst []byte, cursors []Cursor, now time.Time) []byte {
	dst = append(dst, '[')
	for i, c := range cursors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = manifest.AppendString(append(dst, `{"type":`...), c.Type)
		dst = strconv.AppendInt(append(dst, `,"timestamp":`...), c.At, 10)
		dst = manifest.AppendTime(append(dst, `,"value":`...), time.UnixMilli(c.At))
		dst = manifest.AppendString(append(dst, `,"valueAgo":`...), ago(now.Sub(time.UnixMilli(c.At))))
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// ago formats a duration in its largest whole unit.
func ago(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d d", d/(24*time.Hour))
}

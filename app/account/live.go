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
)

// Live is what GET /account shows of the floor as it is now (monitoring.md section 10). It makes no revision, and the
// manifest by itself has null in its place.
type Live struct {
	Cursors []Cursor
	// Station gives what is known of a station. It is called for each of the account's stations, by one goroutine.
	Station func(code string) LiveStation
}

// Cursor says how far a stage of the monitoring has got (monitoring.md section 8).
type Cursor struct {
	Type string // signals, windows, tasks or schedules
	At   int64  // Unix ms
}

// LiveStation is a station as it is now. What is zero is shown as null.
type LiveStation struct {
	OperatorInitials string
	Status           string
	StatusAt         int64 // since when, Unix ms
	AlertMessage     string
	AlertExpiresAt   int64 // Unix ms
}

// liveNull are the live members of a station as they are rendered, to be replaced by what is known.
const liveNull = `,"currentOperatorInitials":null,"statusCode":null,"statusCodeUpdatedAt":null,"alertMessage":null,"alertExpiresAt":null`

// liveFor is how long an answer with live values is given again before it is looked at anew. The values may be LiveAge old then: with
// the time that it takes, none is older than a second.
const liveFor = 700 * time.Millisecond

// LiveAge is how old the values of Live may be.
const LiveAge = 200 * time.Millisecond

// liveKept is for how long an answer with live values is remembered that nobody asks for.
const liveKept = time.Minute

// liveAnswers are the answers of GET /account with live values in them, as of a moment. Their entity tags are weak: cursors move
// every second, and are left out, so that who has seen the rest need not read it again.
type liveAnswers struct {
	at     time.Time
	digest [sha256.Size]byte // of the live values and cursors
	reps   [2]*Representation
}

// livePlace is where a station's live members stand in the rendered arrays.
type livePlace struct {
	code  string
	start int
}

// liveState belongs to a snapshot. Answers are made when somebody asks, by one of those who do.
type liveState struct {
	mu      sync.Mutex
	current atomic.Pointer[liveAnswers]
	forgets bool // forget is due
}

// forget lets go of answers that nobody asked for lately: they may be large. They come out equal when they are made again. It
// returns whether it is to be called again.
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

// forgetLater calls forget in a while, where the snapshot is still that of somebody else.
func forgetLater(of weak.Pointer[Snapshot], clock func() time.Time) {
	time.AfterFunc(liveKept, func() {
		if snap := of.Value(); snap != nil && snap.live.forget(clock()) {
			forgetLater(of, clock)
		}
	})
}

// Answer returns the body of GET /account with the floor as it is now, at most a second old; secret includes what the role
// admin alone may see. As long as nothing changes it is the same Representation.
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
	if cur.fresh(now) { // another one was quicker
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

// withLive makes the answers with live values, or takes those that it made before when nothing changed.
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
		from, taken = p.start+len(liveNull), ends[i]
	}
	body = append(body, rendered[from:]...)
	for i := range next.reps {
		rep := newRepresentation(s.Account, s.answerHead([]byte("[]"), i == 1), body, []byte("}}}"), tag...).weak()
		rep.show(s.answerHead(cursors, i == 1))
		rep.level = gzip.BestSpeed // it is sent for a second and no longer
		next.reps[i] = rep
	}
	return next
}

// placesOf finds the live members of all stations in rendered arrays.
func placesOf(rendered []byte) []livePlace {
	var places []livePlace
	// What members and elements hand out are parts of rendered: the capacity tells where they begin.
	offset := func(part []byte) int { return cap(rendered) - cap(part) }
	var walk func(array []byte, children []string)
	walk = func(array []byte, children []string) {
		elements(array, func(object []byte) {
			code := ""
			members(object, 0, func(key, value []byte) {
				switch name := plain(key); {
				case name == children[0]:
					walk(value, children[1:])
				case name == "code" && children[0] == "":
					code = plain(value[1 : len(value)-1])
				}
			})
			if children[0] == "" && bytes.HasSuffix(object, []byte(liveNull+"}")) {
				places = append(places, livePlace{code, offset(object) + len(object) - len(liveNull) - 1})
			}
		})
	}
	members(rendered, 0, func(key, value []byte) {
		if plain(key) == "plants" {
			walk(value, treeChildren)
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
		dst = appendString(dst, value)
	}
	moment := func(name string, ms int64) {
		dst = append(append(append(dst, `,"`...), name...), `":`...)
		var t time.Time
		if ms != 0 {
			t = time.UnixMilli(ms)
		}
		dst = appendTime(dst, t)
	}
	text("currentOperatorInitials", l.OperatorInitials)
	text("statusCode", l.Status)
	moment("statusCodeUpdatedAt", l.StatusAt)
	text("alertMessage", l.AlertMessage)
	moment("alertExpiresAt", l.AlertExpiresAt)
	return dst
}

// appendCursors appends the array of cursors: timestamp in Unix milliseconds, value the same as a time, valueAgo how long
// ago that is.
func appendCursors(dst []byte, cursors []Cursor, now time.Time) []byte {
	dst = append(dst, '[')
	for i, c := range cursors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(append(dst, `{"type":`...), c.Type)
		dst = strconv.AppendInt(append(dst, `,"timestamp":`...), c.At, 10)
		dst = appendTime(append(dst, `,"value":`...), time.UnixMilli(c.At))
		dst = appendString(append(dst, `,"valueAgo":`...), ago(now.Sub(time.UnixMilli(c.At))))
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// ago writes how long ago something was, in its largest whole unit.
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

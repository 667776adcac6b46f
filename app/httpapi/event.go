package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
)

// Routes returns the operations on the event stream.
func (api *eventsAPI) Routes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/events", Handle: api.getEvents,
			Query: []string{"types", "stationcodes", "plantcode"},
			Operation: openapi.Operation{
				ID: "getEvents", Tag: "Event", Summary: "Follow changes",
				About: "Server-sent events, for as long as the client stays connected. Each event has an `id`, a " +
					"type, and as `data` what changed, in the form in which it is read:\n\n- `station`: a " +
					"station's status, counts and speed. Of several events in quick succession only the newest " +
					"is sent.\n- `issue`, `schedule`: the stop or schedule.\n- `task`: the Task. A Task that the " +
					"manifest no longer asks for is sent once more with the state `withdrawn`. When more than 20 " +
					"Tasks of a station change at once, `data` is `{stationCode, changed}`: read them again.\n- " +
					"`message`: a message for the next shift that was left, or is done.\n- `account`: a new " +
					"revision of the configuration (number, time, author and note), whichever stations were " +
					"requested.\n- `reset`: events were missed that can no longer be sent: read everything " +
					"again.\n- `beat`: sent every 15 seconds when nothing else is. A client that receives " +
					"nothing for much longer has lost the connection.\n\nA client that reconnects with " +
					"`Last-Event-ID` continues where it was. The stream ends after an hour, when the credential " +
					"is revoked or expires, when its role changes, and when the service stops: connect again. A " +
					"client that does not read is disconnected.\n\nThere may be 512 streams in total, or half of " +
					"`maxConnections` if that is less. One person may have three quarters of them, one account " +
					"seven eighths, and one credential 32.\n\n429: this credential, person or account has too " +
					"many open streams. 503: too many streams are open in total.",
				Answer: "Events, until one side ends.", Form: openapi.FormEvents, Also: []int{400, 429, 503},
				Sample: "retry: 3000\nid: 1763626530123\n\n" +
					"id: 1763626530124\nevent: station\ndata: {\"stationCode\":\"PACK-1\"}\n\n",
				Params: openapi.Params{
					"types": {
						About:  "Only events of these types, separated by commas.",
						Schema: `{"type": "string"}`, Example: "station,issue",
					},
				},
			},
		},
	}
}

// Limits of open event streams: of one credential, so that a screen that leaks streams does not exclude others, and in
// total, so that connections remain for everything else. All credentials of a person may have three quarters of the
// total, and an account seven eighths.
const (
	maxStreamsEach = 32
	maxStreams     = 512
	personLeaves   = 4 // the inverse of the share that a person leaves to others
	accountLeaves  = 8 // the inverse of the share that an account leaves to others
)

// streamTimes has the intervals and timeouts of an event stream.
type streamTimes struct {
	beat  time.Duration // interval of events that keep clients and proxies from closing an idle connection
	look  time.Duration // interval of checks of the credential
	pause time.Duration // minimum time between two writes; events in between are sent together
	taken time.Duration // timeout of a write; more than beat, because with HTTP/2 it includes waiting
	// time without an acknowledgement after which a client is gone, because small writes succeed for long
	dead  time.Duration
	life  time.Duration // after which the client must reconnect, which extends its session
	retry time.Duration // how long it must wait before reconnecting
}

// streams are the open event streams (monitoring.md section 8). They do not hold the gate: they only read memory, and
// end with the API.
type streams struct {
	hub    *event.Hub
	times  streamTimes
	most   int // in total
	ending chan struct{}

	mu    sync.Mutex
	ended bool
	open  map[*stream]struct{}
	by    map[streamsOf]int
}

// streamsOf identifies a group of streams that are counted together.
type streamsOf struct{ what, name string }

// share is the number of streams of a group and its limit.
type share struct {
	of   streamsOf
	most int
	text string // error text: what exceeds the limit, and what to do
}

// shares returns the groups of a stream.
func (a *streams) shares(s *stream) [3]share {
	return [3]share{
		{streamsOf{"credential", s.credential}, maxStreamsEach, "with this credential, and no more may be; close some, or use another credential"},
		{streamsOf{"person", s.caller}, a.most - a.most/personLeaves, "of this person, and no more may be; close some"},
		{streamsOf{"account", s.p.AccountID}, a.most - a.most/accountLeaves, "of this account, and no more may be; close some"},
	}
}

func newStreams(hub *event.Hub, connections int) *streams {
	if hub == nil {
		hub = new(event.Hub)
	}
	most := maxStreams
	if connections > 0 {
		most = min(most, connections/2)
	}
	return &streams{
		hub: hub, most: most, ending: make(chan struct{}), open: map[*stream]struct{}{}, by: map[streamsOf]int{},
		times: streamTimes{beat: 15 * time.Second, look: time.Second, pause: 250 * time.Millisecond, taken: 30 * time.Second, dead: 30 * time.Second, life: time.Hour, retry: 3 * time.Second},
	}
}

// eventsAPI serves the event stream.
type eventsAPI struct {
	Accounts *account.Service
	Auth     *auth.Service
	streams  *streams
}

// newEvents returns an eventsAPI of a hub, nil: no events, on a server with a limit of connections, 0: none. Event
// streams use at most half of them.
func newEvents(accounts *account.Service, people *auth.Service, hub *event.Hub, connections int) *eventsAPI {
	return &eventsAPI{accounts, people, newStreams(hub, connections)}
}

// Open returns the number of open streams.
func (api *eventsAPI) Open() float64 { return api.streams.count() }

// stream is one connection with events.
type stream struct {
	api        *eventsAPI
	p          auth.Principal
	credential string
	caller     string
	want       wanted
	seen       uint64 // sequence number of the last event that was sent or filtered out
	lost       bool   // the client missed events that are no longer stored
	rc         *http.ResponseController
	sent       time.Time // time of the last write
}

// wanted is a client's filter of events.
type wanted struct {
	types    []event.Type // nil: all
	codes    []string     // of stations; nil: all
	plant    string       // "": all
	snapshot *account.Snapshot
	stations map[string]bool // of the plant, by the snapshot
}

// getEvents handles GET /events.
func (api *eventsAPI) getEvents(c *rest.Call) (rest.Reply, error) {
	s := &stream{api: api, p: c.Principal, credential: c.Principal.Actor().Credential, caller: c.Caller(), rc: http.NewResponseController(c.Writer)}
	if err := api.wanted(c, &s.want); err != nil {
		return rest.Reply{}, err
	}
	hub := api.streams.hub
	s.seen = hub.Last()
	if last := c.Request.Header.Get("Last-Event-ID"); last != "" {
		after, err := strconv.ParseUint(last, 10, 64)
		if s.lost = err != nil || after > s.seen; !s.lost {
			s.seen = after
		}
	}
	if err := api.streams.enter(s); err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{Send: s.write}, nil
}

// wanted parses the filter of a request.
func (api *eventsAPI) wanted(c *rest.Call, w *wanted) error {
	w.types = rest.Some(c, "types", "station, issue, schedule, task, message and account", func(name string) (event.Type, bool) {
		t := event.Type(name)
		return t, slices.Contains(eventTypes, t)
	})
	snap, err := api.Accounts.Get(c.Principal.AccountID)
	if err != nil {
		return err
	}
	w.codes, w.plant = rest.Split(c.Query("stationcodes")), c.Query("plantcode")
	known, err := snap.Stations()
	if err != nil {
		return err
	}
	for _, code := range w.codes {
		if !known(code) {
			c.Fault("stationcodes", "names the station %q, which this account does not have", errdefs.Shorten(code))
		}
	}
	found, err := w.look(snap)
	if err != nil {
		return err
	}
	if !found {
		c.Fault("plantcode", "names the plant %q, which this account does not have", errdefs.Shorten(w.plant))
	}
	return c.QueryError()
}

var eventTypes = []event.Type{event.Station, event.Issue, event.Schedule, event.Task, event.Message, event.Account}

// look finds the stations of the requested plant. found is true if no plant was requested.
func (w *wanted) look(snap *account.Snapshot) (found bool, err error) {
	if w.plant == "" || w.snapshot == snap {
		return true, nil
	}
	m, err := snap.Manifest()
	if err != nil {
		return false, err
	}
	w.snapshot, w.stations = snap, map[string]bool{}
	for i := range m.Plants {
		if m.Plants[i].Code != w.plant {
			continue
		}
		found = true
		for j := range m.Plants[i].Groups {
			for k := range m.Plants[i].Groups[j].Stations {
				w.stations[m.Plants[i].Groups[j].Stations[k].Code] = true
			}
		}
	}
	return found, nil
}

// has reports whether an event passes the filter. An event without a station passes only an empty filter of stations,
// except a new configuration, which may affect any station.
func (w *wanted) has(e *event.Event) bool {
	if e.Type == event.Account {
		return w.types == nil || slices.Contains(w.types, e.Type)
	}
	return (w.types == nil || slices.Contains(w.types, e.Type)) &&
		(w.codes == nil || slices.Contains(w.codes, e.Station)) &&
		(w.plant == "" || w.stations[e.Station])
}

// enter adds a stream if the limits allow it. Errors: TooMany, Unavailable.
func (a *streams) enter(s *stream) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ended:
		return errdefs.New(errdefs.Unavailable, "the service is stopping, or its store is being replaced; try again in a moment")
	case len(a.open) >= a.most:
		return &errdefs.Error{Kind: errdefs.Unavailable, RetryAfter: a.times.beat,
			Message: fmt.Sprintf("%d streams of events are open, and no more may be; try again later", a.most)}
	}
	for _, x := range a.shares(s) {
		if a.by[x.of] >= x.most {
			return &errdefs.Error{Kind: errdefs.TooMany, RetryAfter: a.times.beat, Message: fmt.Sprintf("%d streams of events are open %s", x.most, x.text)}
		}
	}
	a.open[s] = struct{}{}
	for _, x := range a.shares(s) {
		a.by[x.of]++
	}
	return nil
}

func (a *streams) leave(s *stream) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, s)
	for _, x := range a.shares(s) {
		if a.by[x.of]--; a.by[x.of] == 0 {
			delete(a.by, x.of)
		}
	}
}

func (a *streams) count() float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return float64(len(a.open))
}

// EndStreams ends all event streams and refuses new ones. It returns at once; a client that does not read delays its
// stream by a second. It may be called again.
func (api *eventsAPI) EndStreams() {
	s := api.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		close(s.ending)
	}
	for one := range s.open {
		_ = one.rc.SetWriteDeadline(time.Now().Add(time.Second)) // a connection without deadlines ends with the server
	}
}

// write sends events until the client disconnects, its credential expires, or the API ends.
func (s *stream) write(w http.ResponseWriter, r *http.Request) int {
	defer s.api.streams.leave(s)
	h := w.Header()
	h["Cache-Control"] = rest.NoStore
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx buffers answers otherwise
	if r.Method == http.MethodHead {
		return http.StatusOK
	}
	rest.GiveUp(r.Context(), s.api.streams.times.dead)
	s.run(w, r)
	return http.StatusOK
}

// run sends events until the stream ends.
func (s *stream) run(w http.ResponseWriter, r *http.Request) {
	all := s.api.streams
	look, life := time.NewTicker(all.times.look), time.NewTimer(all.times.life)
	defer look.Stop()
	defer life.Stop()
	news := all.hub.Follow(s.p.AccountID, s.want.codes)
	defer all.hub.Unfollow(s.p.AccountID, news)
	buf := fmt.Appendf(nil, "retry: %d\nid: %d\n\n", all.times.retry.Milliseconds(), s.seen)
	if !s.send(w, buf) {
		return
	}
	for {
		more, rest := news.News(), (<-chan time.Time)(nil)
		if buf = s.next(buf[:0]); len(buf) > 0 {
			if !s.holds() || !s.send(w, buf) {
				return
			}
			more, rest = nil, time.After(all.times.pause) // events during the pause are sent together
		}
		if cap(buf) > 64<<10 {
			buf = nil
		}
		for waiting := true; waiting; {
			select {
			case <-r.Context().Done():
				return
			case <-all.ending:
				return
			case <-life.C:
				return
			case <-more:
				waiting = false
			case <-rest:
				waiting = false
			case <-look.C:
				// A stream that only waits for events of other stations has missed nothing. (more is nil during a pause
				// after news.)
				if latest, quiet := all.hub.Quiet(news); quiet && more != nil {
					s.seen = latest
				}
				if !s.holds() || time.Since(s.sent) >= all.times.beat && !s.beat(w) {
					return
				}
			}
		}
	}
}

// beat sends a sign of life. Filtered events count as seen.
func (s *stream) beat(w http.ResponseWriter) bool {
	buf := s.next(nil)
	if len(buf) == 0 {
		buf = fmt.Appendf(nil, "id: %d\nevent: beat\ndata: {}\n\n", s.seen)
	}
	return s.send(w, buf)
}

// holds reports whether the client may still receive its events. After a change of its role or account it must
// reconnect.
func (s *stream) holds() bool {
	now, err := s.api.Auth.Present(s.p)
	if err != nil || now.AccountID != s.p.AccountID || now.Role != s.p.Role || !slices.Equal(now.StationCodes, s.p.StationCodes) {
		return false
	}
	if s.want.plant == "" {
		return true
	}
	snap, err := s.api.Accounts.Get(s.p.AccountID)
	if err != nil {
		return false
	}
	_, err = s.want.look(snap)
	return err == nil
}

// next appends new events. Of several events about a station only the newest is sent.
func (s *stream) next(b []byte) []byte {
	list, missed := s.api.streams.hub.Since(s.p.AccountID, s.seen)
	if len(list) > 0 {
		s.seen = list[len(list)-1].Sequence
	}
	if s.lost || missed {
		s.lost = false
		return fmt.Appendf(b, "id: %d\nevent: reset\ndata: {}\n\n", s.seen)
	}
	list = slices.DeleteFunc(list, func(e event.Event) bool { return !s.want.has(&e) })
	newest := map[string]uint64{}
	if len(list) > 1 {
		for i := range list {
			if list[i].Type == event.Station {
				newest[list[i].Station] = list[i].Sequence
			}
		}
	}
	for i := range list {
		if e := &list[i]; e.Type != event.Station || newest[e.Station] <= e.Sequence {
			b = appendEvent(b, e)
		}
	}
	return b
}

// appendEvent appends an encoded event.
func appendEvent(b []byte, e *event.Event) []byte {
	b = strconv.AppendUint(append(b, "id: "...), e.Sequence, 10)
	b = append(append(b, "\nevent: "...), e.Type...)
	b = append(b, "\ndata: "...)
	data := []byte(e.Data)
	if bytes.ContainsAny(data, "\r\n") {
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r"), nil), []byte("\n"), []byte("\ndata: "))
	}
	return append(append(b, data...), "\n\n"...)
}

// send writes bytes at once. It returns false if the client is gone or does not read.
func (s *stream) send(w http.ResponseWriter, b []byte) bool {
	all := s.api.streams
	_ = s.rc.SetWriteDeadline(time.Now().Add(all.times.taken)) // a connection without deadlines needs none
	select {
	case <-all.ending: // EndStreams has set another deadline
		return false
	default:
	}
	s.sent = time.Now()
	_, err := w.Write(b)
	return err == nil && s.rc.Flush() == nil
}

package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/auth"
	"opsmon/app/deliver/event"
)

// listener is a client of GET /events.
type listener struct {
	t      testing.TB
	resp   *http.Response
	blocks chan string // each event or comment as sent; closed at the end
}

// listen opens a stream until the test ends.
func (s *server) listen(a ask) *listener {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http.URL+a.path, nil)
	s.must(nil, err)
	if a.key != "" {
		req.Header.Set("X-API-KEY", a.key)
	}
	if a.session != "" {
		req.AddCookie(&http.Cookie{Name: "session", Value: a.session})
	}
	for name, value := range a.header {
		req.Header.Set(name, value)
	}
	client := *s.client
	client.Timeout = 0
	resp, err := client.Do(req)
	s.must(nil, err)
	if resp.StatusCode != 200 {
		resp.Body.Close()
		s.t.Fatalf("%s: %s", a.path, resp.Status)
	}
	l := &listener{t: s.t, resp: resp, blocks: make(chan string, 100)}
	go func() {
		defer resp.Body.Close()
		defer close(l.blocks)
		for in := bufio.NewReader(resp.Body); ; {
			var block strings.Builder
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == "\n" {
					break
				}
				block.WriteString(line)
			}
			l.blocks <- block.String()
		}
	}()
	return l
}

// want waits for the next block.
func (l *listener) want(want string) {
	l.t.Helper()
	select {
	case got, open := <-l.blocks:
		if !open {
			l.t.Fatalf("the stream ended; want\n%s", want)
		}
		if got != want {
			l.t.Fatalf("got\n%swant\n%s", got, want)
		}
	case <-time.After(time.Minute):
		l.t.Fatalf("nothing came; want\n%s", want)
	}
}

// wantEnd waits for the end of the stream.
func (l *listener) wantEnd(within time.Duration) {
	l.t.Helper()
	late := time.After(within)
	for {
		select {
		case _, open := <-l.blocks:
			if !open {
				return
			}
		case <-late:
			l.t.Fatalf("the stream goes on after %v", within)
		}
	}
}

// quick uses streams without a limited life that check their credentials often.
func quick(s *server) {
	t := &s.api.events.streams.times
	t.life, t.look, t.pause = time.Hour, 10*time.Millisecond, 5*time.Millisecond
}

func (s *server) happens(t event.Type, station, data string) {
	s.Events.Publish("acme", event.Event{Type: t, Station: station, Data: json.RawMessage(data)})
}

func frame(id int, t event.Type, data string) string {
	return fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n", id, t, data)
}

func TestEventsAreTold(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2 %v", http2), func(t *testing.T) {
			s := newServer(t, options{http2: http2})
			quick(s)
			l := s.listen(ask{path: "/events", key: s.roleKey(auth.Readonly), header: map[string]string{"Accept-Encoding": "gzip"}})
			if (l.resp.ProtoMajor == 2) != http2 || l.resp.Header.Get("Content-Encoding") != "" || l.resp.Header.Get("Content-Type") != "text/event-stream" {
				t.Errorf("%s %v", l.resp.Proto, l.resp.Header)
			}
			l.want("retry: 3000\nid: 1000\n")
			s.happens(event.Station, "PACK-1", `{"statusCode":"idle"}`)
			l.want(frame(1001, event.Station, `{"statusCode":"idle"}`))
			s.Events.Publish("bolt", event.Event{Type: event.Station, Station: "PACK-1", Data: json.RawMessage(`{"secret":true}`)})
			s.happens(event.Task, "PACK-2", "{\r\n\"a\":1}")
			l.want(frame(1003, event.Task, "{\ndata: \"a\":1}"))
		})
	}
}

func TestEventsAreChosen(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	key := s.roleKey(auth.Operator)
	s.happens(event.Station, "PACK-1", `{}`)
	s.happens(event.Issue, "PACK-2", `{}`)
	s.happens(event.Task, "PACK-1", `{}`)
	s.happens(event.Schedule, "KWH-1", `{}`)
	s.happens(event.Schedule, "", `{}`)
	for _, tt := range []struct {
		query string
		want  []int
	}{
		{"", []int{1001, 1002, 1003, 1004, 1005}},
		{"?types=issue", []int{1002}},
		{"?types=issue,task", []int{1002, 1003}},
		{"?stationcodes=PACK-1", []int{1001, 1003}},
		{"?stationcodes=PACK-1,KWH-1&types=task,schedule", []int{1003, 1004}},
		{"?plantcode=north", []int{1001, 1002, 1003, 1004}},
		{"?plantcode=north&stationcodes=PACK-2", []int{1002}},
		{"?other=x", []int{1001, 1002, 1003, 1004, 1005}},
	} {
		l := s.listen(ask{path: "/events" + tt.query, key: key, header: map[string]string{"Last-Event-ID": "1000"}})
		l.want("retry: 3000\nid: 1000\n")
		var got []int
		for range tt.want {
			var id int
			_, err := fmt.Sscanf(<-l.blocks, "id: %d\n", &id)
			s.must(nil, err)
			got = append(got, id)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("/events%s (-want +got):\n%s", tt.query, diff)
		}
	}
	for query, field := range map[string]string{
		"?types=windows": "types", "?types=issue,": "types", "?stationcodes=PACK-9": "stationcodes", "?stationcodes=,": "stationcodes", "?plantcode=south": "plantcode",
	} {
		s.do(ask{method: "GET", path: "/events" + query, key: key}).wantDetail(t, field, "")
	}
}

// Events of a station begin when it joins the plant, and end when it leaves.
func TestEventsFollowTheManifest(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	l := s.listen(ask{path: "/events?plantcode=north", key: s.roleKey(auth.Readonly)})
	l.want("retry: 3000\nid: 1000\n")
	other := strings.Replace(acme, `"code":"PACK-2"`, `"code":"PACK-3"`, 1)
	s.do(ask{method: "PUT", path: "/account/manifest", body: other, key: s.roleKey(auth.Member)}).want(t, 200)
	time.Sleep(50 * time.Millisecond)
	s.happens(event.Issue, "PACK-2", `{}`)
	s.happens(event.Issue, "PACK-3", `{}`)
	l.want(frame(1002, event.Issue, `{}`))
}

func TestEventsOfAStationInQuickSuccession(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	for i := range 3 {
		s.happens(event.Station, "PACK-1", fmt.Sprintf(`{"good":%d}`, i))
		s.happens(event.Station, "PACK-2", fmt.Sprintf(`{"good":%d}`, i))
		s.happens(event.Issue, "PACK-1", fmt.Sprintf(`{"n":%d}`, i))
	}
	l := s.listen(ask{path: "/events", key: s.roleKey(auth.Readonly), header: map[string]string{"Last-Event-ID": "1001"}})
	l.want("retry: 3000\nid: 1001\n")
	l.want(frame(1003, event.Issue, `{"n":0}`))
	l.want(frame(1006, event.Issue, `{"n":1}`))
	l.want(frame(1007, event.Station, `{"good":2}`))
	l.want(frame(1008, event.Station, `{"good":2}`))
	l.want(frame(1009, event.Issue, `{"n":2}`))
}

func TestEventsResume(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	key := s.roleKey(auth.Readonly)
	for i := range 5000 {
		s.happens(event.Issue, "PACK-1", fmt.Sprint(i))
	}
	for last, want := range map[string]string{
		"5999":                 frame(6000, event.Issue, "4999"),
		"1003":                 "id: 6000\nevent: reset\ndata: {}\n", // no longer stored
		"17":                   "id: 6000\nevent: reset\ndata: {}\n", // of an earlier run of the service
		"6001":                 "id: 6000\nevent: reset\ndata: {}\n", // of a run whose clock was ahead
		"x":                    "id: 6000\nevent: reset\ndata: {}\n",
		"-1":                   "id: 6000\nevent: reset\ndata: {}\n",
		"99999999999999999999": "id: 6000\nevent: reset\ndata: {}\n",
	} {
		l := s.listen(ask{path: "/events", key: key, header: map[string]string{"Last-Event-ID": last}})
		<-l.blocks
		l.want(want)
	}
	l := s.listen(ask{path: "/events", key: key, header: map[string]string{"Last-Event-ID": "6000"}})
	l.want("retry: 3000\nid: 6000\n")
	s.happens(event.Issue, "PACK-1", "{}")
	l.want(frame(6001, event.Issue, "{}"))
}

// Filtered events count as seen, so a client with a narrow filter can resume, too. A client of a quiet station misses
// nothing, however many events of other stations come before the next sign of life.
func TestEventsOfAQuietStation(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	l := s.listen(ask{path: "/events?stationcodes=PACK-2", key: s.roleKey(auth.Readonly)})
	l.want("retry: 3000\nid: 1000\n")
	for range 3 {
		for range 2000 { // of some thousand stored ones
			s.happens(event.Station, "PACK-1", "{}")
		}
		time.Sleep(10 * s.api.events.streams.times.look)
	}
	s.happens(event.Issue, "PACK-2", "{}")
	l.want(frame(7001, event.Issue, "{}"))
}

func TestEventsBeat(t *testing.T) {
	for _, query := range []string{"types=task", "stationcodes=PACK-2"} { // the second is not even woken
		s := newServer(t, options{})
		quick(s)
		s.api.events.streams.times.beat = 30 * time.Millisecond
		l := s.listen(ask{path: "/events?" + query, key: s.roleKey(auth.Readonly)})
		l.want("retry: 3000\nid: 1000\n")
		l.want("id: 1000\nevent: beat\ndata: {}\n")
		s.happens(event.Issue, "PACK-1", "{}")
		for deadline := time.Now().Add(5 * time.Second); ; {
			if got := <-l.blocks; got == "id: 1001\nevent: beat\ndata: {}\n" {
				break
			} else if got != "id: 1000\nevent: beat\ndata: {}\n" || time.Now().After(deadline) {
				t.Fatalf("%s: got %q", query, got)
			}
		}
	}
}

func TestEventsEndWithTheCredential(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	acting := auth.Local("acme")
	email := s.address() + "@people.example"
	s.must(s.Auth.AddUser(acting, email, auth.Operator))
	for _, tt := range []struct {
		name string
		a    ask
		end  func(a ask)
	}{
		{"a key is revoked", ask{key: s.roleKey(auth.Operator)}, func(a ask) {
			s.do(ask{method: "DELETE", path: "/key/" + a.key, key: a.key}).want(t, 204)
		}},
		{"a session ends", ask{session: s.session("acme", mailOf(auth.Operator))}, func(a ask) {
			s.do(ask{method: "POST", path: "/auth/logout", session: a.session}).want(t, 200)
		}},
		{"a user gets another role", ask{key: s.key("acme", email)}, func(ask) {
			s.must(s.Auth.SetRole(acting, email, auth.Readonly))
		}},
		{"a user is removed", ask{session: s.session("acme", mailOf(auth.Supervisor))}, func(ask) {
			s.must(nil, s.Auth.RemoveUser(acting, mailOf(auth.Supervisor)))
		}},
		{"a session expires", ask{session: s.session("acme", mailOf(auth.Member))}, func(ask) {
			s.clock.advance(31 * 24 * time.Hour)
		}},
	} {
		tt.a.path = "/events"
		l := s.listen(tt.a)
		l.want("retry: 3000\nid: 1000\n")
		tt.end(tt.a)
		l.wantEnd(2 * time.Second)
		if t.Failed() {
			t.Fatal(tt.name)
		}
	}
}

// A revoked key gets no further events, even before the next check of its credential.
func TestEventsAfterRevocation(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	s.api.events.streams.times.look = time.Hour
	key := s.roleKey(auth.Operator)
	l := s.listen(ask{path: "/events", key: key})
	l.want("retry: 3000\nid: 1000\n")
	time.Sleep(20 * time.Millisecond)
	s.do(ask{method: "DELETE", path: "/key/" + key, key: key}).want(t, 204)
	s.happens(event.Issue, "PACK-1", "{}")
	for block := range l.blocks {
		t.Errorf("told after the key was revoked: %q", block)
	}
}

func TestEventsEndWithTheService(t *testing.T) {
	var gate sync.RWMutex
	s := newServer(t, options{gate: &gate})
	quick(s)
	key := s.roleKey(auth.Operator)
	l := s.listen(ask{path: "/events", key: key})
	l.want("retry: 3000\nid: 1000\n")
	if !gate.TryLock() {
		t.Fatal("a stream holds the gate, and so a restore")
	}
	gate.Unlock()
	s.api.EndStreams()
	s.api.EndStreams()
	l.wantEnd(time.Second)
	s.do(ask{method: "GET", path: "/events", key: key}).want(t, 503)
	if n := s.api.events.streams.count(); n != 0 {
		t.Errorf("%v streams are open", n)
	}
}

func TestEventsHaveLimits(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	key := s.roleKey(auth.Operator)
	var last *listener
	for range maxStreamsEach {
		last = s.listen(ask{path: "/events", key: key})
	}
	s.do(ask{method: "GET", path: "/events", key: key}).want(t, 429)
	s.listen(ask{path: "/events", key: s.roleKey(auth.Operator)}) // another credential is not affected
	last.resp.Body.Close()
	eventually(t, func() bool { return s.api.events.streams.count() == maxStreamsEach })
	s.listen(ask{path: "/events", key: key})

	// A person may have three quarters of all streams with any number of credentials, and an account seven eighths.
	fill := func(n int, p auth.Principal) (list []*stream) {
		for i := range n {
			p.KeyID = fmt.Sprint(i)
			one := &stream{p: p, credential: fmt.Sprint(p.Email, i), caller: p.Email, rc: http.NewResponseController(nil)}
			s.must(nil, s.api.events.streams.enter(one))
			list = append(list, one)
		}
		return list
	}
	count := int(s.api.events.streams.count())
	list := fill(maxStreams*3/4-count, auth.Principal{AccountID: "acme", Email: mailOf(auth.Operator)})
	a := s.do(ask{method: "GET", path: "/events", key: s.roleKey(auth.Operator)}).want(t, 429)
	holds(t, a, map[string]any{"errorMessage": "384 streams of events are open of this person, and no more may be; close some"})
	s.listen(ask{path: "/events", key: s.roleKey(auth.Readonly)}).resp.Body.Close()
	eventually(t, func() bool { return s.api.events.streams.count() == maxStreams*3/4 })
	list = append(list, fill(maxStreams/8, auth.Principal{AccountID: "acme", Email: "a"})...)
	a = s.do(ask{method: "GET", path: "/events", key: s.roleKey(auth.Readonly)}).want(t, 429)
	holds(t, a, map[string]any{"errorMessage": "448 streams of events are open of this account, and no more may be; close some"})
	list = append(list, fill(1, auth.Principal{AccountID: "bolt", Email: "d"})...)
	for _, one := range list {
		s.api.events.streams.leave(one)
	}
	s.listen(ask{path: "/events", key: s.roleKey(auth.Readonly)})

	s.api.events.streams.mu.Lock()
	for len(s.api.events.streams.open) < maxStreams {
		s.api.events.streams.open[&stream{rc: http.NewResponseController(nil)}] = struct{}{}
	}
	s.api.events.streams.mu.Unlock()
	s.do(ask{method: "GET", path: "/events", key: s.roleKey(auth.Operator)}).want(t, 503)
}

// Event streams leave half of the connections for everything else.
func TestStreamsLeaveConnections(t *testing.T) {
	for connections, want := range map[int]int{0: maxStreams, 100: 50, 1024: maxStreams, 10_000: maxStreams} {
		if got := newStreams(nil, connections).most; got != want {
			t.Errorf("with %d connections there may be %d streams, want %d", connections, got, want)
		}
	}
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for range 500 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it did not come about in 5 s")
}

// A client that never reads is disconnected when its connection is full, and others get all events meanwhile.
func TestEventsToAClientThatNeverReads(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	s.api.events.streams.times.taken = 200 * time.Millisecond
	conn, err := net.Dial("tcp", s.http.Listener.Addr().String())
	s.must(nil, err)
	defer conn.Close()
	s.must(nil, conn.(*net.TCPConn).SetReadBuffer(4096))
	_, err = fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\n\r\n", s.roleKey(auth.Operator))
	s.must(nil, err)
	good := s.listen(ask{path: "/events", key: s.roleKey(auth.Operator)})
	good.want("retry: 3000\nid: 1000\n")
	eventually(t, func() bool { return s.api.events.streams.count() == 2 })
	data := `"` + strings.Repeat("x", 64<<10) + `"`
	for id := 1001; s.api.events.streams.count() == 2; id++ {
		if id > 4000 {
			t.Fatal("256 MB were written to a client that never reads")
		}
		s.happens(event.Issue, "PACK-1", data)
		good.want(frame(id, event.Issue, data))
	}
}

// A client that never reads does not delay the end of the service.
func TestEventsEndWhenNobodyReads(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	conn, err := net.Dial("tcp", s.http.Listener.Addr().String())
	s.must(nil, err)
	defer conn.Close()
	s.must(nil, conn.(*net.TCPConn).SetReadBuffer(4096))
	_, err = fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\n\r\n", s.roleKey(auth.Operator))
	s.must(nil, err)
	eventually(t, func() bool { return s.api.events.streams.count() == 1 })
	data := `"` + strings.Repeat("x", 64<<10) + `"`
	for range 400 { // 25 MiB, more than the system buffers for a connection
		s.happens(event.Issue, "PACK-1", data)
	}
	time.Sleep(200 * time.Millisecond)
	if s.api.events.streams.count() != 1 {
		t.Fatal("the client was given up at once")
	}
	began := time.Now()
	s.api.EndStreams()
	eventually(t, func() bool { return s.api.events.streams.count() == 0 })
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
}

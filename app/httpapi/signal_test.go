package httpapi

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
	"opsmon/app/ingest/signal"
)

// A device sends signals of its own stations and can do nothing else, until it is revoked.
func TestDevicesSendSignals(t *testing.T) {
	s := newServer(t, options{})
	admin := s.roleKey(auth.Admin)
	made := s.do(ask{method: "POST", path: "/device", body: `{"name":"gw","stationCodes":["PACK-1"]}`, key: admin}).want(t, 200)
	token := s.hide(made.text("result", "token"))
	if made.header.Get("Location") != "/device/gw" || made.text("result", "id") != "acme/gw" {
		t.Errorf("made %s at %s", made.body, made.header.Get("Location"))
	}
	got := s.do(ask{method: "POST", path: "/signal", key: token, body: `{"signals":[
		{"stationCode":"PACK-1","productive":true},{"stationCode":"PACK-2","productive":true},{"stationCode":"PACK-1"},{"stationCode":"PACK-1","id":"1","rssi":-60},{"stationCode":"PACK-1","id":"1","rssi":-60},
		{"stationCode":"PACK-1","rssi":-60,"at":"2099-01-01T00:00:00Z"},{"stationCode":"PACK-1","rssi":-60,"at":"1999-01-01T00:00:00Z"},{"rssi":-60},{"stationCode":"PACK-1","lineSpeed":1e400}]}`})
	got.want(t, 400) // the last number exceeds a float64, so the whole body is invalid
	got = s.do(ask{method: "POST", path: "/signal", key: token, body: `{"signals":[
		{"stationCode":"PACK-1","productive":true},{"stationCode":"PACK-2","productive":true},{"stationCode":"PACK-1"},{"stationCode":"PACK-1","id":"1","rssi":-60},{"stationCode":"PACK-1","id":"1","rssi":-60},
		{"stationCode":"PACK-1","rssi":-60,"at":"2099-01-01T00:00:00Z"},{"stationCode":"PACK-1","rssi":-60,"at":"1999-01-01T00:00:00Z"},{"rssi":-60}]}`}).want(t, 200)
	for i, want := range []struct {
		accepted bool
		issue    string
	}{
		{true, ""}, {false, "not one of this device's"}, {false, "holds no value"}, {true, ""}, {true, "counts once"},
		{true, "in the future"}, {false, "older than the 400 days"}, {false, "stationCode must be given"},
	} {
		accepted, _ := got.at("results", strconv.Itoa(i), "accepted").(bool)
		issue := fmt.Sprint(got.at("results", strconv.Itoa(i), "issue"))
		if accepted != want.accepted || !strings.Contains(issue, want.issue) || (want.issue == "") != (issue == "") {
			t.Errorf("signal %d: accepted %t, %s", i, accepted, issue)
		}
	}
	day := s.clock.now().UTC().UnixMilli() / (24 * time.Hour).Milliseconds()
	stored, err := s.Signals.Of("acme", "PACK-1", day)
	s.must(nil, err)
	if len(stored) != 3 || stored[0].Source != "device:acme/gw" {
		t.Errorf("stored are %+v", stored)
	}

	list := s.do(ask{path: "/device", key: admin}).want(t, 200)
	if list.at("results", "0", "accepted") != 4.0 || list.at("results", "0", "refused") != 5.0 || list.at("results", "0", "lastSeenAt") == nil || list.at("results", "0", "clockAheadMs").(float64) < 1e12 {
		t.Errorf("the device is shown as %s", list.body)
	}

	for _, rt := range s.routes {
		row := samples[rt.Method+" "+rt.Path]
		if row.open || rt.Path == "/signal" {
			continue
		}
		a := row.call(s, rt.Method, caller{email: mailOf(auth.Admin)})
		a.key = token
		s.do(a).want(t, http.StatusForbidden)
	}
	s.do(ask{method: "DELETE", path: "/device/acme%2Fgw", key: admin}).want(t, 204)
	s.do(ask{method: "POST", path: "/signal", key: token, body: `{"signals":[{"stationCode":"PACK-1","rssi":1}]}`}).want(t, 401)
	s.do(ask{method: "DELETE", path: "/device/gw", key: admin}).want(t, 404)
}

// Problems of the whole body are reported before any signal is accepted.
func TestSignalBatch(t *testing.T) {
	s := newServer(t, options{})
	key := s.roleKey(auth.Member)
	many := func(n int) string {
		return `{"signals":[` + strings.TrimSuffix(strings.Repeat(`{"stationCode":"PACK-1","rssi":-60},`, n), ",") + `]}`
	}
	s.do(ask{method: "POST", path: "/signal", key: key, body: many(10_001)}).wantDetail(t, "signals", "must have 10000 items or fewer; it has 10001")
	s.do(ask{method: "POST", path: "/signal", key: key, body: `{"signals":[]}`}).wantDetail(t, "signals", "must have at least 1 item")
	s.do(ask{method: "POST", path: "/signal", key: key, body: `{}`}).wantDetail(t, "signals", "is required")
	if s.Signals.Tail() != 0 {
		t.Errorf("%d signals were taken", s.Signals.Tail())
	}
	// an item that is no object is refused, the others are not
	for i, item := range []string{"1", "null", `"A"`, "[{}]", "true"} {
		got := s.do(ask{method: "POST", path: "/signal", key: key, body: `{"signals":[` + item + `,{"stationCode":"PACK-1","rssi":-60}]}`}).want(t, 200)
		if got.at("results", "0", "accepted") != false || got.text("results", "0", "issue") != "must be an object" || got.at("results", "1", "accepted") != true || s.Signals.Tail() != i+1 {
			t.Errorf("%s beside a good one: %s", item, got.body)
		}
	}
	s.do(ask{method: "POST", path: "/signal", key: key, body: `{"signals":[1],"more":1}`}).wantDetail(t, "more", "is not a known field")
	got := s.do(ask{method: "POST", path: "/signal", key: key, body: `{"signals":[1]}`}).want(t, 200)
	if got.at("results", "0", "accepted") != false {
		t.Errorf("nothing but a number: %s", got.body)
	}
	before := s.Signals.Tail()
	got = s.do(ask{method: "POST", path: "/signal", key: key, body: many(10_000)}).want(t, 200)
	if got.at("results", "9999", "accepted") != true || s.Signals.Tail() != before+10_000 {
		t.Errorf("%d of 10,000 signals were taken", s.Signals.Tail())
	}
}

// An invalid body is refused as a whole, counted, and shown at the device that sent it. Valid signals before and after
// it are kept.
func TestMalformedSignalBodies(t *testing.T) {
	s := newServer(t, options{})
	_, token := s.device("PACK-1")
	good := ask{method: "POST", path: "/signal", key: token, body: `{"signals":[{"stationCode":"PACK-1","rssi":-60}]}`}
	s.do(good).want(t, 200)
	refused := uint64(0)
	for _, tt := range []struct{ body, issue string }{
		{"nonsense", "line 1, column 1"}, {`{"signals":[{"stationCode":"PACK-1","rssi":NaN}]}`, "line 1, column 44"}, {`{"signals":[{"stationCode":"PACK-1","rssi":1e999}]}`, "exponent beyond 400"},
		{"", "is empty"}, {"[]", "must be an object"}, {`{"signals":{}}`, "signals must be a list"}, {`{"signals":[]}`, "at least 1 item"}, {`{"signals":[{"stationCode":"PACK-1","rssi":-60}],"more":1}`, "more is not a known field"},
		{`{"signals":[` + strings.Repeat(" ", 4<<20) + `]}`, "4 MiB"},
	} {
		bad := good
		bad.body = tt.body
		got := s.do(bad)
		if got.status != 400 && got.status != 413 {
			t.Errorf("%.60s: %d", tt.body, got.status)
		}
		refused++
		line := s.do(ask{path: "/device", key: s.roleKey(auth.Admin)}).want(t, 200)
		if issue, _ := line.at("results", "0", "lastIssue").(string); !strings.Contains(issue, tt.issue) || line.at("results", "0", "refused") != float64(refused) || line.at("results", "0", "accepted") != 1.0 {
			t.Errorf("after %.60s the device is shown as %s", tt.body, line.body)
		}
		if n := s.Signals.Counts().Refused[signal.CauseMalformed]; n != refused {
			t.Errorf("after %.60s %d are counted as malformed, want %d", tt.body, n, refused)
		}
	}
	s.do(good).want(t, 200)
	if s.Signals.Tail() != 2 {
		t.Errorf("%d signals are kept, want 2", s.Signals.Tail())
	}
}

// A device that sends too much gets a time to wait. Others are not affected, and the device's state shows it.
func TestFloodOfSignals(t *testing.T) {
	s := newServer(t, options{rate: 1})
	flood, token := s.device("PACK-1")
	_, other := s.device("PACK-1")
	batch := `{"signals":[` + strings.TrimSuffix(strings.Repeat(`{"stationCode":"PACK-1","rssi":-60},`, 10_000), ",") + `]}`
	s.do(ask{method: "POST", path: "/signal", key: token, body: batch}).want(t, 200)
	refused := 0
	for range 50 {
		got := s.do(ask{method: "POST", path: "/signal", key: token, body: `{"signals":[{"stationCode":"PACK-1","rssi":-60}]}`})
		if got.status == 429 {
			refused++
			if after, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || after < 1 {
				t.Errorf("Retry-After is %q", got.header.Get("Retry-After"))
			}
		}
		s.do(ask{method: "POST", path: "/signal", key: other, body: `{"signals":[{"stationCode":"PACK-1","rssi":-60}]}`}).want(t, 200)
	}
	if refused < 10 {
		t.Errorf("%d of 50 were refused", refused)
	}
	list := s.do(ask{path: "/device", key: s.roleKey(auth.Admin)}).want(t, 200)
	for i := range 2 {
		at := strconv.Itoa(i)
		throttled := list.at("results", at, "throttled").(float64)
		if (list.text("results", at, "id") == flood.ID) != (throttled == float64(refused)) || list.at("results", at, "signalsPerSecond").(float64) <= 0 {
			t.Errorf("shown is %s", list.body)
		}
	}
	if n := strings.Count(s.logged.String(), "exceeds its rate"); n != 1 {
		t.Errorf("it was logged %d times, want once a minute", n)
	}
}

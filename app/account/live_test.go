package account

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/auth"
)

// newLive returns a house with live fields from the test.
func newLive(t testing.TB, live func() *Live) *house {
	h := newPlant(t)
	s, err := New(Config{Store: h.store, Clock: h.clock.Now, Live: func(id string) *Live {
		if id != "northfield" {
			t.Errorf("asked for the floor of %q", id)
		}
		return live()
	}})
	if err != nil {
		t.Fatal(err)
	}
	h.Service = s
	return h
}

func (w *watch) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// bare decodes an answer and removes every live value that is not null; live has the removed values by path.
func bare(t *testing.T, r *Representation) (answer any, live map[string]any) {
	t.Helper()
	answer, live = decode(t, r.Bytes()), map[string]any{}
	result := answer.(map[string]any)["result"].(map[string]any)
	if list := result["cursors"].([]any); len(list) > 0 {
		live["cursors"] = list
		result["cursors"] = []any{}
	}
	for _, p := range at(t, result, "manifest.account.plants").([]any) {
		for _, g := range p.(map[string]any)["stationGroups"].([]any) {
			for _, s := range g.(map[string]any)["stations"].([]any) {
				station := s.(map[string]any)
				for _, name := range []string{"currentOperatorInitials", "statusCode", "statusCodeUpdatedAt", "alertMessage", "alertExpiresAt"} {
					if v := station[name]; v != nil {
						live[fmt.Sprintf("%s.%s", station["code"], name)] = v
						station[name] = nil
					}
				}
			}
		}
	}
	return answer, live
}

// TestLiveFields checks the live fields in GET /account, and that the manifest has none.
func TestLiveFields(t *testing.T) {
	floor := &Live{Station: func(string) LiveStation { return LiveStation{} }}
	h := newLive(t, func() *Live { return floor })
	for _, secret := range []bool{false, true} {
		if a, b := body(h.Answer(h.now(), secret)), body(h.now().Answer(secret)); a != b {
			t.Errorf("with nothing known the answer is another one:\n%s\n%s", a, b)
		}
	}
	document := h.now().Document().ETag
	h.clock.pass(time.Second)
	now := h.clock.Now().UnixMilli()
	floor = &Live{
		Cursors: []Cursor{{"signals", now - 1500}, {"windows", now - 3*60_000}, {"tasks", now - 49*3_600_000}, {"schedules", now + 5000}},
		Station: func(code string) LiveStation {
			switch code {
			case "OVEN-1":
				return LiveStation{OperatorInitials: `Å"B`, Status: "productive", StatusAt: now - 1000}
			case "OVEN-2":
				return LiveStation{AlertMessage: "Mind the <step>\n", AlertExpiresAt: now + 60_000}
			}
			return LiveStation{}
		},
	}
	plain, _ := bare(t, h.now().Answer(true))
	for _, secret := range []bool{true, false} {
		rep := h.Answer(h.now(), secret)
		answer, live := bare(t, rep)
		want := map[string]any{
			"OVEN-1.currentOperatorInitials": `Å"B`, "OVEN-1.statusCode": "productive", "OVEN-1.statusCodeUpdatedAt": "2026-01-12T08:00:00.000Z",
			"OVEN-2.alertMessage": "Mind the <step>\n", "OVEN-2.alertExpiresAt": "2026-01-12T08:01:01.000Z",
			"cursors": decode(t, []byte(`[{"type":"signals","timestamp":1768204799500,"value":"2026-01-12T07:59:59.500Z","valueAgo":"1 s"},
				{"type":"windows","timestamp":1768204621000,"value":"2026-01-12T07:57:01.000Z","valueAgo":"3 min"},
				{"type":"tasks","timestamp":1768028401000,"value":"2026-01-10T07:00:01.000Z","valueAgo":"2 d"},
				{"type":"schedules","timestamp":1768204806000,"value":"2026-01-12T08:00:06.000Z","valueAgo":"0 s"}]`)),
		}
		if diff := cmp.Diff(want, live); diff != "" {
			t.Errorf("live values (-want +got):\n%s", diff)
		}
		if secret {
			if diff := cmp.Diff(plain, answer); diff != "" {
				t.Errorf("the rest of the answer changed (-want +got):\n%s", diff)
			}
		}
		zipped, err := gzip.NewReader(bytes.NewReader(rep.Gzip()))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(zipped); err != nil || !bytes.Equal(b, rep.Bytes()) || rep.Size != len(b) || rep.Length != fmt.Sprint(len(b)) {
			t.Errorf("compressed it is another answer, %v", err)
		}
	}
	if h.now().Document().ETag != document || bytes.Contains(h.now().Document().Bytes(), []byte("productive\"")) {
		t.Error("the manifest shows live values")
	}
	if h.now().Account.Revision != 1 {
		t.Error("live values made a revision")
	}
}

// TestLiveIsASecondOld checks how often live fields are read, when the answer changes, and that If-Match ignores
// them.
func TestLiveIsASecondOld(t *testing.T) {
	asked, status := 0, "idle"
	h := newLive(t, func() *Live {
		asked++
		return &Live{Station: func(string) LiveStation { return LiveStation{Status: status} }}
	})
	first := h.Answer(h.now(), true)
	status = "productive"
	h.clock.pass(liveFor - 1)
	if h.Answer(h.now(), true) != first || asked != 1 || h.Answer(h.now(), false) == first {
		t.Errorf("asked %d times within a second", asked)
	}
	h.clock.pass(1)
	second := h.Answer(h.now(), true)
	if second == first || second.ETag == first.ETag || second.GzipETag == first.GzipETag || asked != 2 {
		t.Errorf("after a second the answer is the same one, asked %d times", asked)
	}
	h.clock.pass(time.Hour)
	if h.Answer(h.now(), true) != second || asked != 3 {
		t.Errorf("nothing changed, and it is another answer; asked %d times", asked)
	}
	h.clock.pass(-time.Minute)
	if h.Answer(h.now(), true); asked != 4 {
		t.Errorf("the clock went back: asked %d times", asked)
	}
	if _, err := h.Update(boss(), map[string]any{"currency": "GBP"}, ParseMatch(first.ETag)); err != nil {
		t.Errorf("If-Match with the tag of an answer whose live values are old: %v", err)
	}
	if _, err := h.Update(boss(), map[string]any{"currency": "USD"}, ParseMatch(first.ETag)); err == nil {
		t.Error("If-Match with the tag of another revision was accepted")
	}
}

// TestTheTagLeavesCursorsOut checks that the entity tag does not depend on the cursors, which change every second.
func TestTheTagLeavesCursorsOut(t *testing.T) {
	at, status := int64(1000), "idle"
	h := newLive(t, func() *Live {
		return &Live{Cursors: []Cursor{{"signals", at}}, Station: func(string) LiveStation { return LiveStation{Status: status} }}
	})
	first := h.Answer(h.now(), true)
	at = 2000
	h.clock.pass(time.Second)
	second := h.Answer(h.now(), true)
	if second.ETag != first.ETag || second.GzipETag != first.GzipETag || body(second) == body(first) || !strings.HasPrefix(first.ETag, `W/"1-`) {
		t.Errorf("cursors made the tag another one: %s, %s", first.ETag, second.ETag)
	}
	if second.Size != len(second.Bytes()) || second.Length != fmt.Sprint(second.Size) || !bytes.Contains(second.Bytes(), []byte(`"timestamp":2000`)) {
		t.Errorf("the answer of %d bytes is said to have %s: %s", len(second.Bytes()), second.Length, second.Bytes())
	}
	status = "productive"
	h.clock.pass(time.Second)
	if third := h.Answer(h.now(), true); third.ETag == first.ETag {
		t.Error("a different status has the same tag")
	}
}

// TestLiveLooksAlike puts members that look like live ones elsewhere in the manifest.
func TestLiveLooksAlike(t *testing.T) {
	h := newLive(t, func() *Live { return &Live{Station: func(string) LiveStation { return LiveStation{Status: "idle"} }} })
	h.apply(edit(t, plantFile, `reasons += {"code":"odd","currentOperatorInitials":null,"statusCode":null,"statusCodeUpdatedAt":null,"alertMessage":null,"alertExpiresAt":null}`,
		`plants[0].stationGroups[0].stations[0].description = ",\"currentOperatorInitials\":null,\"statusCode\":null"`))
	h.clock.pass(time.Second)
	_, live := bare(t, h.Answer(h.now(), true))
	m, err := h.now().Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(live) != m.StationCount() {
		t.Errorf("%d live values, want one for each of %d stations: %v", len(live), m.StationCount(), live)
	}
	if at(t, decode(t, h.Answer(h.now(), true).Bytes()), fmt.Sprintf("result.manifest.account.reasons[%d].statusCode", len(m.Reasons)-1)) != nil {
		t.Error("a reason's own property was filled in")
	}
}

// BenchmarkLive makes the answer with new values, also compressed, and compares with a cached answer.
func BenchmarkLive(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		stations := "[]"
		var list []byte
		for i := range n {
			list = fmt.Appendf(list, `,{"code":"ST-%d","name":"Station %d","utilisationDowntimeThreshold":60000}`, i, i)
		}
		stations = "[" + string(list[1:]) + "]"
		doc := edit(b, plantFile, "stationCountLimit = null", "skus = []", `plants = [{"code":"plant","name":"Plant","timezone":"Europe/London","dayStartHour":0,"weekStartDay":0,"stationGroups":[{"code":"g","name":"G","stations":`+stations+`}]}]`)
		at := int64(0)
		h := newLive(b, func() *Live {
			at++
			return &Live{Station: func(string) LiveStation { return LiveStation{Status: "productive", StatusAt: 1768204799500 + at} }}
		})
		if _, err := h.Set(auth.Local("northfield"), "stationCountLimit", "null"); err != nil {
			b.Fatal(err)
		}
		h.apply(doc)
		b.Run(fmt.Sprintf("stations=%d/new", n), func(b *testing.B) {
			for b.Loop() {
				h.clock.pass(time.Second)
				h.Answer(h.now(), true).Gzip()
			}
		})
		b.Run(fmt.Sprintf("stations=%d/again", n), func(b *testing.B) {
			snap := h.now()
			for b.Loop() {
				h.Answer(snap, true).Gzip()
			}
		})
	}
}

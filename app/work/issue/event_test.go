package issue

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/instant"
)

// TestManualDowntimeIsToldOnce checks that subscribers get one event when manual downtime starts and one when it ends,
// in the form of the API's answer, although the engine finds the start and the end, too.
func TestManualDowntimeIsToldOnce(t *testing.T) {
	w := newWorks(t)
	w.schedule()
	w.produce(1, "")
	w.until("08:10")
	say := func(over *instant.Time) *View {
		v := w.must(w.do(func(f *floor.Work) (*View, error) {
			return w.Manual(f, person(auth.Operator), CreateInput{StationCode: press, EndAt: over})
		}))
		w.until(w.Rig.Now().Add(2 * time.Minute).Format("15:04"))
		return v
	}
	begun := fmt.Sprint(asRead(t, say(nil)))
	over := instant.Of(w.at("08:11"))
	want := []string{begun, fmt.Sprint(asRead(t, say(&over)))}
	var told []string
	news, _ := w.Events.Since(floortest.Account, 0)
	for _, e := range news {
		if e.Type == event.Issue {
			told = append(told, fmt.Sprint(asRead(t, json.RawMessage(e.Data))))
		}
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-answered +told):\n%s", diff)
	}
}

func asRead(t *testing.T, v any) (fields map[string]any) {
	t.Helper()
	body, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(body, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

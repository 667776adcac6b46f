package mqtt

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"opsmon/app/ingest/signal"
)

// TestIntake checks that messages that arrive together are stored together, that a device waiting for its
// acknowledgement waits less, and that each message is answered in order with the outcome of its own signals.
func TestIntake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var batches []string
		var fail error
		in := newIntake(func(parcels []signal.Parcel) ([][]signal.Outcome, error) {
			out, said := make([][]signal.Outcome, len(parcels)), ""
			for i, p := range parcels {
				said += fmt.Sprintf("%s%v", p.From.Source, p.Objects)
				for n := range p.Objects {
					out[i] = append(out[i], signal.Outcome{Index: n, Accepted: p.Objects[n] != "bad"})
				}
			}
			batches = append(batches, said)
			return out, fail
		}, func(account string) (func(string) bool, error) {
			if account == "gone" {
				return nil, errors.New("no such account")
			}
			return func(string) bool { return true }, nil
		}, slog.New(slog.DiscardHandler))
		defer in.close()
		began := time.Now()
		var answers []string
		a, b, gone := &sender{account: "acme", source: "a"}, &sender{account: "acme", source: "b"}, &sender{account: "gone", source: "g"}
		put := func(s *sender, name string, urgent bool, objects ...any) {
			if !in.put(t.Context(), message{from: s, urgent: urgent, objects: objects, answer: func(o []signal.Outcome, err error) {
				said := fmt.Sprintf("%s %s", name, time.Since(began))
				for i := range o {
					said += fmt.Sprintf(" %t", o[i].Accepted)
				}
				if err != nil {
					said += " failed"
				}
				answers = append(answers, said)
			}}) {
				t.Error("the intake is closed")
			}
		}
		expect := func(wantBatches, wantAnswers []string) {
			t.Helper()
			time.Sleep(time.Second - time.Since(began)%time.Second)
			synctest.Wait()
			if !slices.Equal(batches, wantBatches) || !slices.Equal(answers, wantAnswers) {
				t.Errorf("stored were %q, answers %q; want %q, %q", batches, answers, wantBatches, wantAnswers)
			}
			batches, answers, began = nil, nil, time.Now()
		}
		put(a, "1", false, "x")
		put(b, "2", false, "bad")
		put(a, "3", false)
		time.Sleep(10 * time.Millisecond)
		put(a, "4", false, "y", "z")
		put(gone, "5", false, "x")
		expect([]string{"a[x y z]b[bad]"}, []string{"1 20ms true", "2 20ms false", "3 20ms", "4 20ms true true", "5 20ms failed"})
		put(a, "1", true, "x")
		expect([]string{"a[x]"}, []string{"1 2ms true"})
		put(a, "1", false, "x")
		time.Sleep(5 * time.Millisecond)
		put(b, "2", true, "y")
		expect([]string{"a[x]b[y]"}, []string{"1 7ms true", "2 7ms true"})
		for i := range enough {
			put(a, fmt.Sprint(i), false, i)
		}
		time.Sleep(time.Microsecond)
		synctest.Wait()
		if len(answers) != enough {
			t.Errorf("%d messages wait for more", enough-len(answers))
		}
		batches, answers = nil, nil
		time.Sleep(time.Second - time.Since(began)%time.Second)
		began = time.Now()
		fail = errors.New("full")
		put(a, "1", false, "x")
		expect([]string{"a[x]"}, []string{"1 20ms failed"})
	})
}

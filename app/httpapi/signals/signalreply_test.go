package signals

import (
	"slices"
	"testing"

	"opsmon/app/httpapi/rest"
	"opsmon/app/ingest/signal"
)

// TestOutcomesReply: the answer equals that of list.
func TestOutcomesReply(t *testing.T) {
	outcomes := []signal.Outcome{{Index: 0, Accepted: true}, {Index: 7, Issue: "names \"<é\u2028&>\"\n"}, {Index: 12345, Accepted: true, Issue: "twice"}}
	for n := range len(outcomes) + 1 {
		want, err := rest.List(outcomes[:n], -1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := outcomesReply(outcomes[:n])
		if err != nil || string(got.Body) != string(want.Body) {
			t.Errorf("%d outcomes are %s (%v), not %s", n, got.Body, err, want.Body)
		}
	}
}

// TestOneOf: the result does not depend on the number of calls.
func TestOneOf(t *testing.T) {
	if oneOf(nil, 1) != nil || oneOf(nil, setPays) != nil {
		t.Error("no list lets nothing be")
	}
	for _, times := range []int{1, setPays - 1, setPays, 10_000} {
		for _, codes := range [][]string{{}, {"A", "B"}} {
			for _, code := range []string{"A", "B", "C", ""} {
				if is := oneOf(codes, times)(code); is != slices.Contains(codes, code) {
					t.Errorf("%q of %q, asked %d times: %t", code, codes, times, is)
				}
			}
		}
	}
}

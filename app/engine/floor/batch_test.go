package floor

import (
	"fmt"
	"strings"
	"testing"
)

// TestLateBatches checks which late trackers are computed again together: those that are late by little first, and no
// more than sixteen days of stations at once, but for a single one.
func TestLateBatches(t *testing.T) {
	const now = 1000 * day
	var late []*tracker
	for i, ago := range []int64{400 * day, hour, 7 * day, 9 * day, hour, 1, 8 * day} {
		late = append(late, &tracker{code: fmt.Sprint("S", i), backfill: backfill{near: mark{from: now - ago}}})
	}
	var got []string
	for batch := range batches(late, now) {
		var codes []string
		for _, tr := range batch {
			codes = append(codes, tr.code)
		}
		got = append(got, strings.Join(codes, " "))
	}
	if all := strings.Join(got, ", "); all != "S5 S1 S4 S2 S6, S3, S0" {
		t.Errorf("batches: %s", all)
	}
	late = nil
	for i := range storeBatch + 1 {
		late = append(late, &tracker{code: fmt.Sprint(i), backfill: backfill{near: mark{from: now - 1}}})
	}
	var sizes []int
	for batch := range batches(late, now) {
		sizes = append(sizes, len(batch))
	}
	if fmt.Sprint(sizes) != fmt.Sprintf("[%d 1]", storeBatch) {
		t.Errorf("batches of %v trackers", sizes)
	}
}

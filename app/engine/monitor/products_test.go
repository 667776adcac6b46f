package monitor_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"opsmon/app/engine/monitor"
)

// rising are Products whose SKU A has a higher rate after each step.
type rising struct{ steps []int64 }

func (r *rising) SKU(code string, at int64) (monitor.SKU, int64) {
	if code != "A" {
		return monitor.SKU{}, math.MaxInt64
	}
	cycle, until := 60_000.0, int64(math.MaxInt64)
	for _, step := range r.steps {
		if step > at {
			until = step
			break
		}
		cycle /= 2
	}
	return monitor.SKU{Rate: monitor.Rate{CycleTime: cycle}}, until
}

// TestProductsChange compares a station whose SKU changes while it runs with one that gets a new configuration at each
// change, and with one that gets the change only afterwards.
func TestProductsChange(t *testing.T) {
	steps := []int64{clock(t, "06:10"), clock(t, "06:20:30")}
	inputs := script(t, "alive 06:00 07:00", "06:05 start S sku=A", "every 20s 06:05 07:00 good 1")
	all := &rising{steps}
	whole := append([]monitor.Input(nil), inputs...)
	for _, at := range steps {
		sku, _ := all.SKU("A", at)
		whole = append(whole, monitor.Input{At: at, Kind: monitor.InputConfig, Config: config(func(c *monitor.Config) { c.SKUs = monitor.SKUs{"A": sku} })})
	}
	slices.SortStableFunc(whole, func(a, b monitor.Input) int { return monitor.Compare(&a, &b) })
	want := run(t, config(), clock(t, "06:00"), clock(t, "07:00"), whole)
	got := run(t, config(func(c *monitor.Config) { c.SKUs = all }), clock(t, "06:00"), clock(t, "07:00"), inputs)
	if a, b := line(got.Segments), line(want.Segments); a != b {
		t.Errorf("segments\n%s\nwant\n%s", a, b)
	}
	if got.Running[0].Ideal != want.Running[0].Ideal || got.Running[0].Ideal < 100 {
		t.Errorf("due are %v units, want %v", got.Running[0].Ideal, want.Running[0].Ideal)
	}
	// A station that gets the steps while it runs.
	later := &rising{}
	s := monitor.New(config(func(c *monitor.Config) { c.SKUs = later }), clock(t, "06:00"))
	for i := range inputs {
		if inputs[i].At >= clock(t, "06:08") && later.steps == nil {
			later.steps = steps
			if s.RunningSKU() != "A" {
				t.Error("it runs another SKU")
			}
			s.Relook()
		}
		if err := s.Apply(&inputs[i]); err != nil {
			t.Fatal(err)
		}
		if inputs[i].At == clock(t, "06:15") { // a state that is decoded again knows the next step
			s.Take()
			decoded, err := monitor.Decode(s.Encode(), func(int64) *monitor.Config { return config(func(c *monitor.Config) { c.SKUs = later }) })
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(decoded.Encode(), s.Encode()) {
				t.Error("a state that is read is another one")
			}
			s = decoded
		}
	}
	if v := s.View(clock(t, "07:00")); v.Running[0].Ideal != want.Running[0].Ideal {
		t.Errorf("due are %v units after it heard of the steps, want %v", v.Running[0].Ideal, want.Running[0].Ideal)
	}
}

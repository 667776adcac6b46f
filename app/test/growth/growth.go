// Package growth prints what benchmarks measure at 10, 100 and 1,000 stations side by side, each figure beside its floor in
// the same run: what the least that could do the same needs. It is for tests alone.
//
// The whole table comes with
//
//	go test -run '^$' -bench Growth -benchtime 3x -timeout 30m ./app/... | grep '^|'
//
// A row gives the figure and, in brackets, how many times the floor it is. -short leaves out what takes minutes.
//
// What is stored waits for the disk. Where that is done within 0.1 ms, as on a server, a floor that stores and does nothing
// else shows the disk of no plant: there it takes milliseconds. How it would be with 5 ms more comes with
//
//	go test -c -o room.test ./app/ROOM
//	strace -f --seccomp-bpf -e trace=fdatasync,fsync -e inject=fdatasync,fsync:delay_exit=5000 -o /dev/null \
//		./room.test -test.run '^$' -test.bench Growth -test.benchtime 3x | grep '^|'
package growth

import (
	"fmt"
	"strings"
	"testing"
)

// Sizes are the numbers of stations.
var Sizes = []int{10, 100, 1000}

// Figure is something that is measured.
type Figure struct {
	What  string // with its unit
	Floor string // what it is beside
}

// Measured is a figure's value, and its floor's.
type Measured struct{ Ours, Floor float64 }

// Table runs measure at each size and prints a row for each figure. measure gives its values in the order of the figures, and
// may skip a size.
func Table(b *testing.B, figures []Figure, measure func(b *testing.B, stations int) []Measured) {
	b.Helper()
	cells := make([][]string, len(figures))
	for _, n := range Sizes {
		var got []Measured
		b.Run(fmt.Sprint(n, "-stations"), func(b *testing.B) {
			got = measure(b, n)
			b.ReportMetric(0, "ns/op")
		})
		for i := range figures {
			cell := "-"
			if i < len(got) {
				cell = fmt.Sprintf("%s (%s)", short(got[i].Ours), short(got[i].Ours/got[i].Floor))
			}
			cells[i] = append(cells[i], fmt.Sprint(n, ": ", cell))
		}
	}
	for i, f := range figures {
		fmt.Printf("| %s | %s | of %s |\n", f.What, strings.Join(cells[i], " | "), f.Floor)
	}
}

// short writes a number with three digits that count.
func short(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// Package scaling prints benchmark results at 10, 100 and 1,000 stations in a table, each with its lower bound from the
// same run: the minimal cost of doing the same. It is only for tests.
//
// The whole table is printed by
//
//	go test -run '^$' -bench Scaling -benchtime 3x -timeout 30m ./app/... | grep '^|'
//
// A row has the figure and, in parentheses, its ratio to the lower bound. -short leaves out what takes minutes.
//
// Stores wait for the disk. If that takes less than 0.1 ms, as on a server, a lower bound that only stores does not
// represent the disk of a plant, where it takes milliseconds. The results with 5 ms more are printed by
//
//	go test -c -o room.test ./app/ROOM
//	strace -f --seccomp-bpf -e trace=fdatasync,fsync -e inject=fdatasync,fsync:delay_exit=5000 -o /dev/null \
//		./room.test -test.run '^$' -test.bench Scaling -test.benchtime 3x | grep '^|'
package scaling

import (
	"fmt"
	"strings"
	"testing"
)

// Sizes are the numbers of stations.
var Sizes = []int{10, 100, 1000}

// Figure is a measured figure.
type Figure struct {
	What  string // including its unit
	Floor string // description of the lower bound
}

// Measured has the values of a figure and its lower bound.
type Measured struct{ Ours, Floor float64 }

// Table runs measure at each size and prints a row for each figure. measure returns its values in the order of the
// figures, and may skip a size.
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

// short formats a number with three significant digits.
func short(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

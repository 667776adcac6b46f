package schema

import "strings"

// maxCompared is the number of code points of a received name that are compared.
const maxCompared = 64

// nearest returns the candidate with the smallest edit distance to a name, ignoring case; the first one if several
// are equal.
func nearest(name string, candidates []string) string {
	sent := []rune(strings.ToLower(name[:min(len(name), 4*maxCompared)]))
	sent = sent[:min(len(sent), maxCompared)]
	best, distance := "", int(^uint(0)>>1)
	for _, c := range candidates {
		known := []rune(strings.ToLower(c))
		if max(len(sent)-len(known), len(known)-len(sent)) >= distance {
			continue
		}
		if d := editDistance(sent, known); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// editDistance returns the number of insertions, deletions, replacements and swaps of neighbours that turn a into b.
func editDistance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

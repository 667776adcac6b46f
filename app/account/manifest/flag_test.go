package manifest

import (
	"testing"
)

// TestResolveFlags checks every flag with every combination of values at the levels. A value at a level that the flag
// does not have is ignored.
func TestResolveFlags(t *testing.T) {
	saying := []FlagValue{FlagUnset, FlagInherit, FlagOn, FlagOff}
	for f := range FlagCount {
		for n := range 4 * 4 * 4 * 4 {
			said := map[Level]FlagValue{LevelAccount: saying[n%4], LevelPlant: saying[n/4%4], LevelGroup: saying[n/16%4], LevelStation: saying[n/64]}
			want := Decision{"off", LevelDefault}
			for _, level := range []Level{LevelStation, LevelGroup, LevelPlant, LevelAccount} {
				if level >= f.Top() && level <= f.Bottom() && (said[level] == FlagOn || said[level] == FlagOff) {
					want = Decision{said[level].String(), level}
					break
				}
			}
			var levels [4]Flags
			for level, v := range said {
				levels[level-LevelAccount][f] = v
			}
			got := resolveFlags(levels)
			if got[f.String()] != want || len(got) != int(FlagCount) {
				t.Fatalf("%s with %v: %v of %d flags, want %v", f, said, got[f.String()], len(got), want)
			}
		}
	}
}

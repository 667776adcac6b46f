package task

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/engine/floor/floortest"
)

// The missed and pending Tasks do not depend on whether the service ran all the time or with pauses, through changes of
// the manifest and of daylight saving time.
func TestBeingOffChangesNothing(t *testing.T) {
	patterns := []string{"0 */2 * * *", "30 2 * * *", "*/15 1-4 * * *", "0 6,14,22 * * *", "45 1,2,3 * * 0", "10 * * * *"}
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}
	starts := []string{"2026-03-07T20:00:00Z", "2026-03-28T12:00:00Z", "2026-04-04T06:00:00Z", "2026-10-24T12:00:00Z", "2026-10-31T20:00:00Z"}
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			manifest := strings.Replace(floortest.Manifest, `"timezone":"UTC"`, `"timezone":"`+zones[r.IntN(len(zones))]+`"`, 1)
			there, away := newPlant(t, manifest), newPlant(t, manifest)
			start := time.UnixMilli(ms(t, starts[r.IntN(len(starts))])).Sub(there.Now())
			for _, p := range []*plant{there, away} {
				p.off(start)
				p.open()
			}
			trigger, lists := `"pattern":"0 */2 * * *","availableBeforeDeadlineMinutes":30`, `"includeTaskListCodes":["START","ROUND","CLEAN"]`
			on := true
			for range 12 {
				d := time.Duration(r.IntN(12*60)) * time.Minute
				there.Pass(d, time.Minute)
				switch {
				case away.Floor == nil:
					away.Pause(d)
				case r.IntN(3) == 0:
					away.Pass(d, 0)
				default:
					away.off(d)
				}
				old, new := trigger, `"pattern":"`+patterns[r.IntN(len(patterns))]+`"`
				switch minutes := []int{0, 0, 5, 10}[r.IntN(4)]; {
				case r.IntN(3) == 0:
					next := `"includeTaskListCodes":["START","CLEAN"]`
					if !on {
						next = `"includeTaskListCodes":["START","ROUND","CLEAN"]`
					}
					old, new, lists, on = lists, next, next, !on
				case minutes > 0:
					new += fmt.Sprintf(`,"availableBeforeDeadlineMinutes":%d`, minutes)
					trigger = new
				default:
					trigger = new
				}
				there.revise(old, new)
				away.revise(old, new)
				if away.Floor == nil && r.IntN(2) == 0 {
					away.open()
				}
			}
			there.Pass(3*time.Hour, time.Minute)
			if away.Floor == nil {
				away.Pause(3 * time.Hour)
				away.open()
			} else {
				away.Pass(3*time.Hour, 0)
			}
			for _, code := range []string{"PRESS", "PACK"} {
				want, got := there.deadlines(code), away.deadlines(code)
				if len(want) == 0 {
					t.Error("nothing fell due")
				}
				if diff := gocmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-there +away):\n%s", code, diff)
				}
			}
		})
	}
}

// deadlines returns all Instances without the time at which they became pending, which stays unchanged if a new
// manifest has the same deadline.
func (p *plant) deadlines(station string) (lines []string) {
	for _, l := range p.all(station) {
		f := strings.Fields(l)
		lines = append(lines, strings.Join([]string{f[3], f[0], f[1]}, " "))
	}
	slices.Sort(lines)
	return lines
}

// revise applies a manifest whether or not the service runs and whether or not it changes anything.
func (p *plant) revise(old, new string) {
	p.t.Helper()
	if p.Floor != nil && old != new {
		p.apply(old, new)
		return
	}
	snap, err := p.Accounts.Get(works)
	p.must(err)
	_, err = p.Accounts.Apply(auth.Local(works), account.ApplyInput{Raw: []byte(strings.Replace(string(snap.Document().Bytes()), old, new, 1))})
	p.must(err)
}

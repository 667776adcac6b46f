package floor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/engine/floor/floortest"
	"opsmon/app/engine/monitor"
	"opsmon/app/ingest/signal"
)

// TestTheShiftFollowsRates changes rates at random at stations whose stops are found by production. A rate may move a stop that goes on,
// and time alone may find one: what is shown of the shift is what asking for its time gives, two seconds after a change.
func TestTheShiftFollowsRates(t *testing.T) {
	apart := []uint64{4, 14} // seeds with which it was not so
	for _, seed := range apart {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 99))
			base := strings.Replace(floortest.Manifest, `"name":"Press","downtimeDetectionMode":"utilisation","utilisationDowntimeThreshold":120000`, `"name":"Press","downtimeDetectionMode":"production","slowDurationThreshold":20000`, 1)
			list := append(shift(rng, press, 2), shift(rng, "PRESS-2", 2)...)
			slices.SortStableFunc(list, func(a, b message) int { return int(a.arrives - b.arrives) })
			r := floortest.New(t, base).Open(nil)
			start(t, r, press, monitor.Schedule{ID: "a", SKU: "BOWL"}, floortest.At(0))
			start(t, r, "PRESS-2", monitor.Schedule{ID: "b", SKU: "PLATE"}, floortest.At(0))
			one := func(of ...string) string { return of[rng.IntN(len(of))] }
			for i, now, compared := 0, floortest.At(0), 0; now < floortest.At(2*time.Hour) || compared < 1000; {
				rng.IntN(7000) // the seeds are of a run that drew this too
				r.Pass(time.Duration(1+rng.IntN(20))*500*time.Millisecond, 0)
				now = r.Now().UnixMilli()
				var arrived []signal.Signal
				for ; i < len(list) && list[i].arrives <= now; i++ {
					arrived = append(arrived, list[i].Signal)
				}
				if len(arrived) > 0 {
					r.Send(arrived...)
				}
				if rng.IntN(4) == 0 {
					doc := strings.NewReplacer(
						`"unitsPerMinute":60,"value":0.5`, `"unitsPerMinute":`+one("1", "3", "12", "60", "200")+`,"minimumCycleTime":`+one("0", "500", "30000")+`,"downtimeDurationThresholdMultiplier":`+one("1.5", "3", "20")+`,"value":0.5`,
						`"cycleTime":2000,"partsPerCycle":4`, `"cycleTime":`+one("500", "2000", "30000")+`,"partsPerCycle":`+one("1", "4"),
					).Replace(base)
					if _, err := r.Accounts.Apply(auth.Local(floortest.Account), account.ApplyInput{Raw: []byte(doc)}); err != nil {
						t.Fatal(err)
					}
					r.Pass(2100*time.Millisecond, 0)
				}
				for _, code := range []string{press, "PRESS-2"} {
					if sameAsAsked(t, r, code) != nil {
						compared++
					}
				}
			}
		})
	}
}

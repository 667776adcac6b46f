package httpapi

import (
	"time"

	"opsmon/app/cron"
	"opsmon/app/errdefs"
	"opsmon/app/iso"
)

// fires is the result of GET /cron.
type fires struct {
	Words              string   `json:"words"`
	Fires              []string `json:"fires"`
	SmallestGapMinutes *int     `json:"smallestGapMinutes"` // elapsed; null: it does not fire twice
}

// Fires that GET /cron tells, without being asked for a number and at most.
const (
	someFires = 5
	mostFires = 100
)

// getCron answers GET /cron: what a pattern means, by the code that Tasks come up by.
func getCron(c *call) (reply, error) {
	q := c.r.URL.Query()
	n, err := number(q.Get("count"), "count", someFires, 1, mostFires)
	if err != nil {
		return reply{}, err
	}
	zone, err := iso.Zone(q.Get("timezone"))
	if err != nil {
		return reply{}, errdefs.InvalidField("timezone", "%s", err)
	}
	pattern, err := cron.Parse(q.Get("pattern"))
	if err != nil {
		return reply{}, errdefs.InvalidField("pattern", "%s", err)
	}
	now := time.Now()
	answer := fires{Words: pattern.Words(), Fires: []string{}}
	for at := pattern.Next(now, zone); !at.IsZero() && len(answer.Fires) < n; at = pattern.Next(at, zone) {
		answer.Fires = append(answer.Fires, moment(at.UnixMilli()))
	}
	if gap, where := pattern.SmallestGap([]*time.Location{zone}, now); where != nil {
		minutes := int(gap / time.Minute)
		answer.SmallestGapMinutes = &minutes
	}
	return ok(answer)
}

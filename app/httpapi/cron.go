package httpapi

import (
	"time"

	"opsmon/app/cron"
	"opsmon/app/iso"
)

// fires is what a cron pattern means.
//
//openapi:schema CronFires
type fires struct {
	Words string   `json:"words"`                     // in English
	Fires []string `json:"fires" schema:"ref=Moment"` // the next ones
	// The smallest elapsed time between two fires. Null: it does not fire twice.
	SmallestGapMinutes *int `json:"smallestGapMinutes"`
}

// Fires that GET /cron tells, without being asked for a number and at most.
const (
	someFires = 5
	mostFires = 100
)

// getCron answers GET /cron: what a pattern means, by the code that Tasks come up by.
func getCron(c *call) (reply, error) {
	n := c.number("count", someFires, 1, mostFires)
	zone, err := iso.Zone(c.query("timezone"))
	if err != nil {
		c.fault("timezone", "%s", err)
	}
	pattern, err := cron.Parse(c.query("pattern"))
	if err != nil {
		c.fault("pattern", "%s", err)
	}
	if err := c.unclear(); err != nil {
		return reply{}, err
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

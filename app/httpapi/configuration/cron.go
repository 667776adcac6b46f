package configuration

import (
	"net/http"
	"time"

	"opsmon/app/cron"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/app/iso"
)

// cronRoutes returns the operations on cron patterns.
func cronRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/cron", Handle: getCron, Query: []string{"pattern", "timezone", "count"},
			Operation: openapi.Operation{
				ID: "readCron", Tag: "Monitoring", Summary: "Explain a cron pattern",
				About: "The pattern in words, its next fires in a time zone, and the shortest time between two " +
					"fires, including clock changes: `availableBeforeDeadlineMinutes` must be shorter. The " +
					"scheduler of Tasks uses the same calculation.",
				Answer: "The explanation.", Form: openapi.FormResult, Gives: "CronFires", Also: []int{400},
				Sample: `{"words":"at 06:00 and 14:00, Monday to Friday",
					"fires":["2026-11-20T06:00:00.000Z","2026-11-20T14:00:00.000Z"],"smallestGapMinutes":480}`,
				Params: openapi.Params{
					"pattern": {
						About:    "A cron pattern with five fields.",
						Required: true, Schema: `{"type": "string"}`, Example: "0 6,14 * * 1-5",
					},
					"timezone": {
						About:    "IANA name of the time zone.",
						Required: true, Schema: `{"type": "string"}`, Example: "Europe/London",
					},
					"count": {
						About:  "Number of fires to list.",
						Schema: `{"type": "integer", "minimum": 1, "maximum": 100, "default": 5}`, Example: 5,
					},
				},
			},
		},
	}
}

// fires is an explanation of a cron pattern.
//
//openapi:schema CronFires
type fires struct {
	Words string   `json:"words"`                     // in English
	Fires []string `json:"fires" schema:"ref=Moment"` // the next ones
	// Shortest time between two fires; null if it does not fire twice.
	SmallestGapMinutes *int `json:"smallestGapMinutes"`
}

// The default and the largest number of fires in GET /cron.
const (
	someFires = 5
	mostFires = 100
)

// getCron handles GET /cron, with the same code that makes Tasks due.
func getCron(c *rest.Call) (rest.Reply, error) {
	n := c.Number("count", someFires, 1, mostFires)
	zone, err := iso.Zone(c.Query("timezone"))
	if err != nil {
		c.Fault("timezone", "%s", err)
	}
	pattern, err := cron.Parse(c.Query("pattern"))
	if err != nil {
		c.Fault("pattern", "%s", err)
	}
	if err := c.QueryError(); err != nil {
		return rest.Reply{}, err
	}
	now := time.Now()
	answer := fires{Words: pattern.Words(), Fires: []string{}}
	for at := pattern.Next(now, zone); !at.IsZero() && len(answer.Fires) < n; at = pattern.Next(at, zone) {
		answer.Fires = append(answer.Fires, instant.Format(at))
	}
	if gap, where := pattern.SmallestGap([]*time.Location{zone}, now); where != nil {
		minutes := int(gap / time.Minute)
		answer.SmallestGapMinutes = &minutes
	}
	return rest.OK(answer)
}

package figures

import (
	"net/http"

	"opsmon/app/auth"
	"opsmon/app/engine/correction"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/schema"
)

// tuningRoutes returns the operations on standstills and other settings.
func (api *API) tuningRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/analysis/standstill", Handle: api.getStandstill,
			Query: []string{"stationcode", "from", "to", "rangecode", "archived", "limit"},
			Operation: openapi.Operation{
				ID: "getStandstill", Tag: "Monitoring", Summary: "List a station's standstills",
				About: "Every range of scheduled production in which detection saw no production, however short, " +
					"ignoring the thresholds for stops. A productive signal counts for a millisecond where it " +
					"otherwise holds on, so a standstill lasts from one signal to the next; where units are " +
					"counted, from one unit to the next. A unit ends a standstill in every detection mode. A " +
					"station whose detection is off is treated as one that detects by utilisation. Manual " +
					"downtime and time without data are no standstills. The range may be 31 days. If there are " +
					"more than `limit`, only the longest are listed; count, total and histogram are of all.",
				Answer: "The standstills.", Form: openapi.FormResult, Gives: "Standstill", Also: []int{400},
				Sample: `{"stationCode":"PACK-1","from":"2026-11-20T06:00:00.000Z","to":"2026-11-20T14:00:00.000Z",
					"lengths":{"count":1,"totalMs":41200,"histogram":[{"fromMs":0,"toMs":1000,"count":0,"totalMs":0},
					{"fromMs":28800000,"toMs":null,"count":0,"totalMs":0}]},"complete":true,
					"stretches":[{"startAt":"2026-11-20T08:15:30.000Z","endAt":"2026-11-20T08:16:11.200Z","durationMs":41200}]}`,
				Params: openapi.OneStation("limit", openapi.Param{
					About:  "Maximum number of standstills to list: the longest.",
					Schema: `{"type": "integer", "minimum": 1, "maximum": 10000, "default": 10000}`, Example: 1000,
				}),
			},
		},
		{
			Method: http.MethodPost, Path: "/analysis/tuning", Handle: api.postTuning, Body: true, Role: auth.Supervisor,
			Operation: openapi.Operation{
				ID: "tune", Tag: "Monitoring", Summary: "Try other settings on a station's past",
				About: "The body is that of `POST /correction`, for one station and at most 31 days. The answer has " +
					"figures and stops by the actual settings and by the changed ones. Nothing is stored.",
				Answer: "The figures before and after.", Body: schema.CorrectionCreate, Form: openapi.FormResult, Gives: "Tuning",
				Also: []int{409},
				Sample: `{"before":{"figures":{"scheduledProductionMs":28800000,"downtimeMs":3600000,
					"goodCount":24120,"badCount":96,"unscheduledGoodCount":0,"unscheduledBadCount":0,
					"targetCount":25200,"availability":0.875,"performance":0.961,"quality":0.996,"oee":0.8377,
					"coverage":1},"stops":{"count":4,"totalMs":3600000,
					"histogram":[{"fromMs":0,"toMs":1000,"count":0,"totalMs":0},
					{"fromMs":28800000,"toMs":null,"count":0,"totalMs":0}]}},
					"after":{"figures":{"scheduledProductionMs":28800000,"downtimeMs":5400000,"goodCount":24120,
					"badCount":96,"unscheduledGoodCount":0,"unscheduledBadCount":0,"targetCount":23400,
					"availability":0.8125,"performance":1.0349,"quality":0.996,"oee":0.8377,"coverage":1},
					"stops":{"count":31,"totalMs":5400000,"histogram":[{"fromMs":0,"toMs":1000,"count":0,"totalMs":0},
					{"fromMs":28800000,"toMs":null,"count":0,"totalMs":0}]}}}`,
			},
		},
	}
}

// mostStandstills is the largest number of listed standstills: the longest ones.
const mostStandstills = 10_000

// stretchView is a stretch of time without production.
type stretchView struct {
	StartAt    string `json:"startAt" schema:"ref=Moment"`
	EndAt      string `json:"endAt" schema:"ref=Moment"`
	DurationMs int64  `json:"durationMs" schema:"min=1"`
}

// standstillView is a station's standstills in scheduled production.
//
//openapi:schema Standstill
type standstillView struct {
	StationCode string             `json:"stationCode"`
	From        string             `json:"from" schema:"ref=Moment"`
	To          string             `json:"to" schema:"ref=Moment"`
	Lengths     correction.Lengths `json:"lengths"`
	Complete    bool               `json:"complete"`  // whether stretches lists all standstills, not only the longest
	Stretches   []stretchView      `json:"stretches"` // in order of time
}

// getStandstill handles GET /analysis/standstill: the standstills of a station in scheduled production, however short.
func (api *API) getStandstill(c *rest.Call) (rest.Reply, error) {
	limit := c.Number("limit", mostStandstills, 1, mostStandstills)
	x, err := c.ChooseOne(correction.LongestTuning)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitLong(); err != nil {
		return rest.Reply{}, err
	}
	a := &x.Stations[0]
	found, err := api.Reports.Standstills(c.Request.Context(), c.Principal.AccountID, a, limit)
	if err != nil {
		return rest.Reply{}, err
	}
	view := standstillView{
		StationCode: a.Code, From: instant.FormatMs(a.From), To: instant.FormatMs(a.To), Lengths: correction.LengthsOf(&found.Lengths), Complete: found.Complete,
		Stretches: make([]stretchView, len(found.Longest)),
	}
	for i, x := range found.Longest {
		view.Stretches[i] = stretchView{instant.FormatMs(x.Start), instant.FormatMs(x.End), x.End - x.Start}
	}
	return rest.OK(view)
}

// postTuning handles POST /analysis/tuning: figures of a station with other settings. It stores nothing.
func (api *API) postTuning(c *rest.Call) (rest.Reply, error) {
	in, err := api.correction(c)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitLong(); err != nil {
		return rest.Reply{}, err
	}
	tuning, err := api.Corrections.Tune(c.Request.Context(), c.Principal, in)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(tuning)
}

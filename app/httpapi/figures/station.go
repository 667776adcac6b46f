// Package figures serves what stations do and have done: statuses, windows, OEE, energy, analyses, corrections and
// exports.
package figures

import (
	"net/http"
	"slices"

	"opsmon/app/account"
	"opsmon/app/account/manifest"
	"opsmon/app/engine/correction"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/report"
	"opsmon/app/engine/station"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/app/work/issue"
	"opsmon/app/work/schedule"
	"opsmon/app/work/task"
)

// API has the services of these operations.
type API struct {
	Accounts    *account.Service
	Floor       *floor.Floor
	Reports     *report.Service
	Corrections *correction.Service
	Schedules   *schedule.Service
	Issues      *issue.Service
	Tasks       *task.Service
}

// Routes returns the operations.
func (api *API) Routes() []rest.Route {
	return slices.Concat(
		api.stationRoutes(), api.windowRoutes(), api.timelineRoutes(), api.oeeRoutes(), api.energyRoutes(),
		api.analysisRoutes(), api.tuningRoutes(), api.correctionRoutes(), api.exportRoutes(),
	)
}

// stationRoutes returns the operations on the current state of stations.
func (api *API) stationRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/station", Handle: api.getStations,
			Query: []string{"plantcode", "groupcode", "stationcodes", "archived"},
			Operation: openapi.Operation{
				ID: "listStations", Tag: "Station", Summary: "Read the present state of stations",
				About: "Each station with its status and since when, its running schedules and their counts, its " +
					"speed, its open stops, and the figures of the shift so far. Energy meters are included only " +
					"when they are named. The figures equal those of `GET /oee` for the station from `startAt` " +
					"to `until`, to the last bit. The sequence number grows with each change that `GET /events` " +
					"sends; equal numbers mean equal values. With `archived` the stations that have left the " +
					"manifest come last, in their last state.",
				Answer: "The stations, in the manifest's order.", Form: openapi.FormList, Gives: "StationStatus",
				Also: []int{400, 503}, Sample: statusSample,
			},
		},
		{
			Method: http.MethodGet, Path: "/station/:stationCode", Handle: api.getStation,
			Operation: openapi.Operation{
				ID: "getStation", Tag: "Station", Summary: "Read a station's configuration",
				About: "The station's configuration with everything that it inherits from its group, plant and " +
					"account: each flag with the level that decided it, reasons, Task lists with their Tasks, " +
					"the shift pattern, the SKUs that it can run, and its own settings with defaults. Also its " +
					"present status, operator and alert; null where unknown.",
				Answer: "The resolved configuration.", Form: openapi.FormResult, Gives: "StationConfiguration",
				Also: []int{404}, Sample: stationSample,
			},
		},
	}
}

// getStations handles GET /station: the current state of the stations (monitoring.md section 3).
func (api *API) getStations(c *rest.Call) (rest.Reply, error) {
	_, all, err := c.AllStations()
	if err != nil {
		return rest.Reply{}, err
	}
	chosen := c.StationsOf(all)
	if err := c.QueryError(); err != nil {
		return rest.Reply{}, err
	}
	if c.Query("stationcodes") == "" { // meters are hidden unless they are named (http-api.md section 2.2)
		chosen = slices.DeleteFunc(chosen, func(s *station.Station) bool { return s.Monitor.MeterOnly })
	}
	live, err := api.Floor.Now(c.Principal.AccountID, chosen)
	if err != nil {
		return rest.Reply{}, err
	}
	results := make([]floor.Status, len(live))
	for i := range live {
		results[i] = live[i].Status()
	}
	return rest.List(results, -1)
}

// getStation handles GET /station/{stationCode} with the resolved configuration.
func (api *API) getStation(c *rest.Call) (rest.Reply, error) {
	snap, err := api.Accounts.Get(c.Principal.AccountID)
	if err != nil {
		return rest.Reply{}, err
	}
	view, err := snap.Resolve(c.Params.ByName("stationCode"))
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(api.now(c, view))
}

// statusSample is an example of an answer.
const statusSample = `{"stationCode":"PACK-1","name":"Packer 1","plantCode":"leeds","groupCode":"packing",
	"statusCode":"downtime","statusCodeUpdatedAt":"2026-11-20T08:15:30.000Z","noSignalYet":false,"isAlive":true,
	"currentOperatorInitials":"ABC","currentOperatorSince":"2026-11-20T06:02:11.000Z","alertMessage":null,
	"alertExpiresAt":null,"lineSpeed":null,"lineSpeedTarget":null,"schedule":{"id":"s7xk2v9m4q6w","skuCode":"BOWL",
	"reasonCode":null,"workOrderReference":"WO-20417","plannedQuantity":4800,"goodCount":1212,"badCount":7,
	"idealCount":1350.5,"targetCount":1275,"countedByHand":false},"nonProductionSchedule":null,
	"issues":[{"id":"PACK-1.stop-1795680930000","type":"stop","startAt":"2026-11-20T08:15:30.000Z","causeCode":null}],
	"shift":` + soFarSample + `,"archived":false,"sequence":41827}`

// soFarSample is an example of an answer.
const soFarSample = `{"name":"Early","startAt":"2026-11-20T06:00:00.000Z","endAt":"2026-11-20T14:00:00.000Z",
	"until":"2026-11-20T08:15:00.000Z","availability":{"value":0.944,"numerator":7647000,"denominator":8100000},
	"performance":{"value":0.956,"numerator":1219,"denominator":1275},
	"quality":{"value":0.994,"numerator":1212,"denominator":1219},
	"oee":{"value":0.897,"numerator":0.897,"denominator":1},
	"coverage":{"value":1,"numerator":8100000,"denominator":8100000},"goodCount":1212,"badCount":7,
	"unscheduledGoodCount":0,"unscheduledBadCount":0,"idealCount":1350.5,"targetCount":1275,
	"scheduledProductionMs":8100000,"downtimeMs":453000,"productiveMs":7380000}`

// stationSample is an example of an answer.
const stationSample = `{"code":"PACK-1","name":"Packer 1",
	"plant":{"code":"leeds","name":"Leeds","timezone":"Europe/London"},"group":{"code":"packing","name":"Packing"},
	"currentOperatorInitials":"ABC","statusCode":"productive","statusCodeUpdatedAt":"2026-11-20T08:15:30.123Z",
	"alertMessage":null,"alertExpiresAt":null,"flags":{},
	"reasons":[{"code":"BRK","name":"Breakdown","description":null,
	"type":["downtime"],"oee":null,"heading":false,"reasons":[]}],
	"taskLists":[{"code":"START","name":"Before the first piece","description":null,"trigger":{"type":"schedule"},
	"tasks":[{"code":"CHECK","title":"Check the mould","description":null,
	"requireNotes":false,"order":1,"trigger":null}]}],
	"shiftPattern":{"code":"day","title":"Day shift",
	"shifts":[{"name":"Day","startHour":6,"duration":8,"weekDay":"1"}],"from":"group"},
	"skus":[{"code":"BK-1000","name":"Bread, 1 kg","allowUseInQuickSchedule":true}],"settings":{}}`

// stationNow is a station's configuration, with the level that decided each value.
//
// See http-api.md section 2.3.
//
//openapi:schema StationConfiguration
type stationNow struct {
	*manifest.StationView
	OperatorInitials *string `json:"currentOperatorInitials"` // initials of the operator; null if nobody works there
	// Status as in GET /station; null if not known yet.
	StatusCode     *string       `json:"statusCode"`
	StatusAt       *instant.Time `json:"statusCodeUpdatedAt"` // start of the status
	AlertMessage   *string       `json:"alertMessage"`        // the alert; null: no alert
	AlertExpiresAt *instant.Time `json:"alertExpiresAt"`      // when the alert expires; null if it does not
}

// now adds the current note and status to a station's configuration.
func (api *API) now(c *rest.Call, view *manifest.StationView) stationNow {
	var at account.LiveStation
	if live := api.Floor.Account(c.Principal.AccountID); live != nil {
		at = live.Station(view.Code)
	}
	return stationNow{view, rest.OrNull(at.OperatorInitials), rest.OrNull(at.Status), instant.OfMsOrNil(at.StatusAt), rest.OrNull(at.AlertMessage), instant.OfMsOrNil(at.AlertExpiresAt)}
}

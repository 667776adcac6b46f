package work

import (
	"net/http"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/work/schedule"
	"opsmon/schema"
)

// productionRoutes returns the operations on operators' entries.
func (api *API) productionRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/production", Handle: api.getProduction,
			Query: append(rest.SelectionParams(), "limit", "skip"),
			Operation: openapi.Operation{
				ID: "listProduction", Tag: "Production", Summary: "List production entries",
				About: "Entries in the range, by time. The default range is today's production day. Entries never " +
					"change: a wrong one is reversed by another. An entry that later facts (a late batch, manual " +
					"downtime over it) leave no room for is shown as unapplied and is in no total.",
				Answer: "A page of entries.", Form: openapi.FormPage, Gives: "ProductionEntry", Also: []int{400},
				Sample: entrySample,
			},
		},
		{
			Method: http.MethodPost, Path: "/production", Handle: api.postProduction, Body: true, Role: auth.Operator,
			Once: true,
			Operation: openapi.Operation{
				ID: "enterProduction", Tag: "Production", Summary: "Enter units",
				About: "Good and bad units that were made (enableManualProduction), good units that turned out bad " +
					"(enableRejectProduction), or a correction of a count by a difference " +
					"(enableProductionCorrection; for a schedule that has ended enableHistoricalCorrection, " +
					"admins only). A schedule's good count has one source: where the machine counts, entered " +
					"good units are shown but not added.\n\n403: the flag is off at the station. 409: no " +
					"production schedule ran then, a total would become negative, the schedule would exceed the " +
					"maximum number of units, manual downtime is active, or the signals of that time are no " +
					"longer retained.",
				Answer: "The entry.", Body: schema.ProductionCreate, Form: openapi.FormResult, Gives: "ProductionEntry",
				Also: []int{404, 409}, Sample: entrySample,
			},
		},
		{
			Method: http.MethodPost, Path: "/production/:entryId/undo", Handle: api.undoProduction, Body: true,
			Role: auth.Operator, Once: true,
			Operation: openapi.Operation{
				ID: "undoProduction", Tag: "Production", Summary: "Reverse an entry",
				About: "Makes a counter-entry; both stay in the list. Whoever may make an entry may reverse it " +
					"while the schedule runs, and an admin later.\n\n403: the flag is off. 409: it was reversed " +
					"before, a total would become negative, or the signals of its time are no longer retained.",
				Answer: "The counter-entry.", Body: schema.ProductionUndo, Form: openapi.FormResult, Gives: "ProductionEntry",
				Also: []int{404, 409}, Sample: entrySample,
				Params: openapi.Params{
					"entryId": {
						About:  "Identifier of the entry.",
						Schema: `{"type": "string", "minLength": 1}`, Example: "b7n4t6r3y5hj",
					},
				},
			},
		},
	}
}

// getProduction handles GET /production.
func (api *API) getProduction(c *rest.Call) (rest.Reply, error) {
	f, err := filter(c)
	if err != nil {
		return rest.Reply{}, err
	}
	entries, total, err := api.Schedules.Entries(c.Principal.AccountID, f)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(entries, total)
}

// postProduction handles POST /production (monitoring.md section 4).
func (api *API) postProduction(c *rest.Call) (rest.Reply, error) {
	var in schedule.EntryInput
	return c.FloorWrite(schema.ProductionCreate, false, &in, func(w *floor.Work) (any, error) { return api.Schedules.Enter(w, c.Principal, in) })
}

// undoProduction handles POST /production/{entryId}/undo.
func (api *API) undoProduction(c *rest.Call) (rest.Reply, error) {
	var in schedule.UndoInput
	return c.FloorWrite(schema.ProductionUndo, false, &in, func(w *floor.Work) (any, error) {
		return api.Schedules.Undo(w, c.Principal, c.Params.ByName("entryId"), in)
	})
}

// entrySample is an example of an answer.
const entrySample = `{"id":"b7n4t6r3y5hj","stationCode":"PACK-1","scheduleId":"q4m2x7c3w6zd",
	"at":"2026-11-20T06:41:00.000Z","effectiveAt":"2026-11-20T06:41:00.000Z","good":48,"bad":2,"reject":0,
	"correction":false,"initials":"KLM","note":null,"undoes":null,"undoneBy":null,"unapplied":null,
	"recordedAt":"2026-11-20T06:41:00.203Z","by":"tablet:line 1@acme.example"}`

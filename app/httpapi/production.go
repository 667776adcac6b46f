package httpapi

import (
	"net/http"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/work/schedule"
	"opsmon/schema"
)

// productionRoutes returns the operations on operators' entries.
func (api *workAPI) productionRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/production", handle: api.getProduction,
			query: append(chosenBy(), "limit", "skip"),
			operation: openapi.Operation{
				ID: "listProduction", Tag: "Production", Summary: "List production entries",
				About: "Entries in the range, by time. The default range is today's production day. Entries never " +
					"change: a wrong one is reversed by another. An entry that later facts (a late batch, manual " +
					"downtime over it) leave no room for is shown as unapplied and is in no total.",
				Answer: "A page of entries.", Form: openapi.FormPage, Gives: "ProductionEntry", Also: []int{400},
				Sample: entrySample,
			},
		},
		{
			method: http.MethodPost, path: "/production", handle: api.postProduction, body: true, role: auth.Operator,
			once: true,
			operation: openapi.Operation{
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
			method: http.MethodPost, path: "/production/:entryId/undo", handle: api.undoProduction, body: true,
			role: auth.Operator, once: true,
			operation: openapi.Operation{
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
func (api *workAPI) getProduction(c *call) (reply, error) {
	f, err := filter(c)
	if err != nil {
		return reply{}, err
	}
	entries, total, err := api.Schedules.Entries(c.p.AccountID, f)
	if err != nil {
		return reply{}, err
	}
	return list(entries, total)
}

// postProduction handles POST /production (monitoring.md section 4).
func (api *workAPI) postProduction(c *call) (reply, error) {
	var in schedule.EntryInput
	return c.act(schema.ProductionCreate, false, &in, func(w *floor.Work) (any, error) { return api.Schedules.Enter(w, c.p, in) })
}

// undoProduction handles POST /production/{entryId}/undo.
func (api *workAPI) undoProduction(c *call) (reply, error) {
	var in schedule.UndoInput
	return c.act(schema.ProductionUndo, false, &in, func(w *floor.Work) (any, error) {
		return api.Schedules.Undo(w, c.p, c.params.ByName("entryId"), in)
	})
}

// entrySample is an example of an answer.
const entrySample = `{"id":"b7n4t6r3y5hj","stationCode":"PACK-1","scheduleId":"q4m2x7c3w6zd",
	"at":"2026-11-20T06:41:00.000Z","effectiveAt":"2026-11-20T06:41:00.000Z","good":48,"bad":2,"reject":0,
	"correction":false,"initials":"KLM","note":null,"undoes":null,"undoneBy":null,"unapplied":null,
	"recordedAt":"2026-11-20T06:41:00.203Z","by":"tablet:line 1@acme.example"}`

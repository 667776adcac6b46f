package httpapi

import (
	"net/http"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/work/schedule"
	"opsmon/schema"
)

// productionRoutes are the operations on what operators enter.
func productionRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/production", handle: getProduction,
			query: append(chosenBy(), "limit", "skip"),
			text: operation{
				id: "listProduction", tag: "Production", summary: "List what operators entered",
				about: "Those in the range, by time; without a range, in today's production day. None is ever " +
					"changed: one that was wrong is taken back by another. What later facts (a late batch, manual " +
					"downtime entered over it) left no room for is shown as unapplied, and is in no total.",
				answer: "A page of entries.", form: formPage, gives: "ProductionEntry", also: []int{400},
				sample: entrySample,
			},
		},
		{
			method: http.MethodPost, path: "/production", handle: postProduction, body: true, role: auth.Operator,
			once: true,
			text: operation{
				id: "enterProduction", tag: "Production", summary: "Enter units by hand",
				about: "Good and bad units that were made (enableManualProduction), good units that turned out bad " +
					"(enableRejectProduction), or a correction of a count by a difference " +
					"(enableProductionCorrection; of a schedule that has ended enableHistoricalCorrection, for " +
					"admins). A schedule's good count has one source: where the machine counts, good units that " +
					"are entered are shown and not added.\n\n" +
					"403: the flag is off at the station. 409: no production schedule ran then, a total would be " +
					"negative then or at a later moment, the schedule would have more units than one may, manual " +
					"downtime is active, or the signals of that time are not kept any more.",
				answer: "The entry.", body: schema.ProductionCreate, form: formResult, gives: "ProductionEntry",
				also: []int{404, 409}, sample: entrySample,
			},
		},
		{
			method: http.MethodPost, path: "/production/:entryId/undo", handle: undoProduction, body: true,
			role: auth.Operator, once: true,
			text: operation{
				id: "undoProduction", tag: "Production", summary: "Take an entry back",
				about: "By a counter-entry; both stay in the list. Who may enter it may take it back while the " +
					"schedule runs, then an admin.\n\n" +
					"403: the flag is off. 409: it was taken back before, a total would be negative at some " +
					"moment, or the signals of its time are not kept any more.",
				answer: "The counter-entry.", body: schema.ProductionUndo, form: formResult, gives: "ProductionEntry",
				also: []int{404, 409}, sample: entrySample,
				params: params{
					"entryId": {
						about:  "Identifier of the operator's entry.",
						schema: `{"type": "string", "minLength": 1}`, example: "b7n4t6r3y5hj",
					},
				},
			},
		},
	}
}

// getProduction answers GET /production: what operators entered.
func getProduction(c *call) (reply, error) {
	f, err := c.filter()
	if err != nil {
		return reply{}, err
	}
	entries, total, err := c.api.cfg.Schedules.Entries(c.p.AccountID, f)
	if err != nil {
		return reply{}, err
	}
	return list(entries, total)
}

// postProduction answers POST /production (monitoring.md section 4).
func postProduction(c *call) (reply, error) {
	var in schedule.EntryInput
	return c.act(schema.ProductionCreate, false, &in, func(w *floor.Work) (any, error) { return c.api.cfg.Schedules.Enter(w, c.p, in) })
}

// undoProduction answers POST /production/{entryId}/undo: by a counter-entry.
func undoProduction(c *call) (reply, error) {
	var in schedule.UndoInput
	return c.act(schema.ProductionUndo, false, &in, func(w *floor.Work) (any, error) {
		return c.api.cfg.Schedules.Undo(w, c.p, c.params.ByName("entryId"), in)
	})
}

// entrySample is an example of an answer.
const entrySample = `{"id":"b7n4t6r3y5hj","stationCode":"PACK-1","scheduleId":"q4m2x7c3w6zd",
	"at":"2026-11-20T06:41:00.000Z","effectiveAt":"2026-11-20T06:41:00.000Z","good":48,"bad":2,"reject":0,
	"correction":false,"initials":"KLM","note":null,"undoes":null,"undoneBy":null,"unapplied":null,
	"recordedAt":"2026-11-20T06:41:00.203Z","by":"tablet:line 1@acme.example"}`

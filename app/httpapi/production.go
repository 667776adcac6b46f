package httpapi

import (
	"opsmon/app/engine/floor"
	"opsmon/app/work/schedule"
	"opsmon/schema"
)

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

package httpapi

import (
	"time"

	"opsmon/app/engine/correction"
	"opsmon/app/errdefs"
	"opsmon/schema"
)

// correctionResult is a correction that is stored, or what one would do.
//
//openapi:schema CorrectionResult
type correctionResult struct {
	Correction *correction.Correction `json:"correction"` // null: it was only looked at
	Effects    []correction.Effect    `json:"effects"`    // what it would do to each station and production day
	Complete   bool                   `json:"complete"`   // whether these are all of its effects
	// Codes of the stations whose figures do not follow the correction yet; none: all do.
	Computing []string `json:"computing"`
}

// made answers with a correction that is stored, by this request or the same one before, when the figures follow it, or says of which stations they do not yet.
func (c *call) made(made *correction.Correction, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	left, err := c.api.cfg.Corrections.Follow(c.p.AccountID, made)
	if err != nil { // it is stored all the same
		left = made.StationCodes
	}
	out, err := ok(correctionResult{Correction: made, Effects: []correction.Effect{}, Complete: true, Computing: append([]string{}, left...)})
	out.header = append(out.header, [2]string{"Location", "/correction/" + made.ID})
	return out, err
}

// lookedAt answers with what a correction would do.
func lookedAt(p *correction.Preview, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return ok(correctionResult{Effects: p.Effects, Complete: p.Complete, Computing: []string{}})
}

// dryRun reads the parameter dryrun. An archived account refuses what is only tried as it refuses writes.
func (c *call) dryRun() (bool, error) {
	dry := c.on("dryrun") // checkQuery has judged it
	if dry && c.route.access != open {
		return dry, c.writable()
	}
	return dry, nil
}

// postCorrection answers POST /correction (monitoring.md section 8).
func postCorrection(c *call) (reply, error) {
	in, err := c.correction()
	if err != nil {
		return reply{}, err
	}
	dry, err := c.dryRun()
	if err != nil {
		return reply{}, err
	}
	request, err := c.named()
	if err != nil {
		return reply{}, err
	}
	if err := c.takeSlot(); err != nil { // it reads manifests, and a look computes days
		return reply{}, err
	}
	if dry {
		return lookedAt(c.api.cfg.Corrections.Rehearse(c.r.Context(), c.p, in))
	}
	return c.made(c.api.cfg.Corrections.Make(c.p, request, in))
}

// correction reads the body of a correction, and reports all that is wrong with it.
func (c *call) correction() (in correction.Input, err error) {
	body, problems, err := c.shape(schema.CorrectionCreate, false)
	if err != nil {
		return in, err
	}
	in = correctionInput(body)
	if len(problems) > 0 {
		var later errdefs.Problems
		_ = later.Take(c.api.cfg.Corrections.Check(c.p, in)) // what else refuses it can be told when it is right
		problems.Merge(later)
	}
	return in, c.invalid(problems)
}

// correctionInput reads a body that the schema has passed. Its changes stay as they are, so that null is told from what
// is missing.
func correctionInput(body any) correction.Input {
	fields, _ := body.(map[string]any)
	in := correction.Input{Changes: fields["changes"]}
	in.Note, _ = fields["note"].(string)
	codes, _ := fields["stationCodes"].([]any)
	for _, v := range codes {
		code, _ := v.(string)
		in.StationCodes = append(in.StationCodes, code)
	}
	moment := func(name string) time.Time {
		text, _ := fields[name].(string)
		t, _ := time.Parse(time.RFC3339Nano, text) // the schema has seen that it is one
		return t
	}
	in.From, in.To = moment("from"), moment("to")
	return in
}

// getCorrections answers GET /correction.
func getCorrections(c *call) (reply, error) {
	limit, skip := c.page(100, 1000)
	if err := c.unclear(); err != nil {
		return reply{}, err
	}
	corrections, total, err := c.api.cfg.Corrections.List(c.p.AccountID, limit, skip)
	if err != nil {
		return reply{}, err
	}
	return list(corrections, total)
}

// postCorrectionUndo answers POST /correction/{id}/undo.
func postCorrectionUndo(c *call) (reply, error) {
	dry, err := c.dryRun()
	if err != nil {
		return reply{}, err
	}
	request, err := c.named()
	if err != nil {
		return reply{}, err
	}
	id := c.params.ByName("correctionId")
	if !dry {
		return c.made(c.api.cfg.Corrections.Undo(c.p, request, id))
	}
	if err := c.takeSlot(); err != nil {
		return reply{}, err
	}
	return lookedAt(c.api.cfg.Corrections.RehearseUndo(c.r.Context(), c.p, id))
}

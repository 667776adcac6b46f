package figures

import (
	"net/http"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/correction"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/schema"
)

// correctionRoutes returns the operations on corrections of the past.
func (api *API) correctionRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/correction", Handle: api.getCorrections, Role: auth.Admin,
			Query: []string{"limit", "skip"},
			Operation: openapi.Operation{
				ID: "listCorrections", Tag: "Admin", Summary: "List corrections",
				About:  "The newest comes first. Undone corrections are included.",
				Answer: "A page of corrections.", Form: openapi.FormPage, Gives: "Correction", Also: []int{400},
				Sample: correctionSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/correction", Handle: api.postCorrection, Body: true, Role: auth.Admin,
			Once: true, Desk: true, Query: []string{"dryrun"},
			Operation: openapi.Operation{
				ID: "makeCorrection", Tag: "Admin", Summary: "Correct the past configuration of stations",
				About: "Changes thresholds, shifts, rates, SKUs or reasons for a past range, whatever the manifest " +
					"said then. Signals, schedules and what people entered stay; the figures are calculated " +
					"again. The answer comes when the figures are current, or after two seconds: `computing` " +
					"then names the stations whose figures are still the old ones, and the account's `windows` " +
					"cursor lies before that time. Where corrections overlap, the newest one decides each " +
					"field.\n\nWith `dryrun` nothing is stored, and the answer shows OEE by the default profile, " +
					"before and after, for each affected station and production day: the first 200 of them. A " +
					"request that is repeated with its `Idempotency-Key` makes no second correction: it returns " +
					"the correction as it was made, with the present `computing`.\n\n409: the account is " +
					"archived, or the key was used for another request.",
				Answer: "The correction, or with `dryrun` its effect.", Body: schema.CorrectionCreate,
				Form: openapi.FormResult, Gives: "CorrectionResult", Also: []int{409, 503}, Sample: effectSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/correction/:correctionId/undo", Handle: api.postCorrectionUndo,
			Role: auth.Admin, Once: true, Desk: true, Query: []string{"dryrun"},
			Operation: openapi.Operation{
				ID: "undoCorrection", Tag: "Admin", Summary: "Undo a correction",
				About: "The figures become what they would be without the correction, which stays in the list. With " +
					"`dryrun` the answer shows the effect. A request that is repeated with its `Idempotency-Key` " +
					"has the same answer.\n\n409: the correction was undone before, the key was used for another " +
					"request, or the signals of that time are no longer retained.",
				Answer: "The correction, or with `dryrun` the effect of undoing it.", Form: openapi.FormResult,
				Gives: "CorrectionResult", Also: []int{400, 404, 409, 503}, Sample: effectSample,
				Params: openapi.Params{
					"correctionId": {
						About:  "Identifier of the correction.",
						Schema: `{"type": "string", "minLength": 1}`, Example: "3",
					},
				},
			},
		},
	}
}

// correctionResult is a stored correction, or the effect of one.
//
//openapi:schema CorrectionResult
type correctionResult struct {
	Correction *correction.Correction `json:"correction"` // null for a dry run
	Effects    []correction.Effect    `json:"effects"`    // effect on each station and production day
	Complete   bool                   `json:"complete"`   // whether effects is complete
	// Codes of the stations whose figures are not recalculated yet.
	Computing []string `json:"computing"`
}

// made replies with a stored correction, of this request or an identical one before, after its recalculation has
// finished or with the stations that are still being recalculated.
func (api *API) made(c *rest.Call, made *correction.Correction, err error) (rest.Reply, error) {
	if err != nil {
		return rest.Reply{}, err
	}
	left, err := api.Corrections.Follow(c.Principal.AccountID, made)
	if err != nil { // it is stored anyway
		left = made.StationCodes
	}
	out, err := rest.OK(correctionResult{Correction: made, Effects: []correction.Effect{}, Complete: true, Computing: append([]string{}, left...)})
	out.Header = append(out.Header, [2]string{"Location", "/correction/" + made.ID})
	return out, err
}

// lookedAt replies with the preview of a correction.
func lookedAt(p *correction.Preview, err error) (rest.Reply, error) {
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(correctionResult{Effects: p.Effects, Complete: p.Complete, Computing: []string{}})
}

// postCorrection handles POST /correction (monitoring.md section 8).
func (api *API) postCorrection(c *rest.Call) (rest.Reply, error) {
	in, err := api.correction(c)
	if err != nil {
		return rest.Reply{}, err
	}
	dry, err := c.DryRun()
	if err != nil {
		return rest.Reply{}, err
	}
	request, err := c.Idempotency()
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitManifest(); err != nil { // it reads manifests, and a preview calculates days
		return rest.Reply{}, err
	}
	if dry {
		return lookedAt(api.Corrections.Preview(c.Request.Context(), c.Principal, in))
	}
	made, err := api.Corrections.Make(c.Principal, request, in)
	return api.made(c, made, err)
}

// correction decodes a correction and returns all problems with it.
func (api *API) correction(c *rest.Call) (in correction.Input, err error) {
	body, problems, err := c.ReadBody(schema.CorrectionCreate, false)
	if err != nil {
		return in, err
	}
	in = correctionInput(body)
	if len(problems) > 0 {
		var later errdefs.Problems
		_ = later.Take(api.Corrections.Check(c.Principal, in)) // other errors are returned once the format is valid
		problems.Merge(later)
	}
	return in, c.Invalid(problems)
}

// correctionInput converts a body that matches the schema. Its changes are not decoded further, so null differs from a
// missing value.
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
		t, _ := instant.Parse(text) // the schema guarantees a time
		return t
	}
	in.From, in.To = moment("from"), moment("to")
	return in
}

// getCorrections handles GET /correction.
func (api *API) getCorrections(c *rest.Call) (rest.Reply, error) {
	limit, skip := c.Page(100, 1000)
	if err := c.QueryError(); err != nil {
		return rest.Reply{}, err
	}
	corrections, total, err := api.Corrections.List(c.Principal.AccountID, limit, skip)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(corrections, total)
}

// postCorrectionUndo handles POST /correction/{id}/undo.
func (api *API) postCorrectionUndo(c *rest.Call) (rest.Reply, error) {
	dry, err := c.DryRun()
	if err != nil {
		return rest.Reply{}, err
	}
	request, err := c.Idempotency()
	if err != nil {
		return rest.Reply{}, err
	}
	id := c.Params.ByName("correctionId")
	if !dry {
		made, err := api.Corrections.Undo(c.Principal, request, id)
		return api.made(c, made, err)
	}
	if err := c.WaitManifest(); err != nil {
		return rest.Reply{}, err
	}
	return lookedAt(api.Corrections.PreviewUndo(c.Request.Context(), c.Principal, id))
}

// correctionSample is an example of an answer.
const correctionSample = `{"id":"3","createdAt":"2026-11-20T08:15:30.123Z","author":"it@acme.example",
	"note":"The threshold was meant to be two minutes","stationCodes":["PACK-1"],"from":"2026-11-16T06:00:00.000Z",
	"to":"2026-11-20T06:00:00.000Z","changes":{"station":{"utilisationDowntimeThreshold":120000}},"undoneAt":null,
	"undoneBy":null}`

// effectSample is an example of an answer.
const effectSample = `{"correction":null,"effects":[{"stationCode":"PACK-1","day":"2026-11-16",
	"before":{"scheduledProductionMs":28800000,"downtimeMs":0,"goodCount":6120,"badCount":40,"unscheduledGoodCount":0,
	"unscheduledBadCount":0,"targetCount":7200,"availability":1,"performance":0.8556,"quality":0.9935,"oee":0.85,
	"coverage":1},"after":{"scheduledProductionMs":28800000,"downtimeMs":2880000,"goodCount":6120,"badCount":40,
	"unscheduledGoodCount":0,"unscheduledBadCount":0,"targetCount":6480,"availability":0.9,"performance":0.9506,
	"quality":0.9935,"oee":0.85,"coverage":1}}],"complete":true,"computing":[]}`

package httpapi

import "opsmon/app/engine/correction"

// mostStandstills is how many stretches are listed at most: the longest.
const mostStandstills = 10_000

// stretchView is a stretch of time without production.
type stretchView struct {
	StartAt    string `json:"startAt" schema:"ref=Moment"`
	EndAt      string `json:"endAt" schema:"ref=Moment"`
	DurationMs int64  `json:"durationMs" schema:"min=1"`
}

// standstillView is how long a station stood in scheduled production.
//
//openapi:schema Standstill
type standstillView struct {
	StationCode string             `json:"stationCode"`
	From        string             `json:"from" schema:"ref=Moment"`
	To          string             `json:"to" schema:"ref=Moment"`
	Lengths     correction.Lengths `json:"lengths"`
	Complete    bool               `json:"complete"`  // stretches are all, and not the longest alone
	Stretches   []stretchView      `json:"stretches"` // in order of time
}

// getStandstill answers GET /analysis/standstill: how long a station stood in scheduled production, however short that was.
func getStandstill(c *call) (reply, error) {
	limit := c.number("limit", mostStandstills, 1, mostStandstills)
	x, err := c.chooseOne(correction.LongestTuning)
	if err != nil {
		return reply{}, err
	}
	if err := c.slot(); err != nil {
		return reply{}, err
	}
	a := &x.Stations[0]
	found, err := c.api.cfg.Reports.Standstills(c.r.Context(), c.p.AccountID, a, limit)
	if err != nil {
		return reply{}, err
	}
	view := standstillView{
		StationCode: a.Code, From: moment(a.From), To: moment(a.To), Lengths: correction.LengthsOf(&found.Lengths), Complete: found.Complete,
		Stretches: make([]stretchView, len(found.Longest)),
	}
	for i, x := range found.Longest {
		view.Stretches[i] = stretchView{moment(x.Start), moment(x.End), x.End - x.Start}
	}
	return ok(view)
}

// postTuning answers POST /analysis/tuning: what other settings would have made of a station's time. It stores nothing.
func postTuning(c *call) (reply, error) {
	in, err := c.correction()
	if err != nil {
		return reply{}, err
	}
	if err := c.slot(); err != nil {
		return reply{}, err
	}
	tuning, err := c.api.cfg.Corrections.Tune(c.r.Context(), c.p, in)
	if err != nil {
		return reply{}, err
	}
	return ok(tuning)
}

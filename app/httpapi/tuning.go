package httpapi

import (
	"cmp"
	"slices"

	"opsmon/app/engine/correction"
	"opsmon/app/engine/oee"
)

// mostStandstills is how many stretches are told one by one: the longest.
const mostStandstills = 10_000

// stretchView is a stretch of time.
type stretchView struct {
	StartAt    string `json:"startAt"`
	EndAt      string `json:"endAt"`
	DurationMs int64  `json:"durationMs"`
}

// standstillView is the answer of GET /analysis/standstill.
type standstillView struct {
	StationCode string             `json:"stationCode"`
	From        string             `json:"from"`
	To          string             `json:"to"`
	Lengths     correction.Lengths `json:"lengths"`
	Complete    bool               `json:"complete"` // Stretches are all, and not only the longest
	Stretches   []stretchView      `json:"stretches"`
}

// longestOnes keeps the longest of many stretches.
type longestOnes struct {
	list []standstill
	most int
}

// standstill is a stretch of time without production, ms.
type standstill struct{ start, end int64 }

func (l *longestOnes) add(start, end int64) {
	if l.list = append(l.list, standstill{start, end}); len(l.list) >= 2*l.most {
		l.cut()
	}
}

// cut leaves no more than the most; of equal ones the first.
func (l *longestOnes) cut() {
	slices.SortFunc(l.list, func(a, b standstill) int {
		return cmp.Or(cmp.Compare(b.end-b.start, a.end-a.start), cmp.Compare(a.start, b.start))
	})
	l.list = l.list[:min(len(l.list), l.most)]
}

// shown gives them in order of time.
func (l *longestOnes) shown() []stretchView {
	l.cut()
	slices.SortFunc(l.list, func(a, b standstill) int { return cmp.Compare(a.start, b.start) })
	out := make([]stretchView, len(l.list))
	for i, x := range l.list {
		out[i] = stretchView{moment(x.start), moment(x.end), x.end - x.start}
	}
	return out
}

// getStandstill answers GET /analysis/standstill: how long a station stood in scheduled production, however short that was.
func getStandstill(c *call) (reply, error) {
	limit := c.number("limit", mostStandstills, 1, mostStandstills)
	x, err := c.chooseOne(correction.LongestTuning)
	if err != nil {
		return reply{}, err
	}
	if err := c.turn(); err != nil {
		return reply{}, err
	}
	a := &x.Stations[0]
	list, lengths := longestOnes{most: limit}, oee.Lengths{}
	err = c.api.cfg.Floor.Standstills(c.r.Context(), c.p.AccountID, a.Code, a.From, a.To, func(start, end int64) {
		list.add(start, end)
		lengths.Add(end - start)
	})
	if err != nil {
		return reply{}, err
	}
	return ok(standstillView{
		StationCode: a.Code, From: moment(a.From), To: moment(a.To), Lengths: correction.LengthsOf(&lengths), Complete: lengths.Count <= limit, Stretches: list.shown(),
	})
}

// postTuning answers POST /analysis/tuning: what other settings would have made of a station's time. It stores nothing.
func postTuning(c *call) (reply, error) {
	in, err := c.correction()
	if err != nil {
		return reply{}, err
	}
	if err := c.turn(); err != nil {
		return reply{}, err
	}
	tuning, err := c.api.cfg.Corrections.Tune(c.r.Context(), c.p, in)
	if err != nil {
		return reply{}, err
	}
	return ok(tuning)
}

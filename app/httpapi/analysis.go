package httpapi

import (
	"net/http"

	"opsmon/app/engine/report"
	"opsmon/app/httpapi/openapi"
)

// analysisRoutes returns the operations on causes of downtime and cycle times.
func (api *figuresAPI) analysisRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/pareto", handle: api.getPareto, query: chosenBy(),
			operation: openapi.Operation{
				ID: "getPareto", Tag: "Monitoring", Summary: "List downtime by cause",
				About: "The longest comes first. Only the part of a stop that lies in the range counts. Downtime " +
					"without a cause is a line of its own.",
				Answer: "The causes.", Form: openapi.FormList, Gives: "ParetoLine", Also: []int{400},
				Sample: `{"causeCode":"JAM","name":"Jam","downtimeMs":1860000,"count":7,"share":0.62,"cumulative":0.62}`,
			},
		},
		{
			method: http.MethodGet, path: "/analysis/cycletime", handle: api.getCycleTimes, query: chosenBy(),
			operation: openapi.Operation{
				ID: "getCycleTimes", Tag: "Monitoring", Summary: "List cycle times",
				About: "Measured from one signal to the next while a station ran on the same schedule, without a " +
					"stop, a pause or missing data in between. The range may be at most 31 days. A signal that " +
					"reports several cycles counts as that many equal ones.\n\n403: `enableCycleTimeAnalysis` is " +
					"off at a station that was named, or at all stations.",
				Answer: "The cycle times, by station and SKU.", Form: openapi.FormList, Gives: "CycleTimes", Also: []int{400},
				Sample: `{"stationCode":"PACK-1","skuCode":"BOWL","specifiedCycleMs":1000,"count":2812,
					"medianMs":1040,"best10PercentMs":985,"spreadMs":62}`,
			},
		},
	}
}

// barView is the downtime of one cause.
//
//openapi:schema ParetoLine
type barView struct {
	CauseCode  *string `json:"causeCode"` // code of the reason; null for downtime without a cause
	Name       *string `json:"name"`
	DowntimeMs int64   `json:"downtimeMs"`
	Count      int     `json:"count"`      // number of stops that overlap the range
	Share      float64 `json:"share"`      // share of all downtime
	Cumulative float64 `json:"cumulative"` // the share of this and all lines before
}

// getPareto handles GET /pareto.
func (api *figuresAPI) getPareto(c *call) (reply, error) {
	x, err := c.choose(report.LongestDetail, "today")
	if err != nil {
		return reply{}, err
	}
	if err := c.long(x, longDetail); err != nil {
		return reply{}, err
	}
	causes, err := api.Reports.Pareto(c.r.Context(), x)
	if err != nil {
		return reply{}, err
	}
	results := make([]barView, len(causes))
	for i, b := range causes {
		results[i] = barView{orNull(b.Cause), orNull(b.Name), b.Ms, b.Count, b.Share, b.Cumulative}
	}
	return list(results, -1)
}

// cycleView is the cycle times of a SKU at a station, ms.
//
//openapi:schema CycleTimes
type cycleView struct {
	StationCode      string   `json:"stationCode"`
	SKUCode          string   `json:"skuCode"`
	SpecifiedCycleMs *float64 `json:"specifiedCycleMs"` // cycle time by the present rate; null if there is no rate
	Count            int      `json:"count"`            // number of measured cycles
	MedianMs         float64  `json:"medianMs"`
	Best10PercentMs  float64  `json:"best10PercentMs"` // a tenth of the cycles took at most this long
	SpreadMs         float64  `json:"spreadMs"`        // from the first to the third quartile
}

// getCycleTimes handles GET /analysis/cycletime.
func (api *figuresAPI) getCycleTimes(c *call) (reply, error) {
	x, err := c.choose(report.LongestCycles, "today")
	if err != nil {
		return reply{}, err
	}
	on, err := x.Measured()
	if err != nil {
		return reply{}, err
	}
	if err := c.long(x, longDetail); err != nil {
		return reply{}, err
	}
	times, err := api.Reports.Cycles(c.r.Context(), c.p.AccountID, on)
	if err != nil {
		return reply{}, err
	}
	results := make([]cycleView, len(times))
	for i, t := range times {
		results[i] = cycleView{t.Station, t.SKU, orNull(t.Specified), t.Count, t.Median, t.Best, t.Spread}
	}
	return list(results, -1)
}

package httpapi

import (
	"slices"
	"strings"

	"opsmon/app/errdefs"
	"opsmon/app/floor"
	"opsmon/app/station"
)

// getStations answers GET /station: what the stations do now (monitoring.md section 3).
func getStations(c *call) (reply, error) {
	plan, all, err := c.allStations()
	if err != nil {
		return reply{}, err
	}
	chosen, err := c.stationsOf(all)
	if err != nil {
		return reply{}, err
	}
	live, err := c.api.cfg.Floor.Now(c.p.AccountID)
	if err == nil && len(all) > len(plan.Stations) {
		var gone []floor.Live
		gone, err = c.api.cfg.Floor.Gone(c.p.AccountID)
		live = append(live, gone...)
	}
	if err != nil {
		return reply{}, err
	}
	asked := make(map[string]bool, len(chosen))
	named := c.r.URL.Query().Get("stationcodes") != ""
	for _, s := range chosen {
		asked[s.Code] = named || !s.Monitor.MeterOnly // meters are hidden unless they are named (http-api.md section 2.2)
	}
	results := make([]floor.Status, 0, len(live))
	for i := range live {
		if asked[live[i].Station.Code] {
			results = append(results, live[i].Status())
		}
	}
	return list(results, -1)
}

// stationsOf gives, of some stations, those that the query parameters plantcode, groupcode and stationcodes choose, in the
// same order; without any of them all.
func (c *call) stationsOf(all []*station.Station) ([]*station.Station, error) {
	q := c.r.URL.Query()
	plant, group, codes := q.Get("plantcode"), q.Get("groupcode"), q.Get("stationcodes")
	var problems []errdefs.Detail
	problem := func(field, issue string) { problems = append(problems, errdefs.Detail{Field: field, Issue: issue}) }
	if plant != "" && !slices.ContainsFunc(all, func(s *station.Station) bool { return s.Plant.Code == plant }) {
		problem("plantcode", "names the plant "+shorten(plant)+", which the account does not have")
	}
	if group != "" && !slices.ContainsFunc(all, func(s *station.Station) bool { return s.Group.Code == group }) {
		problem("groupcode", "names the station group "+shorten(group)+", which the account does not have")
	}
	var named map[string]bool
	if codes != "" {
		named = map[string]bool{}
		for code := range strings.SplitSeq(codes, ",") {
			if !slices.ContainsFunc(all, func(s *station.Station) bool { return s.Code == code }) && len(problems) < errdefs.MaxDetails {
				problem("stationcodes", "names the station "+shorten(code)+", which the account does not have")
			}
			named[code] = true
		}
	}
	if err := errdefs.InvalidDetails("the query", problems); err != nil {
		return nil, err
	}
	var list []*station.Station
	for _, s := range all {
		if (plant == "" || s.Plant.Code == plant) && (group == "" || s.Group.Code == group) && (named == nil || named[s.Code]) {
			list = append(list, s)
		}
	}
	return list, nil
}

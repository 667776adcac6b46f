package httpapi

import (
	"slices"
	"strings"

	"opsmon/app/engine/floor"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
)

// getStations answers GET /station: what the stations do now (monitoring.md section 3).
func getStations(c *call) (reply, error) {
	_, all, err := c.allStations()
	if err != nil {
		return reply{}, err
	}
	chosen := c.stationsOf(all)
	if err := c.unclear(); err != nil {
		return reply{}, err
	}
	if c.query("stationcodes") == "" { // meters are hidden unless they are named (http-api.md section 2.2)
		chosen = slices.DeleteFunc(chosen, func(s *station.Station) bool { return s.Monitor.MeterOnly })
	}
	live, err := c.api.cfg.Floor.Now(c.p.AccountID, chosen)
	if err != nil {
		return reply{}, err
	}
	results := make([]floor.Status, len(live))
	for i := range live {
		results[i] = live[i].Status()
	}
	return list(results, -1)
}

// stationsOf gives, of some stations, those that the query parameters plantcode, groupcode and stationcodes choose, in the
// same order; without any of them all.
func (c *call) stationsOf(all []*station.Station) (list []*station.Station) {
	plant, group, codes := c.query("plantcode"), c.query("groupcode"), c.query("stationcodes")
	if plant != "" && !slices.ContainsFunc(all, func(s *station.Station) bool { return s.Plant.Code == plant }) {
		c.fault("plantcode", "names the plant %s, which the account does not have", shorten(plant))
	}
	if group != "" && !slices.ContainsFunc(all, func(s *station.Station) bool { return s.Group.Code == group }) {
		c.fault("groupcode", "names the station group %s, which the account does not have", shorten(group))
	}
	var named map[string]bool
	if codes != "" {
		named = map[string]bool{}
		for code := range strings.SplitSeq(codes, ",") {
			if !slices.ContainsFunc(all, func(s *station.Station) bool { return s.Code == code }) && len(c.asked) < errdefs.MaxDetails {
				c.fault("stationcodes", "names the station %s, which the account does not have", shorten(code))
			}
			named[code] = true
		}
	}
	for _, s := range all {
		if (plant == "" || s.Plant.Code == plant) && (group == "" || s.Group.Code == group) && (named == nil || named[s.Code]) {
			list = append(list, s)
		}
	}
	return list
}

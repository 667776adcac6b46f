package rest

import (
	"slices"
	"strings"
	"time"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/report"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
)

// SelectionParams returns the query parameters that select stations and time.
func SelectionParams() []string {
	return []string{"plantcode", "groupcode", "stationcodes", "from", "to", "rangecode", "archived"}
}

// Choose parses the stations and the range of a request and returns all problems with the query. The range is optional
// if fallback names a default.
func (c *Call) Choose(most time.Duration, fallback string) (*report.Selection, error) {
	plan, all, err := c.AllStations()
	if err != nil {
		return nil, err
	}
	x, err := c.over(c.StationsOf(all), most, fallback)
	if err != nil {
		return nil, err
	}
	x.Plan, x.Named, x.Grouped = plan, c.Query("stationcodes") != "", c.Query("groupcode") != ""
	return x, nil
}

// oneStation returns the station of a request as a list, which is empty if the station is unknown.
func (c *Call) oneStation() ([]*station.Station, error) {
	_, all, err := c.AllStations()
	if err != nil {
		return nil, err
	}
	code := c.Query("stationcode")
	at := slices.IndexFunc(all, func(s *station.Station) bool { return s.Code == code })
	switch {
	case code == "":
		c.Fault("stationcode", "must be given: the code of a station")
	case at < 0:
		c.Fault("stationcode", "names the station %s, which the account does not have", errdefs.Shorten(code))
	default:
		return all[at : at+1], nil
	}
	return nil, nil
}

// ChooseOne parses the only station and the range of a request.
func (c *Call) ChooseOne(most time.Duration) (*report.Selection, error) {
	s, err := c.oneStation()
	if err != nil {
		return nil, err
	}
	return c.over(s, most, "")
}

// over parses the range of a request about some stations and returns all problems with the query.
func (c *Call) over(chosen []*station.Station, most time.Duration, fallback string) (*report.Selection, error) {
	x := &report.Selection{Account: c.Principal.AccountID, Now: c.api.cfg.Floor.Time()}
	if len(chosen) == 0 { // the query is validated anyway, and the answer has its range
		r, _ := c.RangeOf(UTCDays, most, fallback)
		x.From, x.To = report.Minutes(r, x.Now)
		return x, c.QueryError()
	}
	var r calendar.Range
	for i, s := range chosen {
		if i == 0 || s.Plant != chosen[i-1].Plant || s.Archived != chosen[i-1].Archived {
			r, _ = c.RangeOf(s.Calendar, most, fallback)
		}
		x.Add(s, r)
	}
	return x, c.QueryError()
}

// AllStations returns the plan in force and all its stations, with archived=true including those that have left it.
func (c *Call) AllStations() (plan *station.Plan, all []*station.Station, err error) {
	f := c.api.cfg.Floor
	if !c.On("archived") {
		if plan, err = f.Plan(c.Principal.AccountID); err != nil {
			return nil, nil, err
		}
		return plan, plan.Stations, nil
	}
	plan, gone, err := f.Stations(c.Principal.AccountID)
	if err != nil {
		return nil, nil, err
	}
	return plan, slices.Concat(plan.Stations, gone), nil
}

// StationsOf returns the stations selected by the query parameters plantcode, groupcode and stationcodes, in the same
// order; without parameters all of them.
func (c *Call) StationsOf(all []*station.Station) (list []*station.Station) {
	plant, group, codes := c.Query("plantcode"), c.Query("groupcode"), c.Query("stationcodes")
	if plant != "" && !slices.ContainsFunc(all, func(s *station.Station) bool { return s.Plant.Code == plant }) {
		c.Fault("plantcode", "names the plant %s, which the account does not have", errdefs.Shorten(plant))
	}
	if group != "" && !slices.ContainsFunc(all, func(s *station.Station) bool { return s.Group.Code == group }) {
		c.Fault("groupcode", "names the station group %s, which the account does not have", errdefs.Shorten(group))
	}
	var named map[string]bool
	if codes != "" {
		named = map[string]bool{}
		for code := range strings.SplitSeq(codes, ",") {
			if !slices.ContainsFunc(all, func(s *station.Station) bool { return s.Code == code }) && len(c.asked) < errdefs.MaxDetails {
				c.Fault("stationcodes", "names the station %s, which the account does not have", errdefs.Shorten(code))
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

// UTCDays is the calendar for validating a request without stations.
var UTCDays = calendar.NewCalendar(calendar.CalendarConfig{Zone: time.UTC})

// RangeOf parses a range of time, in days of a calendar. The default is the range named fallback; if that is "", a
// range is required. given is also false for an invalid range.
func (c *Call) RangeOf(days *calendar.Calendar, most time.Duration, fallback string) (r calendar.Range, given bool) {
	now := c.api.cfg.Floor.Time()
	r, given, err := report.ParseRange(c.Query("rangecode"), c.Query("from"), c.Query("to"), days, now, most)
	if err == nil && !given {
		if r, given = days.Named(fallback, now); !given {
			err = errdefs.InvalidField("from", "must be given, or rangecode")
		}
		given = false
	}
	_ = c.Note(err) // ParseRange returns no other error
	return r, given
}

package account

import (
	"fmt"
	"strings"
	"time"

	"opsmon/app/cron"
	"opsmon/app/errdefs"
	"opsmon/app/iso"
)

// checker collects what the rules of decisions.md section 3 find beyond the shapes of the schema.
type checker struct {
	m        *Manifest
	now      time.Time
	problems []errdefs.Detail
	warnings []errdefs.Detail

	patterns, reasons, tasks, taskLists, stations, groups map[string]string // code -> path of its first use
	zones                                                 []*time.Location
	gaps                                                  map[string]gap
}

type gap struct {
	pattern cron.Pattern
	issue   string // why the pattern cannot be used, "" when it can
	least   time.Duration
	zone    *time.Location
}

// check applies the rules that a schema cannot say. now bounds the search for the next fires of a pattern.
func check(m *Manifest, now time.Time) (problems, warnings []errdefs.Detail) {
	c := &checker{m: m, now: now, gaps: map[string]gap{}}
	c.collect()
	c.currency()
	c.references()
	c.triggers()
	c.skus()
	c.lists("account", &m.Settings.Lists)
	return c.problems, c.warnings
}

func (c *checker) problem(path, format string, args ...any) {
	c.problems = append(c.problems, errdefs.Detail{Field: path, Issue: fmt.Sprintf(format, args...)})
}

func (c *checker) warn(path, format string, args ...any) {
	c.warnings = append(c.warnings, errdefs.Detail{Field: path, Issue: fmt.Sprintf(format, args...)})
}

// unique notes a code and reports it when it was there before. An empty code is the schema's to report.
func (c *checker) unique(seen map[string]string, path, what, code, within string) {
	if code == "" {
		return
	}
	if first, dup := seen[code]; dup {
		c.problem(path, "must be unique within %s; the %s %q is also at %s", within, what, code, first)
		return
	}
	seen[code] = path
}

// collect gathers all codes and checks that they are unique where they must be.
func (c *checker) collect() {
	m := c.m
	c.patterns, c.reasons, c.tasks, c.taskLists = map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	c.stations, c.groups = make(map[string]string, m.StationCount()), map[string]string{}
	titles, skus, plants := map[string]string{}, make(map[string]string, len(m.SKUs)), map[string]string{}
	const account = "the account"
	for i, p := range m.ShiftPatterns {
		path := fmt.Sprintf("account.shiftPatterns[%d]", i)
		c.unique(c.patterns, path+".code", "shift pattern code", p.Code, account)
		c.unique(titles, path+".title", "shift pattern title", p.Title, account)
	}
	c.reasonTree("account.reasons", m.Reasons)
	for i, t := range m.Tasks {
		c.unique(c.tasks, fmt.Sprintf("account.tasks[%d].code", i), "Task code", t.Code, account)
	}
	for i, l := range m.TaskLists {
		c.unique(c.taskLists, fmt.Sprintf("account.taskLists[%d].code", i), "Task list code", l.Code, account)
	}
	for i := range m.SKUs {
		c.unique(skus, fmt.Sprintf("account.skus[%d].code", i), "SKU code", m.SKUs[i].Code, account)
	}
	for i := range m.Plants {
		p := &m.Plants[i]
		path := fmt.Sprintf("account.plants[%d]", i)
		c.unique(plants, path+".code", "plant code", p.Code, account)
		if zone, err := iso.Zone(p.Timezone); err == nil {
			c.zones = append(c.zones, zone)
		} else if p.Timezone != "" {
			c.problem(path+".timezone", "%s", err)
		}
		groups := map[string]string{}
		for j := range p.Groups {
			g := &p.Groups[j]
			gpath := fmt.Sprintf("%s.stationGroups[%d]", path, j)
			c.unique(groups, gpath+".code", "station group code", g.Code, "the plant")
			c.groups[g.Code] = gpath
			for k := range g.Stations {
				c.unique(c.stations, fmt.Sprintf("%s.stations[%d].code", gpath, k), "station code", g.Stations[k].Code, account)
			}
		}
	}
	if len(c.zones) == 0 {
		c.zones = []*time.Location{time.UTC} // so that patterns are still checked when every zone is wrong
	}
}

func (c *checker) reasonTree(path string, reasons []Reason) {
	for i := range reasons {
		r := &reasons[i]
		at := fmt.Sprintf("%s[%d]", path, i)
		c.unique(c.reasons, at+".code", "reason code", r.Code, "the whole reason tree")
		c.extra(at, r.Extra)
		c.reasonTree(at+".reasons", r.Reasons)
	}
}

func (c *checker) extra(path string, extra map[string]any) {
	for _, name := range sortedKeys(extra) {
		c.warn(path+"."+name, "is not a field that this version knows; it is kept as sent")
	}
}

func (c *checker) currency() {
	if cur := c.m.Settings.Currency; cur != nil && !iso.Currency(*cur) {
		c.problem("account.currency", "must be an ISO 4217 currency code such as EUR; it is %q", shorten(*cur))
	}
}

// refer reports a code that nothing defines.
func (c *checker) refer(known map[string]string, path, what, code string) {
	if _, ok := known[code]; !ok {
		c.problem(path, "names the %s %q, which this manifest does not define", what, shorten(code))
	}
}

func (c *checker) references() {
	for i := range c.m.Plants {
		p := &c.m.Plants[i]
		path := fmt.Sprintf("account.plants[%d]", i)
		c.lists(path, &p.Lists)
		own := map[string]string{}
		for j := range p.Groups {
			for k := range p.Groups[j].Stations {
				own[p.Groups[j].Stations[k].Code] = path
			}
		}
		c.energy(path, own, p.TotalEnergyStationCodes)
		for j := range p.Groups {
			g := &p.Groups[j]
			gpath := fmt.Sprintf("%s.stationGroups[%d]", path, j)
			c.lists(gpath, &g.Lists)
			c.energy(gpath, own, g.TotalEnergyStationCodes)
			if g.ShiftPatternCode != nil {
				c.refer(c.patterns, gpath+".shiftPatternCode", "shift pattern", *g.ShiftPatternCode)
			}
			for k := range g.Stations {
				s := &g.Stations[k]
				if s.ShiftPatternCode != nil {
					c.refer(c.patterns, fmt.Sprintf("%s.stations[%d].shiftPatternCode", gpath, k), "shift pattern", *s.ShiftPatternCode)
				}
				if s.Lists.any() {
					c.lists(fmt.Sprintf("%s.stations[%d]", gpath, k), &s.Lists)
				}
			}
		}
	}
}

func (c *checker) energy(path string, own map[string]string, codes Codes) {
	for i, code := range codes {
		if _, ok := own[code]; !ok {
			c.problem(fmt.Sprintf("%s.totalEnergyStationCodes[%d]", path, i), "names the station %q, which is not a station of this plant", shorten(code))
		}
	}
}

// lists warns of include and exclude lists that name codes nobody defines: they may be defined later.
func (c *checker) lists(path string, l *Lists) {
	warn := func(name, what string, known map[string]string, codes Codes) {
		for i, code := range codes {
			if _, ok := known[code]; !ok {
				c.warn(fmt.Sprintf("%s.%s[%d]", path, name, i), "names the %s %q, which this manifest does not define", what, shorten(code))
			}
		}
	}
	warn("includeReasonCodes", "reason", c.reasons, l.IncludeReasonCodes)
	warn("excludeReasonCodes", "reason", c.reasons, l.ExcludeReasonCodes)
	warn("includeTaskListCodes", "Task list", c.taskLists, l.IncludeTaskListCodes)
	warn("excludeTaskListCodes", "Task list", c.taskLists, l.ExcludeTaskListCodes)
}

func (l *Lists) any() bool {
	return l.IncludeReasonCodes != nil || l.ExcludeReasonCodes != nil || l.IncludeTaskListCodes != nil || l.ExcludeTaskListCodes != nil
}

// triggers checks the cron triggers of Task lists and Tasks, and where Tasks belong.
func (c *checker) triggers() {
	for i, l := range c.m.TaskLists {
		c.trigger(fmt.Sprintf("account.taskLists[%d].trigger", i), l.Trigger, false)
	}
	bySKU := map[string]bool{}
	for i := range c.m.SKUs {
		for _, code := range c.m.SKUs[i].TaskCodes {
			bySKU[code] = true
		}
	}
	for i := range c.m.Tasks {
		t := &c.m.Tasks[i]
		path := fmt.Sprintf("account.tasks[%d]", i)
		c.trigger(path+".trigger", t.Trigger, true)
		for j, in := range t.TaskListCodes {
			at := fmt.Sprintf("%s.taskListCodes[%d]", path, j)
			if in.Code != "" {
				c.refer(c.taskLists, at+".code", "Task list", in.Code)
			}
			c.extra(at, in.Extra)
		}
		switch {
		case len(t.TaskListCodes) > 0:
		case bySKU[t.Code]:
			c.warn(path+".taskListCodes", "is empty: the Task %q appears with the schedules of the SKUs that name it, and nowhere else", shorten(t.Code))
		default:
			c.warn(path+".taskListCodes", "is empty: the Task %q is in no list and of no SKU, so it appears nowhere", shorten(t.Code))
		}
	}
}

func (c *checker) trigger(path string, t *Trigger, ownOfTask bool) {
	if t == nil || t.Type != "cron" || t.Pattern == "" {
		return
	}
	g := c.gapOf(t.Pattern)
	if g.issue != "" {
		c.problem(path+".pattern", "%s", g.issue)
		return
	}
	minutes := t.AvailableBeforeDeadlineMinutes
	if !minutes.Set() {
		if ownOfTask {
			c.problem(path+".availableBeforeDeadlineMinutes", "is required for a Task with a cron trigger")
		}
		return
	}
	if g.least > 0 && minutes.Float() >= g.least.Minutes() {
		c.problem(path+".availableBeforeDeadlineMinutes", "must be shorter than the smallest gap between two fires, which is %s in %s; it is %s minutes",
			humanMinutes(g.least), g.zone, minutes)
	}
}

func humanMinutes(d time.Duration) string {
	if d%time.Hour == 0 && d >= 2*time.Hour {
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return fmt.Sprintf("%d minutes", d/time.Minute)
}

// gapOf parses a pattern and finds its smallest gap once, however many triggers use it.
func (c *checker) gapOf(text string) gap {
	if g, ok := c.gaps[text]; ok {
		return g
	}
	var g gap
	if p, err := cron.Parse(text); err != nil {
		g.issue = err.Error()
	} else {
		g.pattern = p
		g.least, g.zone = p.SmallestGap(c.zones, c.now)
	}
	c.gaps[text] = g
	return g
}

func (c *checker) skus() {
	for i := range c.m.SKUs {
		s := &c.m.SKUs[i]
		var set []string
		for _, rate := range []struct {
			name  string
			value Number
		}{{"cycleTime", s.CycleTime}, {"unitsPerMinute", s.UnitsPerMinute}, {"unitsPerHour", s.UnitsPerHour}} {
			if rate.value.Set() {
				set = append(set, rate.name)
			}
		}
		if len(set) != 1 {
			has := "none is set"
			if len(set) > 1 {
				has = strings.Join(set, " and ") + " are set"
			}
			c.problem(fmt.Sprintf("account.skus[%d]", i), "must have exactly one of cycleTime, unitsPerMinute and unitsPerHour; %s", has)
		}
		for j, code := range s.StationCodes {
			c.refer(c.stations, fmt.Sprintf("account.skus[%d].stationCodes[%d]", i, j), "station", code)
		}
		for j, code := range s.StationGroupCodes {
			c.refer(c.groups, fmt.Sprintf("account.skus[%d].stationGroupCodes[%d]", i, j), "station group", code)
		}
		for j, code := range s.TaskCodes {
			c.refer(c.tasks, fmt.Sprintf("account.skus[%d].taskCodes[%d]", i, j), "Task", code)
		}
	}
}

// shorten keeps a hostile value from filling an answer.
func shorten(s string) string {
	const most = 64
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

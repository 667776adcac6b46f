package manifest

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"opsmon/app/cron"
	"opsmon/app/errdefs"
	"opsmon/app/iso"
	"opsmon/schema"
	"opsmon/schema/strictjson"
)

// checker collects violations of decisions.md section 3 that the schema cannot express.
type checker struct {
	m        *Manifest
	now      time.Time
	shapes   Shapes
	problems []errdefs.Detail
	warnings []errdefs.Detail

	patterns, reasons, tasks, taskLists, stations, groups map[string]string // code -> path of its first use
	zones                                                 []*time.Location  // distinct zones of the plants
	gaps                                                  map[string]gap
	searches                                              int
}

type gap struct {
	issue string        // why the pattern is unusable; "" if it is usable
	least time.Duration // 0 if the pattern fires only once
	zone  *time.Location
}

const (
	// maxFindings is the maximum number of problems, and of warnings. An answer lists the first hundred; the bound
	// limits the memory for a large document full of mistakes.
	MaxFindings = schema.MaxViolations

	// maxSearches bounds the cost of cron patterns: each distinct pattern is evaluated once per time zone, which
	// takes up to 0.1 ms. No real plant has as many.
	maxSearches = 10_000
)

// Check applies the rules that a schema cannot express. It skips values at or below a path in shapes, which the
// schema has already reported. now bounds the search for the next times of a pattern.
func Check(m *Manifest, shapes Shapes, now time.Time) (problems, warnings []errdefs.Detail) {
	c := &checker{m: m, now: now, shapes: shapes, gaps: map[string]gap{}}
	c.collect()
	c.currency()
	c.references()
	c.triggers()
	c.skus()
	c.lists("account", &m.Settings.Lists)
	return c.problems, c.warnings
}

// Shapes are the paths of the values that the schema has reported.
type Shapes map[string]bool

// Broken reports whether the schema has reported the value at a path, or one that contains it.
func (s Shapes) Broken(path string) bool {
	for len(s) > 0 {
		if s[path] {
			return true
		}
		if path == "" {
			break
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return false
}

func (c *checker) problem(path, format string, args ...any) {
	if len(c.problems) == MaxFindings || c.shapes.Broken(path) {
		return
	}
	c.problems = append(c.problems, errdefs.Detail{Field: path, Issue: fmt.Sprintf(format, args...)})
}

func (c *checker) warn(path, format string, args ...any) {
	if len(c.warnings) == MaxFindings {
		return
	}
	c.warnings = append(c.warnings, errdefs.Detail{Field: path, Issue: fmt.Sprintf(format, args...)})
}

// unique records a code and reports a duplicate. A code that is missing or not a string is empty here and is skipped.
func (c *checker) unique(seen map[string]string, path, what, code, within string) {
	if code == "" && c.shapes.Broken(path) {
		return
	}
	if first, dup := seen[code]; dup {
		c.problem(path, "must be unique within %s; the %s %q is also at %s", within, what, errdefs.Shorten(code), first)
		return
	}
	seen[code] = path
}

// collect records all codes and checks that they are unique.
func (c *checker) collect() {
	m := c.m
	c.patterns, c.reasons, c.tasks, c.taskLists = map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	c.stations, c.groups = make(map[string]string, m.StationCount()), map[string]string{}
	titles, skus, plants := map[string]string{}, make(map[string]string, len(m.SKUs)), map[string]string{}
	zones := map[string]error{}
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
		if at := m.SKUs[i].InstructionsURL; at != nil && !isWebAddress(*at) {
			c.problem(fmt.Sprintf("account.skus[%d].instructionsUrl", i), "must be an address that begins with http:// or https://; it is %q", errdefs.Shorten(*at))
		}
		c.unique(skus, fmt.Sprintf("account.skus[%d].code", i), "SKU code", m.SKUs[i].Code, account)
	}
	for i := range m.Plants {
		p := &m.Plants[i]
		path := fmt.Sprintf("account.plants[%d]", i)
		c.unique(plants, path+".code", "plant code", p.Code, account)
		c.zone(path+".timezone", p.Timezone, zones)
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
		c.zones = []*time.Location{time.UTC} // still check patterns if every zone is invalid
	}
}

// isWebAddress reports whether a text is safe as a link in pages: a browser would run other schemes, such as
// javascript.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// zone records a plant's time zone. known caches the result per name: an error with the nearest valid name takes
// about a millisecond, so only as many are computed as an answer lists.
func (c *checker) zone(path, name string, known map[string]error) {
	err, seen := known[name]
	if !seen {
		if len(known)-len(c.zones) >= errdefs.MaxDetails {
			return
		}
		var zone *time.Location
		if zone, err = iso.Zone(name); err == nil {
			c.zones = append(c.zones, zone)
		}
		known[name] = err
	}
	if err != nil {
		c.problem(path, "%s", err)
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

func (c *checker) extra(path string, extra Extra) {
	for _, name := range SortedKeys(extra) {
		c.warn(strictjson.AppendKey(path, name), "is not a field that this version knows; it is kept as sent")
	}
}

func (c *checker) currency() {
	if cur := c.m.Settings.Currency; cur != nil && !iso.Currency(*cur) {
		c.problem("account.currency", "must be an ISO 4217 currency code such as EUR; it is %q", errdefs.Shorten(*cur))
	}
}

// refer reports a code that is not defined.
func (c *checker) refer(known map[string]string, path, what, code string) {
	if _, ok := known[code]; !ok {
		c.problem(path, "names the %s %q, which this manifest does not define", what, errdefs.Shorten(code))
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
			c.problem(fmt.Sprintf("%s.totalEnergyStationCodes[%d]", path, i), "names the station %q, which is not a station of this plant", errdefs.Shorten(code))
		}
	}
}

// lists warns about undefined codes in include and exclude lists, because they may be defined later.
func (c *checker) lists(path string, l *Lists) {
	warn := func(name, what string, known map[string]string, codes Codes) {
		for i, code := range codes {
			if _, ok := known[code]; !ok {
				c.warn(fmt.Sprintf("%s.%s[%d]", path, name, i), "names the %s %q, which this manifest does not define", what, errdefs.Shorten(code))
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

// triggers checks the cron triggers of Task lists and Tasks, and the lists that Tasks belong to.
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
			c.warn(path+".taskListCodes", "is empty: the Task %q appears with the schedules of the SKUs that name it, and nowhere else", errdefs.Shorten(t.Code))
		default:
			c.warn(path+".taskListCodes", "is empty: the Task %q is in no list and of no SKU, so it appears nowhere", errdefs.Shorten(t.Code))
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
			humanMinutes(g.least), g.zone, errdefs.Shorten(string(minutes)))
	}
}

func humanMinutes(d time.Duration) string {
	if d%time.Hour == 0 && d >= 2*time.Hour {
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	if d == time.Minute {
		return "1 minute"
	}
	return fmt.Sprintf("%d minutes", d/time.Minute)
}

// gapOf parses a pattern and finds its smallest gap, once per pattern.
func (c *checker) gapOf(text string) gap {
	if g, ok := c.gaps[text]; ok {
		return g
	}
	g := c.search(text)
	c.gaps[text] = g
	return g
}

// search evaluates a pattern in every zone. If a zone's clocks skip all of its times (half past midnight on the days
// when midnight is skipped), it never fires.
func (c *checker) search(text string) (g gap) {
	p, err := cron.Parse(text)
	if err != nil {
		return gap{issue: err.Error()}
	}
	if c.searches += len(c.zones); c.searches > maxSearches {
		return gap{issue: fmt.Sprintf("is one cron pattern too many to be checked: a manifest may have %d different ones, each counted once for every time zone of its plants", maxSearches)}
	}
	for _, zone := range c.zones {
		least, at := p.SmallestGap([]*time.Location{zone}, c.now)
		switch {
		case at == nil && p.Next(c.now, zone).IsZero():
			return gap{issue: fmt.Sprintf("must fire at least once; in %s the clocks skip every time that it names", zone)}
		case at != nil && (g.zone == nil || least < g.least):
			g.least, g.zone = least, zone
		}
	}
	return g
}

func (c *checker) skus() {
	for i := range c.m.SKUs {
		s := &c.m.SKUs[i]
		path := fmt.Sprintf("account.skus[%d]", i)
		var set []string
		unclear := false // one is set but is not a rate
		for _, rate := range []struct {
			name  string
			value Number
		}{{"cycleTime", s.CycleTime}, {"unitsPerMinute", s.UnitsPerMinute}, {"unitsPerHour", s.UnitsPerHour}} {
			if rate.value.Set() {
				set = append(set, rate.name)
			} else if len(c.shapes) > 0 {
				unclear = unclear || c.shapes[path+"."+rate.name]
			}
		}
		if len(set) > 1 || len(set) == 0 && !unclear {
			has := "none is set"
			if len(set) > 1 {
				has = strings.Join(set, " and ") + " are set"
			}
			c.problem(path, "must have exactly one of cycleTime, unitsPerMinute and unitsPerHour; %s", has)
		}
		for j, code := range s.StationCodes {
			c.refer(c.stations, fmt.Sprintf("%s.stationCodes[%d]", path, j), "station", code)
		}
		for j, code := range s.StationGroupCodes {
			c.refer(c.groups, fmt.Sprintf("%s.stationGroupCodes[%d]", path, j), "station group", code)
		}
		for j, code := range s.TaskCodes {
			c.refer(c.tasks, fmt.Sprintf("%s.taskCodes[%d]", path, j), "Task", code)
		}
	}
}

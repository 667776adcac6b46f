package station

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"opsmon/app/account"
	"opsmon/app/calendar"
	"opsmon/app/energy"
	"opsmon/app/iso"
	"opsmon/app/monitor"
	"opsmon/app/oee"
)

// resolver makes the stations of one manifest. It belongs to one goroutine at a time.
type resolver struct {
	*account.Resolver
	m        *account.Manifest
	revision int64
	from     int64
	options  Options

	plants    []place
	calendars map[string]calendarOf
	reasons   map[*account.ReasonView]reasonsOf
	skusOf    map[**account.SKU]map[string]*account.SKU

	tariff      energy.Tariff
	skus        monitor.SKUs // all of the account's: a schedule may run with one that can no longer be chosen
	values      map[string]float64
	roles       map[string]oee.Role
	skuDigest   digest // of skus and values
	rolesDigest digest
}

// place is a plant with what its stations share.
type place struct {
	*account.Plant
	zone *time.Location
}

type calendarOf struct {
	*calendar.Calendar
	digest digest
}

type reasonsOf struct {
	chosen map[string]Reason
	causes map[string]bool
	digest digest // of causes
}

// digest stands for a part of the configuration that may be large: equal ones have equal digests.
type digest [16]byte

// digestOf gives the digest of what JSON can hold.
func digestOf(v any) (digest, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return digest{}, fmt.Errorf("compare configurations: %w", err)
	}
	sum := sha256.Sum256(b)
	return digest(sum[:16]), nil
}

// parts are the digests of what a station shares with others.
type parts struct{ calendar, causes, skus, roles digest }

// Same tells whether two stations' figures are made in the same way: engine, calendar, OEE and tariff. Names, flags that
// only allow something, and what can be chosen do not matter.
func (s *Station) Same(o *Station) bool {
	return s == o || s.sameEngine(o) && s.parts == o.parts && s.Archived == o.Archived &&
		s.OEE.Money == o.OEE.Money && s.OEE.IdleCostPerMinute == o.OEE.IdleCostPerMinute && sameTariff(s.Tariff, o.Tariff)
}

// sameEngine tells whether the engine would do the same for both.
func (s *Station) sameEngine(o *Station) bool {
	a, b := *s.Monitor, *o.Monitor
	for _, c := range []*monitor.Config{&a, &b} {
		c.Revision, c.Calendar, c.SKUs, c.Causes = 0, nil, nil, nil
	}
	return s.parts.calendar == o.parts.calendar && s.parts.causes == o.parts.causes && s.parts.skus == o.parts.skus && reflect.DeepEqual(a, b)
}

func sameTariff(a, b energy.Tariff) bool {
	a.From, b.From = 0, 0
	return a == b
}

func newResolver(m *account.Manifest, revision, from int64, o Options) (*resolver, error) {
	r := &resolver{
		Resolver: account.NewResolver(m), m: m, revision: revision, from: from, options: o,
		calendars: map[string]calendarOf{}, reasons: map[*account.ReasonView]reasonsOf{}, skusOf: map[**account.SKU]map[string]*account.SKU{},
		skus: make(monitor.SKUs, len(m.SKUs)), values: map[string]float64{}, roles: map[string]oee.Role{},
	}
	for i := range m.Plants {
		zone, err := iso.Zone(m.Plants[i].Timezone)
		if err != nil {
			return nil, fmt.Errorf("plant %s: %w", m.Plants[i].Code, err)
		}
		r.plants = append(r.plants, place{&m.Plants[i], zone})
	}
	price, co2 := m.Settings.ElectricalPricePerKwh, m.Settings.ElectricalCo2PerKwh
	r.tariff = energy.Tariff{From: from, Price: float(price), CO2: float(co2), HasPrice: price.Set(), HasCO2: co2.Set()}
	for i := range m.SKUs {
		k := &m.SKUs[i]
		r.skus[k.Code] = skuOf(k)
		if k.Value.Set() {
			r.values[k.Code] = float(k.Value)
		}
	}
	r.collectRoles(m.Reasons)
	var err error
	if r.skuDigest, err = digestOf([]any{r.skus, r.values}); err != nil {
		return nil, err
	}
	r.rolesDigest, err = digestOf(r.roles)
	return r, err
}

// collectRoles takes in the roles of all reasons: a stop keeps its cause when that can no longer be chosen.
func (r *resolver) collectRoles(reasons []account.Reason) {
	for i := range reasons {
		if role := roleOf(reasons[i].OEE); role != oee.RoleNone {
			r.roles[reasons[i].Code] = role
		}
		r.collectRoles(reasons[i].Reasons)
	}
}

// calendar gives the calendar of a plant with a shift pattern, or none.
func (r *resolver) calendar(p *place, pattern *account.ShiftPattern) (*calendar.Calendar, digest, error) {
	key := p.Code + "\n"
	if pattern != nil {
		key += "pattern " + pattern.Code
	}
	if made, ok := r.calendars[key]; ok {
		return made.Calendar, made.digest, nil
	}
	cfg := calendar.CalendarConfig{Zone: p.zone, DayStartHour: int(p.DayStartHour.Int()), WeekStartDay: int(p.WeekStartDay.Int())}
	if pattern != nil {
		for _, s := range pattern.Shifts {
			weekday, err := strconv.Atoi(s.WeekDay)
			if err != nil {
				return nil, digest{}, fmt.Errorf("shift pattern %s: %w", pattern.Code, err)
			}
			cfg.Shifts = append(cfg.Shifts, calendar.Shift{Name: s.Name, Weekday: weekday, Start: calendar.Hours(s.StartHour.Float()), Length: calendar.Hours(s.Duration.Float())})
		}
	}
	d, err := digestOf([]any{p.Timezone, cfg.DayStartHour, cfg.WeekStartDay, cfg.Shifts})
	made := calendarOf{calendar.NewCalendar(cfg), d}
	r.calendars[key] = made
	return made.Calendar, d, err
}

// reasonsAt gives what can be chosen of a tree; trees that stations share are gone through once.
func (r *resolver) reasonsAt(tree []account.ReasonView) (reasonsOf, error) {
	var key *account.ReasonView
	if len(tree) > 0 {
		key = &tree[0]
	}
	if made, ok := r.reasons[key]; ok {
		return made, nil
	}
	made := reasonsOf{chosen: map[string]Reason{}, causes: map[string]bool{}}
	made.collect(tree)
	var err error
	made.digest, err = digestOf(made.causes)
	r.reasons[key] = made
	return made, err
}

func (o *reasonsOf) collect(tree []account.ReasonView) {
	for i := range tree {
		v := &tree[i]
		if !v.Heading {
			reason := Reason{Code: v.Code, Name: v.Code, Role: roleOf(v.OEE)}
			if v.Name != nil {
				reason.Name = *v.Name
			}
			reason.Downtime, reason.NonProduction = v.Type == nil, v.Type == nil // absent: both
			for _, t := range v.Type {
				switch t {
				case "downtime":
					reason.Downtime = true
				case "non_production":
					reason.NonProduction = true
				}
			}
			o.chosen[v.Code] = reason
			if reason.Downtime {
				o.causes[v.Code] = true
			}
		}
		o.collect(v.Reasons)
	}
}

// skusAt gives the SKUs of a list by code; lists that stations share become one map.
func (r *resolver) skusAt(list []*account.SKU) map[string]*account.SKU {
	var key **account.SKU
	if len(list) > 0 {
		key = &list[0]
	}
	made, ok := r.skusOf[key]
	if !ok {
		made = make(map[string]*account.SKU, len(list))
		for _, k := range list {
			made[k.Code] = k
		}
		r.skusOf[key] = made
	}
	return made
}

// station resolves one station of a group. group and own need not be the manifest's own: a changed copy is resolved as it
// would be in their place.
func (r *resolver) station(p *place, group *account.StationGroup, own *account.Station) (*Station, error) {
	v := r.Resolve(p.Plant, group, own)
	filled := own.WithDefaults()
	s := &Station{
		Code: own.Code, Name: own.Name, Plant: Plant{p.Code, p.Name}, Group: Group{group.Code, group.Name}, Zone: p.zone,
		Revision: r.revision, Tariff: r.tariff,
		Flags: v.Flags, Headings: v.Reasons, SKUs: r.skusAt(v.SKUs), TaskLists: v.TaskLists, Settings: &filled,
	}
	var pattern *account.ShiftPattern
	if v.ShiftPattern != nil {
		pattern, s.Pattern = &v.ShiftPattern.ShiftPattern, v.ShiftPattern.Code
	}
	var err error
	if s.Calendar, s.parts.calendar, err = r.calendar(p, pattern); err != nil {
		return nil, err
	}
	reasons, err := r.reasonsAt(v.Reasons)
	if err != nil {
		return nil, err
	}
	s.Reasons, s.parts.causes, s.parts.skus, s.parts.roles = reasons.chosen, reasons.digest, r.skuDigest, r.rolesDigest
	money, _ := s.Flag(account.EnableLostProductionCost.String())
	s.OEE = oee.Config{Calendar: s.Calendar, Roles: r.roles, Money: money, Values: r.values, IdleCostPerMinute: float(filled.IdleCostPerMinute)}
	s.Monitor = r.engine(s, reasons.causes)
	return s, nil
}

// engine gives the engine's configuration of a station whose flags, calendar and settings are there.
func (r *resolver) engine(s *Station, causes map[string]bool) *monitor.Config {
	f := s.Settings
	on := func(flag account.Flag) bool { v, _ := s.Flag(flag.String()); return v }
	return &monitor.Config{
		Revision: r.revision, Calendar: s.Calendar,
		AliveTimeout:    r.options.AliveTimeout,
		Spread:          r.options.Spread,
		AlwaysConnected: on(account.EnableAlwaysConnected), SchedulingOnly: on(account.EnableSchedulingOnly), MeterOnly: on(account.EnableMeterOnly),
		SpeedScale: float(f.SpeedScale), SpeedOffset: float(f.SpeedOffset), SpeedToProductionRatio: float(f.SpeedToProductionRatio),
		DowntimeMode: downtimeModes[*f.DowntimeDetectionMode], UtilisationThreshold: f.UtilisationDowntimeThreshold.Int(), SlowThreshold: f.SlowDurationThreshold.Int(),
		ForceShiftTime: *f.ForceAllShiftTimeAsPlannedProduction,
		ProductiveMode: productiveModes[*f.ProductiveStatusMode], StoppedKw: float(f.ElectricalUsageStoppedThresholdKw), StoppedSpeed: float(f.LineSpeedStoppedThreshold),
		HoldOn:          f.ProductiveHoldOnTime.Int(),
		Rate:            monitor.Rate{CycleTime: float(f.CycleTime), UnitsPerMinute: float(f.UnitsPerMinute), UnitsPerHour: float(f.UnitsPerHour)},
		MinimumCycle:    f.MinimumCycleTime.Int(),
		LineSpeedTarget: float(f.LineSpeedTarget), EditPartsPerCycle: on(account.EnableEditPartsPerCycle),
		MaxUnits: r.m.Settings.MaxProductionCountPerSchedule.Int(),
		SKUs:     r.skus, Causes: causes,
	}
}

var downtimeModes = map[string]monitor.DowntimeMode{
	"off": monitor.DowntimeOff, "production": monitor.DowntimeProduction, "utilisation": monitor.DowntimeUtilisation, "line_speed": monitor.DowntimeLineSpeed,
}

var productiveModes = map[string]monitor.ProductiveMode{
	"productive_signal": monitor.ProductiveSignal, "electrical_usage": monitor.ProductiveElectrical, "line_speed": monitor.ProductiveLineSpeed,
}

// skuOf gives what the engine needs of a SKU.
func skuOf(k *account.SKU) monitor.SKU {
	s := monitor.SKU{
		Rate:          monitor.Rate{CycleTime: float(k.CycleTime), UnitsPerMinute: float(k.UnitsPerMinute), UnitsPerHour: float(k.UnitsPerHour)},
		PartsPerCycle: float(k.PartsPerCycle), LineSpeedTarget: float(k.LineSpeedTarget), DowntimeMultiplier: float(k.DowntimeDurationThresholdMultiplier),
	}
	if k.MinimumCycleTime.Set() {
		s.MinimumCycle = new(k.MinimumCycleTime.Int())
	}
	return s
}

// roleOf reads the property oee of a reason.
func roleOf(text *string) oee.Role {
	if text == nil {
		return oee.RoleNone
	}
	switch *text {
	case "setup":
		return oee.RoleSetup
	case "changeover":
		return oee.RoleChangeover
	case "planned":
		return oee.RolePlanned
	}
	return oee.RoleNone
}

// largest bounds what a manifest may say where the specification has no bound of its own: rates, values and prices above
// it would only make sums that no answer can carry.
const largest = 1e9

// float reads a number of the manifest; 0 when it is not set.
func float(n account.Number) float64 { return min(n.Float(), largest) }

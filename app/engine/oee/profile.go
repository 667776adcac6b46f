package oee

import "opsmon/app/engine/monitor"

// Profile defines how the three ratios are calculated from terms.
type Profile uint8

// The profiles.
const (
	ProfileDefault Profile = iota
	ProfileISO22400
	ProfileVorne
	ProfileEvocon
)

// profileNames are the names in requests.
var profileNames = [...]string{"default", "iso22400", "vorne", "evocon"}

// String returns the name in requests and answers.
func (p Profile) String() string { return profileNames[p] }

// ParseProfile returns the profile with a name; "": the default.
func ParseProfile(name string) (Profile, bool) {
	for i, n := range profileNames {
		if n == name {
			return Profile(i), true
		}
	}
	return ProfileDefault, name == ""
}

// Ratio is one ratio with its terms.
type Ratio struct {
	Value                  float64 // valid if Known
	Known                  bool    // false if the denominator is 0
	Numerator, Denominator float64 // ms, or units
	AboveOne               bool
	Cause                  string // the most likely cause of a value above 1
}

// CauseRateTooLow is the cause if more units were made than were due by the rate.
const CauseRateTooLow = "rateTooLow"

// CauseCounts is the cause if corrections or rejections made a count negative.
const CauseCounts = "negativeCount"

func ratio(numerator, denominator float64) Ratio {
	r := Ratio{Numerator: numerator, Denominator: denominator}
	if denominator > 0 {
		r.Value, r.Known = numerator/denominator, true
		r.AboveOne = r.Value > 1
	}
	return r
}

// Figures are the ratios of some terms.
type Figures struct {
	A, P, Q, OEE Ratio
	// Coverage is known / scheduled production. Excluded stops are known.
	Coverage Ratio
}

// Figures calculates the ratios.
func (t *Terms) Figures(p Profile) Figures {
	var f Figures
	f.A, f.P = t.timeAndSpeed(p)
	if !t.HasRate && p != ProfileEvocon {
		f.P.Known, f.P.Value, f.P.AboveOne = false, 0, false
	}
	good, bad := t.Scheduled()
	f.Q = ratio(float64(good)/monitor.Micro, float64(good+bad)/monitor.Micro)
	if f.P.AboveOne {
		f.P.Cause = CauseRateTooLow
	}
	if f.Q.AboveOne {
		f.Q.Cause = CauseCounts
	}
	f.OEE = Ratio{Numerator: f.A.Value * f.P.Value * f.Q.Value, Denominator: 1}
	if f.OEE.Known = f.A.Known && f.P.Known && f.Q.Known; f.OEE.Known {
		f.OEE.Value = f.OEE.Numerator
		if f.OEE.AboveOne = f.OEE.Value > 1; f.OEE.AboveOne {
			f.OEE.Cause = f.P.Cause
		}
	}
	f.Coverage = ratio(float64(t.known()+t.Excluded[monitor.Production]), float64(t.Of(monitor.Production)))
	return f
}

// known returns the known time of scheduled production, ms.
func (t *Terms) known() int64 {
	return t.Of(monitor.Production) - t.Times[monitor.Production][monitor.NoData]
}

// timeAndSpeed calculates availability and performance.
func (t *Terms) timeAndSpeed(profile Profile) (a, p Ratio) {
	production := t.known()
	ran := func(k monitor.Kind) int64 { return t.Times[k][monitor.Productive] + t.Times[k][monitor.Slow] }
	setup := t.Paused[RoleSetup] + t.Paused[RoleChangeover]
	run := production - t.Times[monitor.Production][monitor.Downtime]
	switch profile {
	case ProfileISO22400:
		producing := float64(ran(monitor.Production))
		a = ratio(producing, float64(production-t.Down[monitor.Production][RolePlanned]+setup))
		p = ratio(t.IdealTime, producing)
	case ProfileVorne:
		a = ratio(float64(run), float64(production+setup+t.Paused[RolePlanned]))
		p = ratio(t.IdealTime, float64(run))
	case ProfileEvocon:
		shift := t.Shift() - t.Was(monitor.NoData)
		planned := t.Paused[RoleNone] + t.Paused[RolePlanned]
		for _, k := range []monitor.Kind{monitor.Unscheduled, monitor.Production} {
			planned += t.Down[k][RolePlanned]
		}
		slow := t.Times[monitor.Unscheduled][monitor.Slow] + t.Times[monitor.Production][monitor.Slow]
		producing := ran(monitor.Unscheduled) + ran(monitor.Production) + t.Ran[RoleSetup] + t.Ran[RoleChangeover]
		a = ratio(float64(producing), float64(shift-planned))
		p = ratio(float64(producing-slow), float64(producing))
	default:
		a = ratio(float64(run), float64(production))
		p = ratio(float64(t.All)/monitor.Micro, t.Target)
	}
	return a, p
}

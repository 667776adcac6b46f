package station

import (
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/engine/calendar"
)

// Plan is one manifest revision resolved for all stations. It must not be changed.
type Plan struct {
	Account  string
	Revision int64
	From     int64      // when it came into force, ms
	Stations []*Station // in the manifest's order
	Plants   []PlantOf
	Manifest *manifest.Manifest

	byCode  map[string]*Station
	options Options
}

// PlantOf is a plant of a plan with its groups and stations.
type PlantOf struct {
	Plant
	Zone        *time.Location
	Calendar    *calendar.Calendar // for days and weeks; it has no shifts
	Groups      []GroupOf
	Stations    []*Station // of all its groups
	TotalEnergy []string   // totalEnergyStationCodes; nil: not set, which differs from an empty list
}

// GroupOf is a station group of a plan with its stations.
type GroupOf struct {
	Group
	Stations    []*Station
	TotalEnergy []string // as for a plant
}

// Of returns the station with a code; nil: not in the plan.
func (p *Plan) Of(code string) *Station { return p.byCode[code] }

// TotalEnergy returns the meters for the energy of a plant, or of a group of it if group is not ""
// (totalEnergyStationCodes); nil: not set.
func (p *Plan) TotalEnergy(plant, group string) []string {
	for i := range p.Plants {
		of := &p.Plants[i]
		if of.Code != plant {
			continue
		}
		if group == "" {
			return of.TotalEnergy
		}
		for k := range of.Groups {
			if of.Groups[k].Code == group {
				return of.Groups[k].TotalEnergy
			}
		}
	}
	return nil
}

// Options are settings of the appliance for all stations.
type Options struct {
	AliveTimeout int64 // ms of silence after which a station is disconnected; 0: monitor.DefaultAliveTimeout
	// ms since the previous count signal over which a signal's units are spread; 0: monitor.DefaultSpread
	Spread int64
}

// Resolve returns the plan of a manifest, which must not change afterwards. It returns an error if the manifest is
// invalid, for example because a time zone is unknown.
func Resolve(m *manifest.Manifest, revision, from int64, o Options) (*Plan, error) {
	return resolveLike(nil, m, revision, from, o)
}

// resolveLike is Resolve of a manifest whose rules equal those of a plan, which it reuses.
func resolveLike(same *Plan, m *manifest.Manifest, revision, from int64, o Options) (*Plan, error) {
	r, err := newResolver(m, revision, o)
	if err != nil {
		return nil, err
	}
	r.same = same
	n := m.StationCount()
	p := &Plan{options: o, Account: m.ID, Revision: revision, From: from, Manifest: m, Stations: make([]*Station, 0, n), byCode: make(map[string]*Station, n)}
	if err := r.each(func(_ *place, s *Station) {
		p.Stations = append(p.Stations, s)
		p.byCode[s.Code] = s
	}); err != nil {
		return nil, err
	}
	at := 0
	next := func(n int) []*Station {
		at += n
		return p.Stations[at-n : at : at]
	}
	for i := range m.Plants {
		plant := &m.Plants[i]
		of := PlantOf{Plant: Plant{plant.Code, plant.Name}, Zone: r.plants[i].zone, TotalEnergy: plant.TotalEnergyStationCodes}
		if of.Calendar, _, err = r.calendar(&r.plants[i], nil); err != nil {
			return nil, err
		}
		begin := at
		for j := range plant.Groups {
			group := &plant.Groups[j]
			of.Groups = append(of.Groups, GroupOf{Group{group.Code, group.Name}, next(len(group.Stations)), group.TotalEnergyStationCodes})
		}
		of.Stations = p.Stations[begin:at:at]
		p.Plants = append(p.Plants, of)
	}
	return p, nil
}

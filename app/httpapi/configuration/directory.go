package configuration

import (
	"cmp"
	"net/http"

	"opsmon/app/account/manifest"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
)

// directoryRoutes returns the operations on names.
func (api *API) directoryRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/directory", Handle: api.getDirectory,
			Operation: openapi.Operation{
				ID: "getDirectory", Tag: "Account", Summary: "Read the names of plants, stations, SKUs and reasons",
				About: "Names by code, the shift patterns of stations, and the settings needed to show times and " +
					"money: what a page needs besides figures, without the whole manifest.",
				Answer: "The names.", Form: openapi.FormResult, Gives: "Directory",
				Sample: `{"revision":7,"currency":"GBP","durationFormat":"months","plants":[{"code":"north",
					"name":"North","timezone":"Europe/London","dayStartHour":6,"weekStartDay":0,
					"groups":[{"code":"packing","name":"Packing",
					"stations":[{"code":"PACK-1","name":"Packer 1","shiftPatternCode":"day"}]}]}],
					"shiftPatterns":[{"code":"day","title":"Day shift",
					"shifts":[{"name":"Day","startHour":6,"duration":8,"weekDay":"1"}]}],
					"skus":[{"code":"BOWL","name":"Bowl"}],"reasons":[{"code":"JAM","name":"Jam","parent":null}]}`,
			},
		},
	}
}

// directory is the names by code.
//
//openapi:schema Directory
type directory struct {
	Revision       uint64                  `json:"revision"` // of the configuration
	Currency       *string                 `json:"currency"` // ISO 4217
	DurationFormat *string                 `json:"durationFormat"`
	Plants         []directoryPlant        `json:"plants"`
	ShiftPatterns  []manifest.ShiftPattern `json:"shiftPatterns"`
	SKUs           []directorySKU          `json:"skus"`
	Reasons        []directoryReason       `json:"reasons"` // parents come before their children
}

type directoryPlant struct {
	Code         string           `json:"code"`
	Name         string           `json:"name"`
	Timezone     string           `json:"timezone"`
	DayStartHour manifest.Number  `json:"dayStartHour"`
	WeekStartDay manifest.Number  `json:"weekStartDay"` // 0 = Monday
	Groups       []directoryGroup `json:"groups"`
}

type directoryGroup struct {
	Code     string             `json:"code"`
	Name     string             `json:"name"`
	Stations []directoryStation `json:"stations"`
}

type directoryStation struct {
	Code string `json:"code"`
	Name string `json:"name"`
	// The shift pattern in force, its own or the group's; null if all time is shift time.
	ShiftPattern *string `json:"shiftPatternCode"`
}

type directorySKU struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

type directoryReason struct {
	Code   string  `json:"code"`
	Name   *string `json:"name"`
	Parent *string `json:"parent"` // code of the parent reason; null at the top
}

// getDirectory handles GET /directory.
func (api *API) getDirectory(c *rest.Call) (rest.Reply, error) {
	snap, err := api.Accounts.Get(c.Principal.AccountID)
	if err != nil {
		return rest.Reply{}, err
	}
	m, err := snap.Manifest()
	if err != nil {
		return rest.Reply{}, err
	}
	d := directory{
		Revision: snap.Account.Revision, Currency: m.Settings.Currency, DurationFormat: m.Settings.DurationFormat,
		Plants: make([]directoryPlant, len(m.Plants)), ShiftPatterns: append([]manifest.ShiftPattern{}, m.ShiftPatterns...), SKUs: make([]directorySKU, len(m.SKUs)), Reasons: []directoryReason{},
	}
	for i := range m.Plants {
		d.Plants[i] = plantOf(&m.Plants[i])
	}
	for i := range m.SKUs {
		d.SKUs[i] = directorySKU{m.SKUs[i].Code, m.SKUs[i].Name}
	}
	d.add(m.Reasons, nil)
	return rest.OK(d)
}

func plantOf(p *manifest.Plant) directoryPlant {
	plant := directoryPlant{Code: p.Code, Name: p.Name, Timezone: p.Timezone, DayStartHour: p.DayStartHour, WeekStartDay: p.WeekStartDay, Groups: make([]directoryGroup, len(p.Groups))}
	for i := range p.Groups {
		g := &p.Groups[i]
		plant.Groups[i] = directoryGroup{g.Code, g.Name, make([]directoryStation, len(g.Stations))}
		for j := range g.Stations {
			plant.Groups[i].Stations[j] = directoryStation{g.Stations[j].Code, g.Stations[j].Name, cmp.Or(g.Stations[j].ShiftPatternCode, g.ShiftPatternCode)}
		}
	}
	return plant
}

// add appends reasons to the directory, each before its children.
func (d *directory) add(reasons []manifest.Reason, parent *string) {
	for i := range reasons {
		r := &reasons[i]
		d.Reasons = append(d.Reasons, directoryReason{r.Code, r.Name, parent})
		d.add(r.Reasons, &r.Code)
	}
}

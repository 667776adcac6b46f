package httpapi

import (
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/engine/station"
	"opsmon/schema"
)

// noteLine is what is put up at a station.
//
//openapi:schema StationNote
type noteLine struct {
	StationCode      string      `json:"stationCode"`
	OperatorInitials *string     `json:"currentOperatorInitials"` // who works there; null: nobody
	OperatorSince    *audit.Time `json:"currentOperatorSince"`    // when that was said last; null: nobody
	AlertMessage     *string     `json:"alertMessage"`            // what all should see; null: nothing
	// Until when it is shown; null: until it is taken down.
	AlertExpiresAt *audit.Time `json:"alertExpiresAt"`
}

// putUp answers with what is put up at the station of the path.
func (c *call) putUp(n station.Note, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	if n.OperatorInitials == "" {
		n.OperatorSince = 0
	}
	return ok(noteLine{c.params.ByName("stationCode"), textOrNil(n.OperatorInitials), momentOrNil(n.OperatorSince), textOrNil(n.AlertMessage), momentOrNil(n.AlertExpiresAt)})
}

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// momentOrNil gives a moment, ms, as answers carry it; 0 is null.
func momentOrNil(ms int64) *audit.Time {
	if ms == 0 {
		return nil
	}
	return audit.TimeOrNil(time.UnixMilli(ms))
}

// postStationOperator answers POST /station/{stationCode}/operator (monitoring.md section 10).
func postStationOperator(c *call) (reply, error) {
	var in struct {
		Initials *string `json:"initials"`
	}
	if err := c.decode(schema.StationOperator, false, &in); err != nil {
		return reply{}, err
	}
	return c.putUp(c.api.cfg.Notes.SetOperator(c.p, c.params.ByName("stationCode"), in.Initials))
}

// postStationAlert answers POST /station/{stationCode}/alert (monitoring.md section 10).
func postStationAlert(c *call) (reply, error) {
	var in struct {
		Message   *string    `json:"message"`
		ExpiresAt *time.Time `json:"expiresAt"`
	}
	if err := c.decode(schema.StationAlert, false, &in, func() error { return station.CheckAlert(in.Message, in.ExpiresAt) }); err != nil {
		return reply{}, err
	}
	return c.putUp(c.api.cfg.Notes.SetAlert(c.p, c.params.ByName("stationCode"), in.Message, in.ExpiresAt))
}

// stationNow is what holds at a station, and which level decided it.
//
// See http-api.md section 2.3.
//
//openapi:schema StationConfiguration
type stationNow struct {
	*account.StationView
	OperatorInitials *string `json:"currentOperatorInitials"` // who works there; null: nobody
	// What it does, as the list of stations tells; null: not known yet.
	StatusCode     *string     `json:"statusCode"`
	StatusAt       *audit.Time `json:"statusCodeUpdatedAt"` // since when
	AlertMessage   *string     `json:"alertMessage"`        // what all should see; null: nothing
	AlertExpiresAt *audit.Time `json:"alertExpiresAt"`      // until when it is shown; null: until it is taken down
}

// now adds to a station's configuration what is known of it now.
func (c *call) now(view *account.StationView) stationNow {
	var at account.LiveStation
	if live := c.api.cfg.Floor.Account(c.p.AccountID); live != nil {
		at = live.Station(view.Code)
	}
	return stationNow{view, textOrNil(at.OperatorInitials), textOrNil(at.Status), momentOrNil(at.StatusAt), textOrNil(at.AlertMessage), momentOrNil(at.AlertExpiresAt)}
}

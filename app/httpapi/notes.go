package httpapi

import (
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/engine/station"
	"opsmon/schema"
)

// noteLine is what is put up at a station.
type noteLine struct {
	StationCode      string      `json:"stationCode"`
	OperatorInitials *string     `json:"currentOperatorInitials"` // null: nobody
	OperatorSince    *audit.Time `json:"currentOperatorSince"`    // when that was said last
	AlertMessage     *string     `json:"alertMessage"`            // null: none
	AlertExpiresAt   *audit.Time `json:"alertExpiresAt"`          // null: it stays until it is taken down
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

// stationNow is what GET /station/{stationCode} shows beside the configuration: the fields of the manifest's station that
// the appliance fills in (http-api.md 2.3).
type stationNow struct {
	*account.StationView
	OperatorInitials *string     `json:"currentOperatorInitials"`
	StatusCode       *string     `json:"statusCode"` // null: not known yet
	StatusAt         *audit.Time `json:"statusCodeUpdatedAt"`
	AlertMessage     *string     `json:"alertMessage"`
	AlertExpiresAt   *audit.Time `json:"alertExpiresAt"`
}

// now adds to a station's configuration what is known of it now.
func (c *call) now(view *account.StationView) stationNow {
	var at account.LiveStation
	if live := c.api.cfg.Floor.Account(c.p.AccountID); live != nil {
		at = live.Station(view.Code)
	}
	return stationNow{view, textOrNil(at.OperatorInitials), textOrNil(at.Status), momentOrNil(at.StatusAt), textOrNil(at.AlertMessage), momentOrNil(at.AlertExpiresAt)}
}

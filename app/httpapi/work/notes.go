package work

import (
	"net/http"
	"time"

	"opsmon/app/auth"
	"opsmon/app/engine/station"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/schema"
)

// noteRoutes returns the operations on the notes of a station.
func (api *API) noteRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodPost, Path: "/station/:stationCode/operator", Handle: api.postStationOperator, Body: true,
			Role: auth.Operator,
			Operation: openapi.Operation{
				ID: "setOperator", Tag: "Station", Summary: "Set a station's operator",
				About: "The initials are shown at the station until they are changed or cleared with null. A tablet " +
					"sets them for its own stations. 400: an energy meter has no operator.",
				Answer: "The station's operator and alert.", Body: schema.StationOperator, Form: openapi.FormResult,
				Gives: "StationNote", Also: []int{404, 409}, Sample: noteSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/station/:stationCode/alert", Handle: api.postStationAlert, Body: true,
			Role: auth.Supervisor,
			Operation: openapi.Operation{
				ID: "setAlert", Tag: "Station", Summary: "Set a station's alert",
				About: "A message shown to everybody who looks at the station, until it expires or is cleared with " +
					"null. A station has one alert at a time: a new one replaces it.",
				Answer: "The station's operator and alert.", Body: schema.StationAlert, Form: openapi.FormResult,
				Gives: "StationNote", Also: []int{404, 409}, Sample: noteSample,
			},
		},
	}
}

// noteLine is a station's operator and alert.
//
//openapi:schema StationNote
type noteLine struct {
	StationCode      string        `json:"stationCode"`
	OperatorInitials *string       `json:"currentOperatorInitials"` // initials of the operator; null if nobody works there
	OperatorSince    *instant.Time `json:"currentOperatorSince"`    // when the operator was last set; null if nobody works there
	AlertMessage     *string       `json:"alertMessage"`            // the alert; null if there is none
	// When the alert expires; null if it does not.
	AlertExpiresAt *instant.Time `json:"alertExpiresAt"`
}

// answerNote replies with the note of a station.
func answerNote(code string, n station.Note, err error) (rest.Reply, error) {
	if err != nil {
		return rest.Reply{}, err
	}
	if n.OperatorInitials == "" {
		n.OperatorSince = 0
	}
	return rest.OK(noteLine{code, rest.OrNull(n.OperatorInitials), instant.OfMsOrNil(n.OperatorSince), rest.OrNull(n.AlertMessage), instant.OfMsOrNil(n.AlertExpiresAt)})
}

// postStationOperator handles POST /station/{stationCode}/operator (monitoring.md section 10).
func (api *API) postStationOperator(c *rest.Call) (rest.Reply, error) {
	var in struct {
		Initials *string `json:"initials"`
	}
	if err := c.Decode(schema.StationOperator, false, &in); err != nil {
		return rest.Reply{}, err
	}
	code := c.Params.ByName("stationCode")
	note, err := api.Notes.SetOperator(c.Principal, code, in.Initials)
	return answerNote(code, note, err)
}

// postStationAlert handles POST /station/{stationCode}/alert (monitoring.md section 10).
func (api *API) postStationAlert(c *rest.Call) (rest.Reply, error) {
	var in struct {
		Message   *string    `json:"message"`
		ExpiresAt *time.Time `json:"expiresAt"`
	}
	if err := c.Decode(schema.StationAlert, false, &in, func() error { return station.CheckAlert(in.Message, in.ExpiresAt) }); err != nil {
		return rest.Reply{}, err
	}
	code := c.Params.ByName("stationCode")
	note, err := api.Notes.SetAlert(c.Principal, code, in.Message, in.ExpiresAt)
	return answerNote(code, note, err)
}

// noteSample is an example of an answer.
const noteSample = `{"stationCode":"PACK-1","currentOperatorInitials":"ABC",
	"currentOperatorSince":"2026-11-20T06:02:11.000Z","alertMessage":"Maintenance at 14:00",
	"alertExpiresAt":"2026-11-20T14:00:00.000Z"}`

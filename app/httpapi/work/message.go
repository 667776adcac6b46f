package work

import (
	"net/http"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/work/message"
	"opsmon/schema"
)

// messageRoutes returns the operations on messages between shifts.
func (api *API) messageRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/message", Handle: api.getMessages,
			Query: []string{"plantcode", "groupcode", "stationcodes", "archived", "open", "limit"},
			Operation: openapi.Operation{
				ID: "listMessages", Tag: "Message", Summary: "List messages for the next shift",
				About: "The newest comes first. With `open=true` only messages that are not done. Messages are " +
					"retained for 31 days, at most 200 for a station.",
				Answer: "The messages.", Form: openapi.FormList, Gives: "Message", Also: []int{400, 503},
				Sample: messageSample,
				Params: openapi.Params{
					"limit": {
						About:  "Maximum number of results.",
						Schema: `{"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}`, Example: 20,
					},
				},
			},
		},
		{
			Method: http.MethodPost, Path: "/message", Handle: api.postMessage, Body: true, Role: auth.Operator,
			Once: true,
			Operation: openapi.Operation{
				ID: "postMessage", Tag: "Message", Summary: "Leave a message for the next shift",
				About: "Shown to everybody who looks at the station until somebody marks it as done.\n\n403: the " +
					"caller may not act on this station.",
				Answer: "The message.", Body: schema.MessageCreate, Form: openapi.FormResult, Gives: "Message",
				Also: []int{409, 503}, Sample: messageSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/message/:messageId/done", Handle: api.messageDone, Body: true,
			Role: auth.Operator, Once: true,
			Operation: openapi.Operation{
				ID: "messageDone", Tag: "Message", Summary: "Mark a message as done",
				About: "The first caller counts: a message that is done stays unchanged, and the answer shows who " +
					"marked it.\n\n403: the caller may not act on this station.",
				Answer: "The message as it is now.", Body: schema.MessageDone, Form: openapi.FormResult, Gives: "Message",
				Also: []int{404, 409, 503}, Sample: messageSample,
				Params: openapi.Params{
					"messageId": {
						About:  "Identifier of the message.",
						Schema: `{"type": "string", "minLength": 1}`, Example: "PACK-1.mqwkm4g0.3",
					},
				},
			},
		},
	}
}

// getMessages handles GET /message.
func (api *API) getMessages(c *rest.Call) (rest.Reply, error) {
	_, all, err := c.AllStations()
	if err != nil {
		return rest.Reply{}, err
	}
	chosen, limit, open := c.StationsOf(all), c.Number("limit", 100, 1, 1000), c.Flag("open")
	if err := c.QueryError(); err != nil {
		return rest.Reply{}, err
	}
	codes := make([]string, len(chosen))
	for i, s := range chosen {
		codes[i] = s.Code
	}
	found, err := api.Messages.List(c.Principal.AccountID, codes, open, limit)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(found, -1)
}

// postMessage handles POST /message.
func (api *API) postMessage(c *rest.Call) (rest.Reply, error) {
	var in struct {
		message.Input
		At string `json:"at"`
	}
	return c.FloorWrite(schema.MessageCreate, false, &in, func(w *floor.Work) (any, error) {
		in.Input.At = rest.MomentOf(in.At)
		return api.Messages.Post(w, c.Principal, in.Input)
	})
}

// messageDone handles POST /message/{messageId}/done.
func (api *API) messageDone(c *rest.Call) (rest.Reply, error) {
	var in struct {
		message.DoneInput
		At string `json:"at"`
	}
	return c.FloorWrite(schema.MessageDone, false, &in, func(w *floor.Work) (any, error) {
		in.DoneInput.At = rest.MomentOf(in.At)
		return api.Messages.Done(w, c.Principal, c.Params.ByName("messageId"), in.DoneInput)
	})
}

// messageSample is an example of an answer.
const messageSample = `{"id":"PACK-1.mqwkm4g0.3","stationCode":"PACK-1",
	"text":"The feeder jams with the blue film, run it at 80 %","initials":"ABC","shiftName":"Early",
	"at":"2026-11-20T13:50:00.000Z","recordedAt":"2026-11-20T13:50:00.212Z","doneAt":null,"doneBy":null,
	"doneRecordedAt":null}`

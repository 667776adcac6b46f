package httpapi

import (
	"net/http"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/work/message"
	"opsmon/schema"
)

// messageRoutes returns the operations on messages between shifts.
func (api *workAPI) messageRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/message", handle: api.getMessages,
			query: []string{"plantcode", "groupcode", "stationcodes", "archived", "open", "limit"},
			operation: openapi.Operation{
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
			method: http.MethodPost, path: "/message", handle: api.postMessage, body: true, role: auth.Operator,
			once: true,
			operation: openapi.Operation{
				ID: "postMessage", Tag: "Message", Summary: "Leave a message for the next shift",
				About: "Shown to everybody who looks at the station until somebody marks it as done.\n\n403: the " +
					"caller may not act on this station.",
				Answer: "The message.", Body: schema.MessageCreate, Form: openapi.FormResult, Gives: "Message",
				Also: []int{409, 503}, Sample: messageSample,
			},
		},
		{
			method: http.MethodPost, path: "/message/:messageId/done", handle: api.messageDone, body: true,
			role: auth.Operator, once: true,
			operation: openapi.Operation{
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
func (api *workAPI) getMessages(c *call) (reply, error) {
	_, all, err := c.allStations()
	if err != nil {
		return reply{}, err
	}
	chosen, limit, open := c.stationsOf(all), c.number("limit", 100, 1, 1000), c.flag("open")
	if err := c.unclear(); err != nil {
		return reply{}, err
	}
	codes := make([]string, len(chosen))
	for i, s := range chosen {
		codes[i] = s.Code
	}
	found, err := api.Messages.List(c.p.AccountID, codes, open, limit)
	if err != nil {
		return reply{}, err
	}
	return list(found, -1)
}

// postMessage handles POST /message.
func (api *workAPI) postMessage(c *call) (reply, error) {
	var in struct {
		message.Input
		At string `json:"at"`
	}
	return c.act(schema.MessageCreate, false, &in, func(w *floor.Work) (any, error) {
		in.Input.At = momentOf(in.At)
		return api.Messages.Post(w, c.p, in.Input)
	})
}

// messageDone handles POST /message/{messageId}/done.
func (api *workAPI) messageDone(c *call) (reply, error) {
	var in struct {
		message.Settled
		At string `json:"at"`
	}
	return c.act(schema.MessageDone, false, &in, func(w *floor.Work) (any, error) {
		in.Settled.At = momentOf(in.At)
		return api.Messages.Done(w, c.p, c.params.ByName("messageId"), in.Settled)
	})
}

// messageSample is an example of an answer.
const messageSample = `{"id":"PACK-1.mqwkm4g0.3","stationCode":"PACK-1",
	"text":"The feeder jams with the blue film, run it at 80 %","initials":"ABC","shiftName":"Early",
	"at":"2026-11-20T13:50:00.000Z","recordedAt":"2026-11-20T13:50:00.212Z","doneAt":null,"doneBy":null,
	"doneRecordedAt":null}`

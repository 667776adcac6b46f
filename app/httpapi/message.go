package httpapi

import (
	"opsmon/app/floor"
	"opsmon/app/message"
	"opsmon/schema"
)

// getMessages answers GET /message: what people left for the next shift.
func getMessages(c *call) (reply, error) {
	_, all, err := c.allStations()
	if err != nil {
		return reply{}, err
	}
	chosen, err := c.stationsOf(all)
	if err != nil {
		return reply{}, err
	}
	limit, err := number(c.r.URL.Query().Get("limit"), "limit", 100, 1, 1000)
	if err != nil {
		return reply{}, err
	}
	var open *bool
	if values := c.r.URL.Query(); values.Has("open") {
		wanted, err := truth("open", values.Get("open"))
		if err != nil {
			return reply{}, err
		}
		open = &wanted
	}
	codes := make([]string, len(chosen))
	for i, s := range chosen {
		codes[i] = s.Code
	}
	found, err := c.api.cfg.Messages.List(c.p.AccountID, codes, open, limit)
	if err != nil {
		return reply{}, err
	}
	return list(found, -1)
}

// postMessage answers POST /message.
func postMessage(c *call) (reply, error) {
	var in struct {
		message.Input
		At string `json:"at"`
	}
	return c.act(schema.MessageCreate, false, &in, func(w *floor.Work) (any, error) {
		in.Input.At = momentOf(in.At)
		return c.api.cfg.Messages.Post(w, c.p, in.Input)
	})
}

// messageDone answers POST /message/{messageId}/done.
func messageDone(c *call) (reply, error) {
	var in struct {
		message.Settled
		At string `json:"at"`
	}
	return c.act(schema.MessageDone, false, &in, func(w *floor.Work) (any, error) {
		in.Settled.At = momentOf(in.At)
		return c.api.cfg.Messages.Done(w, c.p, c.params.ByName("messageId"), in.Settled)
	})
}

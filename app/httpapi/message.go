package httpapi

import (
	"opsmon/app/engine/floor"
	"opsmon/app/work/message"
	"opsmon/schema"
)

// getMessages answers GET /message: what people left for the next shift.
func getMessages(c *call) (reply, error) {
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

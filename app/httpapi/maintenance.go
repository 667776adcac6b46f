package httpapi

import (
	"opsmon/app/errdefs"
	"time"
)

// localCheck looks the store over: {problems: [...]}.
func (api *applianceAPI) localCheck(c *call) (reply, error) {
	problems := []string{}
	if err := api.Check(func(p string) { problems = append(problems, p) }); err != nil {
		return reply{}, err
	}
	return ok(map[string]any{"problems": problems})
}

// Compacted says what compacting the store has changed.
type Compacted struct {
	Before int64 `json:"before"` // size of the file, in bytes
	After  int64 `json:"after"`
}

// localAcceptClock accepts the machine's clock as right: {now}.
func (api *applianceAPI) localAcceptClock(c *call) (reply, error) {
	in, err := c.texts("now")
	if err != nil {
		return reply{}, err
	}
	now, err := time.Parse(time.RFC3339, in["now"])
	if err != nil {
		return reply{}, errdefs.New(errdefs.Invalid, "now must be a time such as 2026-11-20T08:15:30Z")
	}
	if api.AcceptClock == nil {
		return reply{}, errdefs.New(errdefs.Unavailable, "no service runs")
	}
	if err := api.AcceptClock(now, c.p.Actor()); err != nil {
		return reply{}, err
	}
	return ok(struct{}{})
}

// localCompact makes the store smaller.
func (api *applianceAPI) localCompact(c *call) (reply, error) {
	if api.Compact == nil {
		return reply{}, errdefs.New(errdefs.Unavailable, "no service runs")
	}
	result, err := api.Compact(c.r.Context())
	if err != nil {
		return reply{}, err
	}
	return ok(result)
}

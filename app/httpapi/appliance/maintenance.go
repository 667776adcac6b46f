package appliance

import (
	"time"

	"opsmon/app/errdefs"
	"opsmon/app/httpapi/rest"
)

// localCheck looks the store over: {problems: [...]}.
func (api *API) localCheck(c *rest.Call) (rest.Reply, error) {
	problems := []string{}
	if err := api.Check(func(p string) { problems = append(problems, p) }); err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(map[string]any{"problems": problems})
}

// Compacted says what compacting the store has changed.
type Compacted struct {
	Before int64 `json:"before"` // size of the file, in bytes
	After  int64 `json:"after"`
}

// localAcceptClock accepts the machine's clock as right: {now}.
func (api *API) localAcceptClock(c *rest.Call) (rest.Reply, error) {
	in, err := c.Strings("now")
	if err != nil {
		return rest.Reply{}, err
	}
	now, err := time.Parse(time.RFC3339, in["now"])
	if err != nil {
		return rest.Reply{}, errdefs.New(errdefs.Invalid, "now must be a time such as 2026-11-20T08:15:30Z")
	}
	if api.AcceptClock == nil {
		return rest.Reply{}, errdefs.New(errdefs.Unavailable, "no service runs")
	}
	if err := api.AcceptClock(now, c.Principal.Actor()); err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(struct{}{})
}

// localCompact makes the store smaller.
func (api *API) localCompact(c *rest.Call) (rest.Reply, error) {
	if api.Compact == nil {
		return rest.Reply{}, errdefs.New(errdefs.Unavailable, "no service runs")
	}
	result, err := api.Compact(c.Request.Context())
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(result)
}

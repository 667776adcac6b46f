package work

import (
	"cmp"
	"net/http"

	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
)

// refusedRoutes returns the operations on refused writes.
func (api *API) refusedRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/refused", Handle: api.getRefused, Role: auth.Supervisor,
			Query: []string{"limit", "skip"},
			Operation: openapi.Operation{
				ID: "listRefused", Tag: "Admin", Summary: "List refused floor writes",
				About: "Refused requests that had an `Idempotency-Key`, latest first: those of a tablet that was " +
					"offline, where nobody saw the refusal. Refusals without a key are not listed, as nothing " +
					"could show that the request was accepted later. A request that is accepted in the end " +
					"leaves the list.",
				Answer: "A page of requests.", Form: openapi.FormPage, Gives: "RefusedRequest", Also: []int{400},
				Sample: `{"key":"5f0c1b9e-7d1a","firstAt":"2026-11-20T08:15:30.123Z",
					"lastAt":"2026-11-20T08:15:31.200Z","times":2,"method":"POST",
					"path":"/schedule/q4m2x7c3w6zd/start","body":"{\"at\":\"2026-11-20T06:00:00Z\"}","status":409,
					"errorMessage":"at PACK-1 the schedule m5k2q7x3c6wd is running since 2026-11-20T05:58:12.000Z; end it first",
					"details":[],"by":"tablet:line 1@acme.example","from":"192.0.2.17"}`,
			},
		},
	}
}

// refusedLine is a refused floor write.
//
//openapi:schema RefusedRequest
type refusedLine struct {
	Key     string           `json:"key"` // its idempotency key
	FirstAt instant.Time     `json:"firstAt"`
	LastAt  instant.Time     `json:"lastAt"`
	Times   int              `json:"times" schema:"min=1"` // number of attempts
	Method  string           `json:"method"`
	Path    string           `json:"path"`
	Body    string           `json:"body"` // the first 4 KiB
	Status  int              `json:"status"`
	Message string           `json:"errorMessage"`
	Details []errdefs.Detail `json:"details"`
	By      string           `json:"by"`   // e-mail address, or the credential
	From    string           `json:"from"` // the network address
}

// getRefused handles GET /refused.
func (api *API) getRefused(c *rest.Call) (rest.Reply, error) {
	limit, skip := c.Page(100, 1000)
	if err := c.QueryError(); err != nil {
		return rest.Reply{}, err
	}
	refused, total, err := api.Requests.Refused(c.Principal.AccountID, limit, skip)
	if err != nil {
		return rest.Reply{}, err
	}
	lines := make([]refusedLine, len(refused))
	for i, r := range refused {
		lines[i] = refusedLine{
			r.Key, instant.OfMs(r.At), instant.OfMs(r.LastAt), r.Times, r.Method, r.Path, r.Body, r.Status, r.Message, append([]errdefs.Detail{}, r.Details...),
			cmp.Or(r.By.Email, r.By.Credential), r.By.Address,
		}
	}
	return rest.List(lines, total)
}

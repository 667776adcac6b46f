package httpapi

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/idempotency"
	"opsmon/app/instant"
	"opsmon/schema"
)

// refusedRoutes returns the operations on refused writes.
func refusedRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/refused", handle: getRefused, role: auth.Supervisor,
			query: []string{"limit", "skip"},
			text: openapi.Operation{
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

// idempotencyHeader identifies a write, so that a client without an answer can repeat it (monitoring.md section 4).
const idempotencyHeader = "Idempotency-Key"

// writable refuses writes of an archived account.
func (c *call) writable() error {
	snap, err := c.api.cfg.Accounts.Get(c.p.AccountID)
	if err != nil {
		return err
	}
	return snap.Account.Writable()
}

// act decodes the body of a floor write into in and runs the write. If the body has problems, the write is run dry, and
// its problems are returned, too.
func (c *call) act(name schema.Name, optional bool, in any, fn func(w *floor.Work) (result any, err error)) (reply, error) {
	problems, err := c.fill(name, optional, in)
	if err != nil {
		return reply{}, err
	}
	if len(problems) == 0 {
		return c.onceOrDry(fn)
	}
	var later errdefs.Problems
	// other errors are returned once the body is valid
	_ = later.Take(c.api.cfg.Floor.Try(c.p.AccountID, func(w *floor.Work) error {
		_, err := fn(w)
		return err
	}))
	problems.Merge(later)
	return reply{}, c.invalid(problems)
}

// onceOrDry is once. With dryrun=true the write is checked and answered, but nothing is stored, including the
// idempotency key.
func (c *call) onceOrDry(fn func(w *floor.Work) (result any, err error)) (reply, error) {
	dry, err := c.dryRun()
	if err != nil {
		return reply{}, err
	}
	if !dry {
		return c.once(fn)
	}
	var result any
	if err := c.api.cfg.Floor.Try(c.p.AccountID, func(w *floor.Work) (err error) {
		result, err = fn(w)
		return err
	}); err != nil {
		return reply{}, err
	}
	return ok(result)
}

// once runs a floor write in one transaction of the account's worker and replies with its result, or 204 for a nil
// result. A write with an idempotency key that was used before is not repeated; it gets the recorded answer.
func (c *call) once(fn func(w *floor.Work) (result any, err error)) (reply, error) {
	if err := c.writable(); err != nil {
		return reply{}, err
	}
	request, err := c.named()
	if err != nil {
		return reply{}, err
	}
	var answer idempotency.Answer
	err = c.api.cfg.Floor.Do(c.p.AccountID, func(w *floor.Work) (err error) {
		w.By = c.p.Actor()
		answer, err = idempotency.Do(w.Tx, c.p.AccountID, w.By, request, w.Now, func() (idempotency.Answer, error) {
			result, err := fn(w)
			if err != nil || result == nil {
				return idempotency.Answer{Status: 204}, err
			}
			out, err := ok(result)
			return idempotency.Answer{Status: 200, Body: out.body}, err
		})
		return err
	})
	return reply{status: answer.Status, body: answer.Body}, err
}

// named returns the identity of the request, with a hash of its content. The body must have been read before.
func (c *call) named() (idempotency.Request, error) {
	key, err := c.idempotencyKey()
	request := idempotency.Request{Key: key}
	hash := sha256.New()
	for _, part := range []string{c.r.Method, c.r.URL.RequestURI(), string(c.sent)} {
		hash.Write([]byte(part))
		hash.Write([]byte{0})
	}
	hash.Sum(request.Ask[:0])
	return request, err
}

// idempotencyKey returns the header's value; "": no header.
func (c *call) idempotencyKey() (string, error) {
	values := c.r.Header[idempotencyHeader]
	if len(values) == 0 {
		return "", nil
	}
	key := values[0]
	valid := len(values) == 1 && len(key) >= 1 && len(key) <= idempotency.MaxKey
	for i := range len(key) {
		valid = valid && key[i] > ' ' && key[i] < 0x7F
	}
	if !valid {
		return "", errdefs.InvalidField(idempotencyHeader, "must be one text of 1 to %d printable ASCII characters without blanks", idempotency.MaxKey)
	}
	return key, nil
}

// keepRefused records a refused floor write that has an idempotency key: the tablet may have been offline for hours,
// and a supervisor should know (monitoring.md section 4).
func (c *call) keepRefused(refused error) {
	status := statuses[errdefs.KindOf(refused)].status
	if !c.route.once || c.route.desk || c.other || status < 400 || status > 499 || status == 401 || !c.p.Role.AtLeast(auth.Operator) {
		return
	}
	if dry, _ := c.dryRun(); dry { // a dry run has no effect
		return
	}
	key, err := c.idempotencyKey()
	if err != nil || key == "" {
		return
	}
	var e *errdefs.Error
	if !errors.As(refused, &e) {
		return
	}
	err = c.api.cfg.Requests.Refuse(c.p.AccountID, idempotency.Refused{
		Key: key, Method: c.r.Method, Path: errdefs.Shorten(c.r.URL.RequestURI()), Body: string(c.sent), Status: status, Message: e.Message,
		Details: errdefs.Cap(e.Details), By: c.p.Actor(),
	})
	if err != nil {
		c.api.log.Warn("recording a refused request failed", slog.Any("error", err))
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
func getRefused(c *call) (reply, error) {
	limit, skip := c.page(100, 1000)
	if err := c.unclear(); err != nil {
		return reply{}, err
	}
	refused, total, err := c.api.cfg.Requests.Refused(c.p.AccountID, limit, skip)
	if err != nil {
		return reply{}, err
	}
	lines := make([]refusedLine, len(refused))
	for i, r := range refused {
		lines[i] = refusedLine{
			r.Key, instant.OfMs(r.At), instant.OfMs(r.LastAt), r.Times, r.Method, r.Path, r.Body, r.Status, r.Message, append([]errdefs.Detail{}, r.Details...),
			cmp.Or(r.By.Email, r.By.Credential), r.By.Address,
		}
	}
	return list(lines, total)
}

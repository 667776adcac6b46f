package httpapi

import (
	"crypto/sha256"
	"errors"
	"log/slog"

	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/errdefs"
	"opsmon/app/idempotency"
	"opsmon/schema"
)

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

// onceOrDry is runOnce. With dryrun=true the write is checked and answered, but nothing is stored, including the
// idempotency key.
func (c *call) onceOrDry(fn func(w *floor.Work) (result any, err error)) (reply, error) {
	dry, err := c.dryRun()
	if err != nil {
		return reply{}, err
	}
	if !dry {
		return c.runOnce(fn)
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

// runOnce runs a floor write in one transaction of the account's worker and replies with its result, or 204 for a nil
// result. A write with an idempotency key that was used before is not repeated; it gets the recorded answer.
func (c *call) runOnce(fn func(w *floor.Work) (result any, err error)) (reply, error) {
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

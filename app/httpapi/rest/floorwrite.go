package rest

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

// Writable refuses writes of an archived account.
func (c *Call) Writable() error {
	snap, err := c.api.cfg.Accounts.Get(c.Principal.AccountID)
	if err != nil {
		return err
	}
	return snap.Account.Writable()
}

// FloorWrite decodes the body of a floor write into in and runs the write. If the body has problems, the write is run
// dry, and its problems are returned, too.
func (c *Call) FloorWrite(name schema.Name, optional bool, in any, fn func(w *floor.Work) (result any, err error)) (Reply, error) {
	problems, err := c.fill(name, optional, in)
	if err != nil {
		return Reply{}, err
	}
	if len(problems) == 0 {
		return c.onceOrDry(fn)
	}
	var later errdefs.Problems
	// other errors are returned once the body is valid
	_ = later.Take(c.api.cfg.Floor.Try(c.Principal.AccountID, func(w *floor.Work) error {
		_, err := fn(w)
		return err
	}))
	problems.Merge(later)
	return Reply{}, c.Invalid(problems)
}

// onceOrDry is RunOnce. With dryrun=true the write is checked and answered, but nothing is stored, including the
// idempotency key.
func (c *Call) onceOrDry(fn func(w *floor.Work) (result any, err error)) (Reply, error) {
	dry, err := c.DryRun()
	if err != nil {
		return Reply{}, err
	}
	if !dry {
		return c.RunOnce(fn)
	}
	var result any
	if err := c.api.cfg.Floor.Try(c.Principal.AccountID, func(w *floor.Work) (err error) {
		result, err = fn(w)
		return err
	}); err != nil {
		return Reply{}, err
	}
	return OK(result)
}

// RunOnce runs a floor write in one transaction of the account's worker and replies with its result, or 204 for a nil
// result. A write with an idempotency key that was used before is not repeated; it gets the recorded answer.
func (c *Call) RunOnce(fn func(w *floor.Work) (result any, err error)) (Reply, error) {
	if err := c.Writable(); err != nil {
		return Reply{}, err
	}
	request, err := c.Idempotency()
	if err != nil {
		return Reply{}, err
	}
	var answer idempotency.Answer
	err = c.api.cfg.Floor.Do(c.Principal.AccountID, func(w *floor.Work) (err error) {
		w.By = c.Principal.Actor()
		answer, err = idempotency.Do(w.Tx, c.Principal.AccountID, w.By, request, w.Now, func() (idempotency.Answer, error) {
			result, err := fn(w)
			if err != nil || result == nil {
				return idempotency.Answer{Status: 204}, err
			}
			out, err := OK(result)
			return idempotency.Answer{Status: 200, Body: out.Body}, err
		})
		return err
	})
	return Reply{Status: answer.Status, Body: answer.Body}, err
}

// Idempotency returns the identity of the request, with a hash of its content. The body must have been read before.
func (c *Call) Idempotency() (idempotency.Request, error) {
	key, err := c.idempotencyKey()
	request := idempotency.Request{Key: key}
	hash := sha256.New()
	for _, part := range []string{c.Request.Method, c.Request.URL.RequestURI(), string(c.sent)} {
		hash.Write([]byte(part))
		hash.Write([]byte{0})
	}
	hash.Sum(request.Ask[:0])
	return request, err
}

// idempotencyKey returns the header's value; "": no header.
func (c *Call) idempotencyKey() (string, error) {
	values := c.Request.Header[idempotencyHeader]
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
func (c *Call) keepRefused(refused error) {
	status := statuses[errdefs.KindOf(refused)].status
	if !c.route.Once || c.route.Desk || c.other || status < 400 || status > 499 || status == 401 || !c.Principal.Role.AtLeast(auth.Operator) {
		return
	}
	if dry, _ := c.DryRun(); dry { // a dry run has no effect
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
	err = c.api.cfg.Requests.Refuse(c.Principal.AccountID, idempotency.Refused{
		Key: key, Method: c.Request.Method, Path: errdefs.Shorten(c.Request.URL.RequestURI()), Body: string(c.sent), Status: status, Message: e.Message,
		Details: errdefs.Cap(e.Details), By: c.Principal.Actor(),
	})
	if err != nil {
		c.api.log.Warn("recording a refused request failed", slog.Any("error", err))
	}
}

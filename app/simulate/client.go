package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// Request is a request to the service.
type Request struct {
	Method, Path   string
	Query          url.Values
	IdempotencyKey string // a repeated request takes effect once; "": none
	Body           []byte // JSON; nil: no body
}

// Answer is the answer to a Request.
type Answer struct {
	Status     int
	RetryAfter time.Duration // 0: not given
	Body       []byte
}

// Send sends a request and returns the answer with any status. An error means that there was no answer.
type Send func(context.Context, Request) (Answer, error)

// Refusal is an error answer.
type Refusal struct {
	Status  int
	Code    string // errorCode of the API
	Message string
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Message == "" {
		return fmt.Sprintf("the service answered %d", r.Status)
	}
	return r.Message
}

// client sends requests until they are answered.
type client struct {
	send     Send
	patience time.Duration // how long a request is retried
	again    bool          // also retry after a lost answer, because requests take effect once
	retried  int           // number of retries
	waiting  func(why string)
}

// Statuses with a special meaning (http-api.md section 7, decisions.md section 1).
const (
	unauthorized    = 401
	forbidden       = 403
	conflict        = 409
	tooManyRequests = 429
	unavailable     = 503
)

// Limits of the time between retries.
const (
	leastWait = 200 * time.Millisecond
	mostWait  = time.Minute
)

// call sends a request. A busy service (429, 503) is asked again at the time that it requests, one that does not answer
// with increasing delays, until patience ends. Errors: *Refusal, ctx's, that of the last attempt.
func (c *client) call(ctx context.Context, r Request) ([]byte, error) {
	began, wait := time.Now(), leastWait
	for {
		a, err := c.send(ctx, r)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && !c.again:
			return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
		case err == nil && a.Status < 300:
			return a.Body, nil
		case err == nil && a.Status != tooManyRequests && a.Status != unavailable:
			return nil, refusal(a)
		case err == nil:
			err = refusal(a)
			if a.RetryAfter > 0 {
				wait = min(a.RetryAfter, mostWait)
			}
		}
		if time.Since(began)+wait > c.patience {
			return nil, fmt.Errorf("%s %s: gave up after %v: %w", r.Method, r.Path, time.Since(began).Round(time.Second), err)
		}
		c.retried++
		if c.waiting != nil {
			c.waiting(err.Error())
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
		wait = min(2*wait, 10*time.Second)
	}
}

// ask is call with JSON: it encodes in, and decodes the envelope's result or results into out unless that is nil.
func (c *client) ask(ctx context.Context, r Request, in, out any) error {
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		r.Body = b
	}
	b, err := c.call(ctx, r)
	if err != nil || out == nil {
		return err
	}
	var envelope struct {
		Result  json.RawMessage `json:"result"`
		Results json.RawMessage `json:"results"`
	}
	if err := json.Unmarshal(b, &envelope); err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", r.Method, r.Path, err)
	}
	if envelope.Results != nil {
		envelope.Result = envelope.Results
	}
	if err := json.Unmarshal(envelope.Result, out); err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", r.Method, r.Path, err)
	}
	return nil
}

func refusal(a Answer) *Refusal {
	var f struct {
		ErrorCode    string `json:"errorCode"`
		ErrorMessage string `json:"errorMessage"`
		Details      []struct {
			Field string `json:"field"`
			Issue string `json:"issue"`
		} `json:"details"`
	}
	_ = json.Unmarshal(a.Body, &f) // ignore answers in another format
	r := &Refusal{Status: a.Status, Code: f.ErrorCode, Message: f.ErrorMessage}
	if len(f.Details) > 0 {
		r.Message = fmt.Sprintf("%s %s", f.Details[0].Field, f.Details[0].Issue)
	}
	return r
}

// sleep waits for a time or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// outcome is the service's result for one signal.
type outcome struct {
	Index    int    `json:"index"`
	Accepted bool   `json:"accepted"`
	Issue    string `json:"issue"`
}

// signals sends a batch of objects separated by commas.
func (c *client) signals(ctx context.Context, objects []byte) ([]outcome, error) {
	body := append([]byte(`{"signals":[`), objects...)
	b, err := c.call(ctx, Request{Method: "POST", Path: "/signal", Body: append(body, "]}"...)})
	if err != nil {
		return nil, err
	}
	var out struct {
		Results []outcome `json:"results"`
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("POST /signal: read the answer: %w", err)
	}
	return out.Results, nil
}

// Fetch sends a request without effects and returns the body of a success. Errors: *Refusal, those of send.
func Fetch(ctx context.Context, send Send, r Request) ([]byte, error) {
	c := client{send: send, patience: time.Minute, again: true}
	return c.call(ctx, r)
}

package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// Request is what is asked of the service.
type Request struct {
	Method, Path   string
	Query          url.Values
	IdempotencyKey string // the same request sent twice counts once; "" for none
	Body           []byte // JSON; nil: none
}

// Answer is what it answered.
type Answer struct {
	Status     int
	RetryAfter time.Duration // 0: it did not say
	Body       []byte
}

// Send makes a request and gives the answer, whatever its status. An error means that there was none.
type Send func(context.Context, Request) (Answer, error)

// Refusal is an answer that is no success.
type Refusal struct {
	Status  int
	Code    string // the API's errorCode
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
	patience time.Duration // for how long a request is tried again
	again    bool          // also one that got no answer: what it asks for counts once
	retried  int           // requests that were sent again
	waiting  func(why string)
}

// Statuses that mean something here (http-api.md section 7, decisions.md section 1).
const (
	unauthorized    = 401
	forbidden       = 403
	conflict        = 409
	tooManyRequests = 429
	unavailable     = 503
)

// Bounds of how long a refused request waits until it is sent again.
const (
	leastWait = 200 * time.Millisecond
	mostWait  = time.Minute
)

// call sends a request. A service that is busy (429, 503) is asked again when it says, one that does not answer a little
// later each time, until patience ends. Errors: *Refusal, ctx's, that of the last attempt.
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

// ask is call with what is sent and answered as JSON: result or results of the envelope goes to out, unless that is nil.
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
	_ = json.Unmarshal(a.Body, &f) // an answer of something else says nothing
	r := &Refusal{Status: a.Status, Code: f.ErrorCode, Message: f.ErrorMessage}
	if len(f.Details) > 0 {
		r.Message = fmt.Sprintf("%s %s", f.Details[0].Field, f.Details[0].Issue)
	}
	return r
}

// sleep waits, or ends with ctx.
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

// outcome is what the service says of one signal.
type outcome struct {
	Index    int    `json:"index"`
	Accepted bool   `json:"accepted"`
	Issue    string `json:"issue"`
}

// signals sends a batch: the objects, with commas between them.
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

// Fetch makes a request that changes nothing and returns the body of a success. Errors: *Refusal, those of send.
func Fetch(ctx context.Context, send Send, r Request) ([]byte, error) {
	c := client{send: send, patience: time.Minute, again: true}
	return c.call(ctx, r)
}

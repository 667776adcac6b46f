package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/host/control"
	"opsmon/schema"
	"opsmon/schema/strictjson"
)

// call is one request in its handler.
type call struct {
	api    *restAPI
	w      http.ResponseWriter // for deadlines and body limits; handlers must not write to it
	r      *http.Request
	route  *route
	params httprouter.Params
	p      auth.Principal   // zero on routes without a credential
	asked  errdefs.Problems // problems of the query found so far
	key    string           // the API key of the request, "" for a session
	sent   []byte           // the body of a write of the floor, after it was read
	other  bool             // the request is meant for another user

	releases []func() // called when the handler has returned
}

// reply is a handler's result, which the adapter writes.
type reply struct {
	status  int                     // 0: 200
	body    []byte                  // encoded JSON
	rep     *account.Representation // instead of body: encoded, with entity tags
	kind    string                  // content type; "": application/json
	header  [][2]string
	cookies []*http.Cookie

	// send, instead of a body, writes the answer and returns its status.
	send func(w http.ResponseWriter, r *http.Request) (status int)
	// chunked generates a long answer while it is sent, instead of a body.
	chunked *chunked
	// stream, instead of a body, runs a long operation that reports its progress and its result on a channel in the
	// format of package control. It runs after the handler has returned.
	stream func(ctx context.Context, out *control.Stream) (result any, err error)
}

// ok replies {isSuccess: true, result}.
func ok(result any) (reply, error) {
	return encode(struct {
		IsSuccess bool `json:"isSuccess"`
		Result    any  `json:"result"`
	}{true, result})
}

// done replies {isSuccess: true}.
func done() (reply, error) { return reply{body: []byte(`{"isSuccess":true}`)}, nil }

// paging is the position of a page in a list.
//
//openapi:schema Paging
type paging struct {
	TotalElements int `json:"totalElements" schema:"min=0"` // total number of results
	// Only for an audit search that did not reach the end: repeat the search with this as before. The total is of the
	// examined records.
	Before uint64 `json:"before,omitempty" schema:"min=2"`
}

// list replies {isSuccess: true, results, paging}; total < 0 leaves paging out.
func list(results any, total int) (reply, error) {
	body := struct {
		IsSuccess bool    `json:"isSuccess"`
		Results   any     `json:"results"`
		Paging    *paging `json:"paging,omitempty"`
	}{true, results, nil}
	if total >= 0 {
		body.Paging = &paging{TotalElements: total}
	}
	return encode(body)
}

func encode(v any) (reply, error) {
	b, err := marshal(v)
	return reply{body: b}, err
}

// marshal encodes v without the HTML escapes that encoding/json adds.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Limits of bodies (decisions.md section 1), and how long a body may take to arrive.
const (
	bodyLimit = 1 << 20
	// on routes without a credential; POST /setup, which only exists on an empty appliance, has bodyLimit
	strangerLimit     = 4 << 10
	manifestLimit     = 32 << 20
	manifestReadTime  = 3 * time.Minute
	manifestWorkTime  = time.Minute // from the last byte of a manifest to the last byte of the answer
	slowestWriteBytes = 64 << 10    // bytes per second that a client must read at least
)

// bytes reads the request's body; nil: no body.
func (c *call) bytes() ([]byte, error) {
	limit := c.route.limit
	if c.r.ContentLength == 0 || c.r.Body == nil || c.r.Body == http.NoBody {
		return nil, nil
	}
	if err := c.admit(limit); err != nil {
		return nil, err
	}
	if limit > bodyLimit {
		// The server's deadlines are for small bodies. A connection without deadlines needs no other.
		rc, until := http.NewResponseController(c.w), time.Now().Add(manifestReadTime)
		_ = rc.SetReadDeadline(until)
		_ = rc.SetWriteDeadline(until.Add(manifestWorkTime))
	}
	body := io.Reader(http.MaxBytesReader(c.w, c.r.Body, limit))
	if c.r.ContentLength < 0 { // unknown length: it may be empty
		buffered := bufio.NewReader(body)
		if _, err := buffered.Peek(1); errors.Is(err, io.EOF) {
			return nil, nil
		}
		body = buffered
	}
	if kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, errdefs.New(errdefs.Invalid, "the body must be declared as Content-Type: application/json")
	}
	if c.r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	b, err := readBody(body, c.r.ContentLength, limit)
	if err == nil && c.route.once {
		c.sent = b
	}
	return b, err
}

// readBody reads a body with a length, less than 0 if unknown.
func readBody(body io.Reader, length, limit int64) ([]byte, error) {
	var b bytes.Buffer
	if length > 0 {
		b.Grow(int(min(length, bodyLimit)) + bytes.MinRead) // memory for more is only allocated as it arrives
	}
	if _, err := b.ReadFrom(body); err != nil {
		if tooBig := (*http.MaxBytesError)(nil); errors.As(err, &tooBig) {
			return nil, tooLarge(limit)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) || isTimeout(err) {
			return nil, errdefs.New(errdefs.Invalid, "the body ended before it was complete, or took too long to arrive")
		}
		return nil, &errdefs.Error{Kind: errdefs.Invalid, Message: "the body could not be read", Err: err}
	}
	return b.Bytes(), nil
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

func tooLarge(limit int64) error {
	if limit < 1<<20 {
		return errdefs.New(errdefs.TooLarge, "the body must be %d KiB or smaller", limit>>10)
	}
	return errdefs.New(errdefs.TooLarge, "the body must be %d MiB or smaller", limit>>20)
}

// tree decodes the body as strict JSON.
func (c *call) tree() (any, error) {
	b, err := c.bytes()
	if err != nil {
		return nil, err
	}
	return decodeJSON(b)
}

func decodeJSON(b []byte) (any, error) {
	v, err := strictjson.Decode(b)
	if err != nil {
		return nil, invalidJSON(err)
	}
	return v, nil
}

func invalidJSON(err error) error {
	out := &errdefs.Error{Kind: errdefs.Invalid, Message: "the body is not valid JSON", Err: err}
	var e *strictjson.Error
	if errors.As(err, &e) {
		out.Message = e.Error()
		out.Details = []errdefs.Detail{{Field: e.Path, Issue: e.Error()}}
	}
	return out
}

// decode decodes the body into into after validation against a schema. An absent optional body changes nothing.
// Problems of the body's format, of the query, and those found by meanings in the readable part of the body are
// returned as one error.
func (c *call) decode(name schema.Name, optional bool, into any, meanings ...func() error) error {
	problems, err := c.fill(name, optional, into)
	if err != nil {
		return err
	}
	return c.judged(problems, meanings...)
}

// judged returns the problems so far and those found by meanings as one error.
func (c *call) judged(problems errdefs.Problems, meanings ...func() error) error {
	for _, check := range meanings {
		var later errdefs.Problems
		if err := later.Take(check()); err != nil && len(problems) == 0 {
			return err
		}
		problems.Merge(later)
	}
	return c.invalid(problems)
}

// fill is decode without meanings: it returns the problems with the query and the body's format. into then has the
// valid part of the body.
func (c *call) fill(name schema.Name, optional bool, into any) (errdefs.Problems, error) {
	v, problems, err := c.shape(name, optional)
	if err != nil || v == nil {
		return problems, err
	}
	if err := strictjson.Fill(v, into); err != nil && len(problems) == 0 {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	return problems, nil
}

// shape reads the body and validates it against its schema. It returns the body, nil for an absent optional one, with
// null in place of invalid values, and the problems of the body and the query.
func (c *call) shape(name schema.Name, optional bool) (any, errdefs.Problems, error) {
	b, err := c.bytes()
	if err == nil && b == nil && optional {
		return nil, slices.Clone(c.asked), nil
	}
	return c.shapeOf(name, b, err)
}

// shapeOf is shape for a body that was read, or the error of reading it.
func (c *call) shapeOf(name schema.Name, b []byte, err error) (any, errdefs.Problems, error) {
	problems := slices.Clone(c.asked)
	var v any
	if err == nil {
		v, err = decodeJSON(b)
	}
	if err != nil {
		if len(problems) == 0 || problems.Take(err) != nil {
			return nil, nil, err
		}
		return nil, nil, c.invalid(problems)
	}
	if found := violations(name, v); len(found) > 0 {
		wrong := map[string]bool{}
		for _, d := range found {
			wrong[d.Field] = true
		}
		v, problems = strictjson.Blank(v, wrong), append(problems, found...)
	}
	return v, problems, nil
}

// violations returns the problems of a body with its schema.
func violations(name schema.Name, v any) (problems errdefs.Problems) {
	for _, violation := range schema.Validate(name, v) {
		problems.Add(violation.Path, "%s", violation.Issue)
	}
	return problems
}

// invalid returns problems as one error; nil: no problems.
func (c *call) invalid(problems errdefs.Problems) error {
	what := "the body"
	switch len(c.asked) {
	case 0:
	case len(problems):
		what = "the query"
	default:
		what = "the request"
	}
	return problems.Err(what)
}

// checkQuery validates the parameters of an unsafe request, because a misspelt one must not cause a write.
func (c *call) checkQuery() error {
	if c.r.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return errdefs.New(errdefs.Invalid, "the query cannot be read; it must have the form name=value&name=value, with %%-encoded values")
	}
	var problems errdefs.Problems
	for name, values := range query {
		if len(values) > 1 {
			problems = append(problems, errdefs.Detail{Field: errdefs.Shorten(name), Issue: "must be there once"})
		}
		if !slices.Contains(c.route.query, name) {
			issue := "is not a query parameter of this operation"
			if len(c.route.query) > 0 {
				issue += "; it takes " + strings.Join(c.route.query, ", ")
			}
			problems = append(problems, errdefs.Detail{Field: errdefs.Shorten(name), Issue: issue})
		}
	}
	for _, name := range []string{"dryrun", "endrunning", "keepthis"} {
		if slices.Contains(c.route.query, name) {
			c.flag(name)
		}
	}
	problems.Merge(c.asked)
	slices.SortFunc(problems, func(a, b errdefs.Detail) int { return strings.Compare(a.Field, b.Field) })
	if c.asked = problems; c.route.body {
		return nil // decode reports it together with the body's problems
	}
	return c.unclear()
}

// address returns the address of the client without its port.
func address(r *http.Request) string {
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return ap.Addr().Unmap().WithZone("").String()
	}
	return "local"
}

// match parses If-Match, which may consist of several lines; nil: no such header. An empty one matches nothing, because
// its sender wants to be careful.
func (c *call) match() *account.Match {
	lines := c.r.Header["If-Match"]
	if len(lines) == 0 {
		return nil
	}
	if m := account.ParseMatch(strings.Join(lines, ",")); m != nil {
		return m
	}
	return &account.Match{}
}

func safe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// orNull returns a pointer to a value; nil for the zero value.
func orNull[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

// text reads a body whose members are all strings, with the names given and no others.
func (c *call) texts(names ...string) (map[string]string, error) {
	v, err := c.tree()
	if err != nil {
		return nil, err
	}
	object, _ := v.(map[string]any)
	out := make(map[string]string, len(names))
	for _, name := range names {
		if s, ok := object[name].(string); ok {
			out[name] = s
		}
	}
	if len(out) != len(object) {
		return nil, errdefs.New(errdefs.Invalid, "the body has members that this operation does not take")
	}
	return out, nil
}

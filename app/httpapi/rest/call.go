package rest

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

// Call is one request in its handler.
type Call struct {
	api       *API
	Writer    http.ResponseWriter // for deadlines and body limits; handlers must not write to it
	Request   *http.Request
	route     *Route
	Params    httprouter.Params
	Principal auth.Principal   // zero on routes without a credential
	asked     errdefs.Problems // problems of the query found so far
	Key       string           // the API key of the request, "" for a session
	sent      []byte           // the body of a write of the floor, after it was read
	other     bool             // the request is meant for another user

	releases []func() // called when the handler has returned
}

// Reply is a handler's result, which the adapter writes.
type Reply struct {
	Status         int                     // 0: 200
	Body           []byte                  // encoded JSON
	Representation *account.Representation // instead of body: encoded, with entity tags
	Kind           string                  // content type; "": application/json
	Header         [][2]string
	Cookies        []*http.Cookie

	// Send, instead of a body, writes the answer and returns its status.
	Send func(w http.ResponseWriter, r *http.Request) (status int)
	// Chunked generates a long answer while it is sent, instead of a body.
	Chunked *Chunked
	// Stream, instead of a body, runs a long operation that reports its progress and its result on a channel in the
	// format of package control. It runs after the handler has returned.
	Stream func(ctx context.Context, out *control.Stream) (result any, err error)
}

// OK replies {isSuccess: true, result}.
func OK(result any) (Reply, error) {
	return Encode(struct {
		IsSuccess bool `json:"isSuccess"`
		Result    any  `json:"result"`
	}{true, result})
}

// Done replies {isSuccess: true}.
func Done() (Reply, error) { return Reply{Body: []byte(`{"isSuccess":true}`)}, nil }

// Paging is the position of a page in a list.
//
//openapi:schema Paging
type Paging struct {
	TotalElements int `json:"totalElements" schema:"min=0"` // total number of results
	// Only for an audit search that did not reach the end: repeat the search with this as before. The total is of the
	// examined records.
	Before uint64 `json:"before,omitempty" schema:"min=2"`
}

// List replies {isSuccess: true, results, paging}; total < 0 leaves paging out.
func List(results any, total int) (Reply, error) {
	body := struct {
		IsSuccess bool    `json:"isSuccess"`
		Results   any     `json:"results"`
		Paging    *Paging `json:"paging,omitempty"`
	}{true, results, nil}
	if total >= 0 {
		body.Paging = &Paging{TotalElements: total}
	}
	return Encode(body)
}

func Encode(v any) (Reply, error) {
	b, err := Marshal(v)
	return Reply{Body: b}, err
}

// Marshal encodes v without the HTML escapes that encoding/json adds.
func Marshal(v any) ([]byte, error) {
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
	BodyLimit = 1 << 20
	// on routes without a credential; POST /setup, which only exists on an empty appliance, has BodyLimit
	anonymousLimit    = 4 << 10
	ManifestLimit     = 32 << 20
	manifestReadTime  = 3 * time.Minute
	manifestWorkTime  = time.Minute // from the last byte of a manifest to the last byte of the answer
	slowestWriteBytes = 64 << 10    // bytes per second that a client must read at least
)

// Bytes reads the request's body; nil: no body.
func (c *Call) Bytes() ([]byte, error) {
	limit := c.route.Limit
	if c.Request.ContentLength == 0 || c.Request.Body == nil || c.Request.Body == http.NoBody {
		return nil, nil
	}
	if err := c.admit(limit); err != nil {
		return nil, err
	}
	if limit > BodyLimit {
		// The server's deadlines are for small bodies. A connection without deadlines needs no other.
		rc, until := http.NewResponseController(c.Writer), time.Now().Add(manifestReadTime)
		_ = rc.SetReadDeadline(until)
		_ = rc.SetWriteDeadline(until.Add(manifestWorkTime))
	}
	body := io.Reader(http.MaxBytesReader(c.Writer, c.Request.Body, limit))
	if c.Request.ContentLength < 0 { // unknown length: it may be empty
		buffered := bufio.NewReader(body)
		if _, err := buffered.Peek(1); errors.Is(err, io.EOF) {
			return nil, nil
		}
		body = buffered
	}
	if kind, _, err := mime.ParseMediaType(c.Request.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, errdefs.New(errdefs.Invalid, "the body must be declared as Content-Type: application/json")
	}
	if c.Request.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	b, err := readBody(body, c.Request.ContentLength, limit)
	if err == nil && c.route.Once {
		c.sent = b
	}
	return b, err
}

// readBody reads a body with a length, less than 0 if unknown.
func readBody(body io.Reader, length, limit int64) ([]byte, error) {
	var b bytes.Buffer
	if length > 0 {
		b.Grow(int(min(length, BodyLimit)) + bytes.MinRead) // memory for more is only allocated as it arrives
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

// JSON decodes the body as strict JSON.
func (c *Call) JSON() (any, error) {
	b, err := c.Bytes()
	if err != nil {
		return nil, err
	}
	return decodeJSON(b)
}

func decodeJSON(b []byte) (any, error) {
	v, err := strictjson.Decode(b)
	if err != nil {
		return nil, InvalidJSON(err)
	}
	return v, nil
}

func InvalidJSON(err error) error {
	out := &errdefs.Error{Kind: errdefs.Invalid, Message: "the body is not valid JSON", Err: err}
	var e *strictjson.Error
	if errors.As(err, &e) {
		out.Message = e.Error()
		out.Details = []errdefs.Detail{{Field: e.Path, Issue: e.Error()}}
	}
	return out
}

// Decode decodes the body into into after validation against a schema. An absent optional body changes nothing.
// Problems of the body's format, of the query, and those found by meanings in the readable part of the body are
// returned as one error.
func (c *Call) Decode(name schema.Name, optional bool, into any, meanings ...func() error) error {
	problems, err := c.fill(name, optional, into)
	if err != nil {
		return err
	}
	return c.JoinProblems(problems, meanings...)
}

// JoinProblems returns the problems so far and those found by meanings as one error.
func (c *Call) JoinProblems(problems errdefs.Problems, meanings ...func() error) error {
	for _, check := range meanings {
		var later errdefs.Problems
		if err := later.Take(check()); err != nil && len(problems) == 0 {
			return err
		}
		problems.Merge(later)
	}
	return c.Invalid(problems)
}

// fill is Decode without meanings: it returns the problems with the query and the body's format. into then has the
// valid part of the body.
func (c *Call) fill(name schema.Name, optional bool, into any) (errdefs.Problems, error) {
	v, problems, err := c.ReadBody(name, optional)
	if err != nil || v == nil {
		return problems, err
	}
	if err := strictjson.Fill(v, into); err != nil && len(problems) == 0 {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	return problems, nil
}

// ReadBody reads the body and validates it against its schema. It returns the body, nil for an absent optional one,
// with null in place of invalid values, and the problems of the body and the query.
func (c *Call) ReadBody(name schema.Name, optional bool) (any, errdefs.Problems, error) {
	b, err := c.Bytes()
	if err == nil && b == nil && optional {
		return nil, slices.Clone(c.asked), nil
	}
	return c.ParseBody(name, b, err)
}

// ParseBody is ReadBody for a body that was read, or the error of reading it.
func (c *Call) ParseBody(name schema.Name, b []byte, err error) (any, errdefs.Problems, error) {
	problems := slices.Clone(c.asked)
	var v any
	if err == nil {
		v, err = decodeJSON(b)
	}
	if err != nil {
		if len(problems) == 0 || problems.Take(err) != nil {
			return nil, nil, err
		}
		return nil, nil, c.Invalid(problems)
	}
	if found := Violations(name, v); len(found) > 0 {
		wrong := map[string]bool{}
		for _, d := range found {
			wrong[d.Field] = true
		}
		v, problems = strictjson.Blank(v, wrong), append(problems, found...)
	}
	return v, problems, nil
}

// Violations returns the problems of a body with its schema.
func Violations(name schema.Name, v any) (problems errdefs.Problems) {
	for _, violation := range schema.Validate(name, v) {
		problems.Add(violation.Path, "%s", violation.Issue)
	}
	return problems
}

// Invalid returns problems as one error; nil: no problems.
func (c *Call) Invalid(problems errdefs.Problems) error {
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
func (c *Call) checkQuery() error {
	if c.Request.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return errdefs.New(errdefs.Invalid, "the query cannot be read; it must have the form name=value&name=value, with %%-encoded values")
	}
	var problems errdefs.Problems
	for name, values := range query {
		if len(values) > 1 {
			problems = append(problems, errdefs.Detail{Field: errdefs.Shorten(name), Issue: "must be there once"})
		}
		if !slices.Contains(c.route.Query, name) {
			issue := "is not a query parameter of this operation"
			if len(c.route.Query) > 0 {
				issue += "; it takes " + strings.Join(c.route.Query, ", ")
			}
			problems = append(problems, errdefs.Detail{Field: errdefs.Shorten(name), Issue: issue})
		}
	}
	for _, name := range []string{"dryrun", "endrunning", "keepthis"} {
		if slices.Contains(c.route.Query, name) {
			c.Flag(name)
		}
	}
	problems.Merge(c.asked)
	slices.SortFunc(problems, func(a, b errdefs.Detail) int { return strings.Compare(a.Field, b.Field) })
	if c.asked = problems; c.route.Body {
		return nil // decode reports it together with the body's problems
	}
	return c.QueryError()
}

// Address returns the address of the client without its port.
func Address(r *http.Request) string {
	if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return ap.Addr().Unmap().WithZone("").String()
	}
	return "local"
}

// IfMatch parses If-Match, which may consist of several lines; nil: no such header. An empty one matches nothing,
// because its sender wants to be careful.
func (c *Call) IfMatch() *account.Match {
	lines := c.Request.Header["If-Match"]
	if len(lines) == 0 {
		return nil
	}
	if m := account.ParseMatch(strings.Join(lines, ",")); m != nil {
		return m
	}
	return &account.Match{}
}

func safe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// OrNull returns a pointer to a value; nil for the zero value.
func OrNull[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

// Strings reads a body whose members are all strings, with the names given and no others.
func (c *Call) Strings(names ...string) (map[string]string, error) {
	v, err := c.JSON()
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

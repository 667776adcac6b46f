package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"opsmon/app/account"
	"opsmon/app/errdefs"
	"opsmon/app/host/control"
	"opsmon/app/negotiate"
)

// Header values that never change, shared by all answers so that none is allocated for one.
var (
	JSONType     = []string{"application/json"}
	nosniff      = []string{"nosniff"}
	NoStore      = []string{"no-store"}
	revalidate   = []string{"private, no-cache"}
	varyEncoding = []string{"Accept-Encoding"}
	varyAll      = []string{"Accept-Encoding, Cookie, X-API-KEY"}
	gzipEncoding = []string{"gzip"}
)

// compressFrom is the size above which an answer is compressed for clients that accept it.
const compressFrom = 1024

// failure is an error envelope of http-api.md section 7.
type failure struct {
	IsSuccess    bool             `json:"isSuccess"`
	ErrorCode    string           `json:"errorCode"`
	ErrorMessage string           `json:"errorMessage,omitempty"`
	Details      []errdefs.Detail `json:"details,omitempty"`
}

var statuses = map[errdefs.Kind]struct {
	status int
	code   string
}{
	errdefs.Internal:     {500, "internalServerError"},
	errdefs.Invalid:      {400, "invalidInput"},
	errdefs.Unauthorized: {401, "unauthorizedUser"},
	errdefs.Forbidden:    {403, "forbidden"},
	errdefs.NotFound:     {404, "notFound"},
	errdefs.Conflict:     {409, "conflict"},
	errdefs.TooLarge:     {413, "payloadTooLarge"},
	errdefs.TooMany:      {429, "tooManyRequests"},
	errdefs.Unavailable:  {503, "unavailable"},
}

// retryUnavailable is the Retry-After of an answer without a more exact time.
const retryUnavailable = 5 * time.Second

// failed returns the answer for an error. It is the only place where kinds are mapped to statuses.
func failed(err error) Reply {
	kind := errdefs.KindOf(err)
	s := statuses[kind]
	f := failure{ErrorCode: s.code}
	var e *errdefs.Error
	if errors.As(err, &e) {
		f.ErrorMessage = e.Message
	}
	out := Reply{Status: s.status}
	switch kind {
	case errdefs.Unauthorized:
		f.ErrorMessage = ""
	case errdefs.Invalid:
		f.Details = errdefs.Cap(e.Details)
	case errdefs.Internal:
		f.ErrorMessage = "an internal error occurred; the log of the service has it under the request id"
		var lost interface{ Damaged() bool } // of the store
		if errors.As(err, &lost) && lost.Damaged() {
			f.ErrorMessage = "the data cannot be read, because the store is damaged; an administrator of the appliance can restore a backup"
		}
	case errdefs.TooMany, errdefs.Unavailable:
		wait := retryUnavailable
		if e != nil && e.RetryAfter > 0 {
			wait = e.RetryAfter
		}
		var passing interface { // of the store; the errors that wrap it have names of files and keys
			error
			Unavailable() bool
		}
		if f.ErrorMessage == "" && errors.As(err, &passing) {
			f.ErrorMessage = "the service cannot do this now: " + passing.Error()
		}
		out.Header = [][2]string{{"Retry-After", strconv.Itoa(int((wait + time.Second - 1) / time.Second))}}
	}
	out.Body, err = Marshal(f)
	if err != nil {
		out.Body = []byte(`{"isSuccess":false,"errorCode":"internalServerError","errorMessage":"the error could not be written"}`)
	}
	return out
}

// write sends a reply and returns its status.
func (a *API) write(w http.ResponseWriter, r *http.Request, out Reply) int {
	h := w.Header()
	h["X-Content-Type-Options"] = nosniff
	for _, c := range out.Cookies {
		http.SetCookie(w, c)
	}
	if out.Chunked != nil {
		return a.writeChunked(w, r, out.Chunked)
	}
	if out.Stream != nil {
		return a.writeStream(w, r, out.Stream)
	}
	if out.Send != nil {
		for _, kv := range out.Header {
			h.Set(kv[0], kv[1])
		}
		return out.Send(w, r)
	}
	if out.Representation != nil {
		return a.writeRepresentation(w, r, out.Representation)
	}
	h["X-Time"] = []string{strconv.FormatInt(a.time(), 10)}
	for _, kv := range out.Header {
		h.Set(kv[0], kv[1])
	}
	if _, set := h["Cache-Control"]; !set {
		h["Cache-Control"] = NoStore
	}
	status := out.Status
	if status == 0 {
		status = http.StatusOK
	}
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return status
	}
	h["Content-Type"] = JSONType
	if out.Kind != "" {
		h.Set("Content-Type", out.Kind)
	}
	body := out.Body
	if len(body) > compressFrom {
		h["Vary"] = varyEncoding
		if negotiate.Gzip(r.Header["Accept-Encoding"]) {
			body = compress(body)
			h["Content-Encoding"] = gzipEncoding
		}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	a.send(w, body)
	return status
}

// Fail answers with an error where Send finds one before it has written anything.
func (c *Call) Fail(w http.ResponseWriter, r *http.Request, err error) int {
	return c.api.write(w, r, failed(err))
}

// time returns the floor's time, ms. A tablet that was offline sends its past actions in this time, whatever its own
// clock shows.
func (a *API) time() int64 {
	if a.cfg.Floor == nil {
		return time.Now().UnixMilli()
	}
	return a.cfg.Floor.Time()
}

// writeStream runs a long operation and streams its progress. An error is sent at the end of the stream, in the format
// of an error's body.
func (a *API) writeStream(w http.ResponseWriter, r *http.Request, run func(context.Context, *control.Stream) (any, error)) int {
	h := w.Header()
	h["Cache-Control"] = NoStore
	h.Set("Content-Type", control.StreamType)
	out := control.NewStream(w, http.NewResponseController(w).Flush)
	status := http.StatusOK
	result, err := run(r.Context(), out)
	var end []byte
	if err == nil {
		end, err = Marshal(result)
	}
	if err != nil {
		a.log.Warn("a long operation failed", slog.Any("error", err))
		out := failed(err)
		status, end = out.Status, out.Body
		// streams are only for the local command line, which may know the cause
		if errdefs.KindOf(err) == errdefs.Internal {
			// cannot fail for strings
			end, _ = Marshal(failure{ErrorCode: statuses[errdefs.Internal].code, ErrorMessage: err.Error()})
		}
	}
	if err := out.End(end, err != nil); err != nil {
		a.log.Debug("answer not taken", slog.Any("error", err))
	}
	return status
}

func (a *API) writeRepresentation(w http.ResponseWriter, r *http.Request, rep *account.Representation) int {
	h := w.Header()
	h["Cache-Control"] = revalidate
	h["Vary"] = varyAll
	zip := rep.Size > compressFrom && negotiate.Gzip(r.Header["Accept-Encoding"])
	tag := rep.ETag
	if zip {
		tag = rep.GzipETag
	}
	h["Etag"] = []string{tag}
	if negotiate.Matches(r.Header["If-None-Match"], tag) {
		w.WriteHeader(http.StatusNotModified)
		return http.StatusNotModified
	}
	h["Content-Type"] = JSONType
	size := rep.Size
	if zip {
		body := rep.Gzip()
		size = len(body)
		h["Content-Encoding"] = gzipEncoding
		h["Content-Length"] = []string{strconv.Itoa(size)}
		a.allow(w, size)
		a.send(w, body)
		return http.StatusOK
	}
	h["Content-Length"] = []string{rep.Length}
	a.allow(w, size)
	a.send(w, rep.Pieces()...)
	return http.StatusOK
}

// allow extends the write deadline for a large answer to a slow tablet; the server's own deadline is for small ones.
func (a *API) allow(w http.ResponseWriter, size int) {
	if size > BodyLimit {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute + time.Duration(size/slowestWriteBytes)*time.Second))
	}
}

// send writes a body. A client that has disconnected is not an error.
func (a *API) send(w http.ResponseWriter, parts ...[]byte) {
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			a.log.Debug("answer not taken", slog.Any("error", err))
			return
		}
	}
}

var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func compress(b []byte) []byte {
	z := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	out := &sliceWriter{b: make([]byte, 0, len(b)/3+64)}
	z.Reset(out)
	z.Write(b) // cannot fail for a slice
	z.Close()
	return out.b
}

type sliceWriter struct{ b []byte }

func (w *sliceWriter) Write(p []byte) (int, error) {
	w.b = append(w.b, p...)
	return len(p), nil
}

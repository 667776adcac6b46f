package rest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzip"

	"opsmon/app/errdefs"
	"opsmon/app/negotiate"
)

// chunkedSlack is how long a client may read nothing of a long answer. chunkedRate is the smallest average rate at
// which it must read, bytes per second, because a slow reader would occupy its slot for hours. chunkedHeld is the
// largest answer, bytes, that is buffered until it is complete: it then has a length, and an error is answered
// normally.
const (
	chunkedSlack = 30 * time.Second
	chunkedRate  = 32 << 10
	chunkedHeld  = 1 << 20
)

// Chunked is an answer that is generated while it is sent, because it may not fit into memory.
type Chunked struct {
	Kind string // content type
	Name string // of the file to download; "": no download
	Run  func(ctx context.Context, w io.Writer) error
	done []func() // called after it was sent or failed
}

// whenMade runs done after an answer has been generated. An answer generated while it is sent needs the store and its
// slot until then.
func (out *Reply) whenMade(err error, done func()) {
	if err == nil && out.Chunked != nil {
		out.Chunked.done = append(out.Chunked.done, done)
		return
	}
	done()
}

// ChunkedList replies {isSuccess: true, results} with n results, which are generated one by one while they are sent.
func ChunkedList(n int, result func(i int) any) Reply {
	return Reply{Chunked: &Chunked{Kind: JSONType[0], Run: func(ctx context.Context, w io.Writer) error {
		b := bufio.NewWriterSize(w, 64<<10)
		b.WriteString(`{"isSuccess":true,"results":[`)
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if i > 0 {
				b.WriteByte(',')
			}
			text, err := Marshal(result(i))
			if err == nil {
				_, err = b.Write(text)
			}
			if err != nil {
				return err
			}
		}
		b.WriteString("]}") // the writer keeps errors
		return b.Flush()
	}}}
}

// CutChunked aborts the long answers in progress. It returns at once.
func (a *API) CutChunked() { a.cut() }

// writeChunked sends such an answer. An error in the middle of a long one closes the connection, so the client notices
// the missing part.
func (a *API) writeChunked(w http.ResponseWriter, r *http.Request, p *Chunked) int {
	for _, done := range p.done {
		defer done()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.cutting, cancel)()
	h := w.Header()
	if p.Name != "" {
		h.Set("Content-Disposition", `attachment; filename="`+p.Name+`"`)
	}
	out := &chunkedWriter{
		w: w, rc: http.NewResponseController(w), head: r.Method == http.MethodHead, zip: negotiate.Gzip(r.Header["Accept-Encoding"]),
		kind: p.Kind, now: a.time, slack: chunkedSlack,
	}
	err := p.Run(ctx, out)
	if err != nil && a.cutting.Err() != nil {
		err = errdefs.New(errdefs.Unavailable, "%v", errClosing)
	}
	switch {
	case out.to == nil && err == nil:
		return a.write(w, r, Reply{Body: out.held, Kind: p.Kind})
	case out.to == nil && !errors.Is(err, errHead):
		h.Del("Content-Disposition")
		a.log.Error("a long answer could not be made", slog.Any("error", err))
		return a.write(w, r, failed(err))
	case errors.Is(err, errHead):
		return http.StatusOK
	}
	if z, ok := out.to.(*gzip.Writer); ok && err == nil {
		err = z.Close()
	}
	if err == nil {
		return http.StatusOK
	}
	if out.failed || ctx.Err() != nil {
		a.log.Debug("answer not taken", slog.Any("error", err))
	} else {
		a.log.Error("a long answer was cut off", slog.Any("error", err))
	}
	panic(http.ErrAbortHandler)
}

// errHead ends an answer after its headers, for a HEAD request.
var errHead = errors.New("only the head is wanted")

// chunkedWriter buffers an answer until it is too long.
type chunkedWriter struct {
	w         http.ResponseWriter
	rc        *http.ResponseController
	head, zip bool
	kind      string
	now       func() int64 // the service's time, Unix ms
	held      []byte
	to        io.Writer // nil while it is buffered
	failed    bool      // the client does not read
	slack     time.Duration
}

// Write implements io.Writer.
func (p *chunkedWriter) Write(b []byte) (int, error) {
	if p.to != nil {
		return p.to.Write(b)
	}
	if p.held = append(p.held, b...); len(p.held) <= chunkedHeld {
		return len(b), nil
	}
	h := p.w.Header()
	h["Cache-Control"], h["Vary"] = NoStore, varyEncoding
	h["X-Time"] = []string{strconv.FormatInt(p.now(), 10)}
	h.Set("Content-Type", p.kind)
	if p.to = (*piecewise)(p); p.zip {
		h["Content-Encoding"] = gzipEncoding
		p.to, _ = gzip.NewWriterLevel((*piecewise)(p), gzip.BestSpeed) // the level is a known one
	}
	p.w.WriteHeader(http.StatusOK)
	if p.head {
		return 0, errHead
	}
	held := p.held
	p.held = nil
	if _, err := p.to.Write(held); err != nil {
		return 0, err
	}
	return len(b), nil
}

// piecewise gives the client time for the data sent, plus a margin. Only the time of writes counts, because the client
// has no influence on the generation of the answer.
type piecewise chunkedWriter

// errSlow ends an answer whose client reads too slowly.
var errSlow = errors.New("the client takes the answer too slowly")

// Write implements io.Writer.
func (p *piecewise) Write(b []byte) (int, error) {
	began := time.Now()
	most := p.slack + time.Duration(len(b))*time.Second/chunkedRate
	_ = p.rc.SetWriteDeadline(began.Add(most)) // a connection without deadlines ends with the server
	n, err := p.w.Write(b)
	left := most - time.Since(began)
	if p.slack = min(left, chunkedSlack); err == nil && left < 0 {
		err = errSlow
	}
	p.failed = p.failed || err != nil
	return n, err
}

package httpapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzip"

	"opsmon/app/engine/calendar"
	"opsmon/app/engine/report"
	"opsmon/app/engine/station"
	"opsmon/app/errdefs"
	"opsmon/app/negotiate"
)

// chosenBy are the query parameters that choose stations and time.
func chosenBy() []string {
	return []string{"plantcode", "groupcode", "stationcodes", "from", "to", "rangecode", "archived"}
}

// choose reads which stations and which time a request is about, and returns all that is wrong with the query. The time may be
// left out where fallback names one.
func (c *call) choose(most time.Duration, fallback string) (*report.Selection, error) {
	plan, all, err := c.allStations()
	if err != nil {
		return nil, err
	}
	x, err := c.over(c.stationsOf(all), most, fallback)
	if err != nil {
		return nil, err
	}
	x.Plan, x.Named, x.Grouped = plan, c.query("stationcodes") != "", c.query("groupcode") != ""
	return x, nil
}

// oneStation returns the station that a request names, as a list; none when it names none that is known.
func (c *call) oneStation() ([]*station.Station, error) {
	_, all, err := c.allStations()
	if err != nil {
		return nil, err
	}
	code := c.query("stationcode")
	at := slices.IndexFunc(all, func(s *station.Station) bool { return s.Code == code })
	switch {
	case code == "":
		c.fault("stationcode", "must be given: the code of a station")
	case at < 0:
		c.fault("stationcode", "names the station %s, which the account does not have", errdefs.Shorten(code))
	default:
		return all[at : at+1], nil
	}
	return nil, nil
}

// chooseOne reads the one station, and the time, that a request is about.
func (c *call) chooseOne(most time.Duration) (*report.Selection, error) {
	s, err := c.oneStation()
	if err != nil {
		return nil, err
	}
	return c.over(s, most, "")
}

// over reads which time of some stations a request is about, and returns all that is wrong with the query.
func (c *call) over(chosen []*station.Station, most time.Duration, fallback string) (*report.Selection, error) {
	x := &report.Selection{Account: c.p.AccountID, Now: c.api.cfg.Floor.Time()}
	if len(chosen) == 0 { // the query is checked all the same, and the answer names its time
		r, _ := c.rangeOf(utcDays, most, fallback)
		x.From, x.To = report.Minutes(r, x.Now)
		return x, c.unclear()
	}
	var r calendar.Range
	for i, s := range chosen {
		if i == 0 || s.Plant != chosen[i-1].Plant || s.Archived != chosen[i-1].Archived {
			r, _ = c.rangeOf(s.Calendar, most, fallback)
		}
		x.Add(s, r)
	}
	return x, c.unclear()
}

// allStations returns the plan in force and all its stations, with archived=true also those that have left it.
func (c *call) allStations() (plan *station.Plan, all []*station.Station, err error) {
	f := c.api.cfg.Floor
	if !c.on("archived") {
		if plan, err = f.Plan(c.p.AccountID); err != nil {
			return nil, nil, err
		}
		return plan, plan.Stations, nil
	}
	plan, gone, err := f.Stations(c.p.AccountID)
	if err != nil {
		return nil, nil, err
	}
	return plan, slices.Concat(plan.Stations, gone), nil
}

// chunkedSlack is how long a client may take nothing of a long answer, and chunkedRate how much of it, in bytes a second, it has to
// take on the whole: a reader that only trickles would hold its slot for hours. chunkedHeld is how long an answer may be, in
// bytes, and be held back until it is whole: then it has a length, and a failure is told as any other.
const (
	chunkedSlack = 30 * time.Second
	chunkedRate  = 32 << 10
	chunkedHeld  = 1 << 20
)

// chunked is an answer that is made while it is sent: it may be too long to be in memory as a whole.
type chunked struct {
	kind string // content type
	name string // of the file that it is to be kept as; "" = it is none
	run  func(ctx context.Context, w io.Writer) error
	done []func() // when it is sent, or cannot be
}

// whenMade calls what is to be done when an answer has been made: one that is made while it is sent needs the store and its
// turn until then.
func (out *reply) whenMade(err error, done func()) {
	if err == nil && out.chunked != nil {
		out.chunked.done = append(out.chunked.done, done)
		return
	}
	done()
}

// chunkedList answers {isSuccess: true, results} with n results, which are made one by one while they are sent.
func chunkedList(n int, result func(i int) any) reply {
	return reply{chunked: &chunked{kind: jsonType[0], run: func(ctx context.Context, w io.Writer) error {
		b := bufio.NewWriterSize(w, 64<<10)
		b.WriteString(`{"isSuccess":true,"results":[`)
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if i > 0 {
				b.WriteByte(',')
			}
			text, err := marshal(result(i))
			if err == nil {
				_, err = b.Write(text)
			}
			if err != nil {
				return err
			}
		}
		b.WriteString("]}") // an error stays with the writer
		return b.Flush()
	}}}
}

// CutChunked ends the long answers that are being made. It returns at once.
func (a *API) CutChunked() { a.cut() }

// writeChunked sends such an answer. An error in the middle of a long one cuts the connection: the client sees that something
// is missing.
func (a *API) writeChunked(w http.ResponseWriter, r *http.Request, p *chunked) int {
	for _, done := range p.done {
		defer done()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.cutting, cancel)()
	h := w.Header()
	if p.name != "" {
		h.Set("Content-Disposition", `attachment; filename="`+p.name+`"`)
	}
	out := &chunkedWriter{
		w: w, rc: http.NewResponseController(w), head: r.Method == http.MethodHead, zip: negotiate.Gzip(r.Header["Accept-Encoding"]),
		kind: p.kind, now: a.time, slack: chunkedSlack,
	}
	err := p.run(ctx, out)
	if err != nil && a.cutting.Err() != nil {
		err = errdefs.New(errdefs.Unavailable, "%v", errClosing)
	}
	switch {
	case out.to == nil && err == nil:
		return a.write(w, r, reply{body: out.held, kind: p.kind})
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

// errHead ends an answer of which only the head is wanted.
var errHead = errors.New("only the head is wanted")

// chunkedWriter holds an answer back until it is too long for that.
type chunkedWriter struct {
	w         http.ResponseWriter
	rc        *http.ResponseController
	head, zip bool
	kind      string
	now       func() int64 // the service's time, Unix ms
	held      []byte
	to        io.Writer // nil as long as it is held
	failed    bool      // the client does not take it
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
	h["Cache-Control"], h["Vary"] = noStore, varyEncoding
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

// piecewise gives the client time for what it takes, and some more. Only the time spent on sending counts: making the answer
// is not the client's doing.
type piecewise chunkedWriter

// errSlow ends an answer whose client takes it too slowly.
var errSlow = errors.New("the client takes the answer too slowly")

// Write implements io.Writer.
func (p *piecewise) Write(b []byte) (int, error) {
	began := time.Now()
	most := p.slack + time.Duration(len(b))*time.Second/chunkedRate
	_ = p.rc.SetWriteDeadline(began.Add(most)) // a connection that cannot take one ends with the server
	n, err := p.w.Write(b)
	left := most - time.Since(began)
	if p.slack = min(left, chunkedSlack); err == nil && left < 0 {
		err = errSlow
	}
	p.failed = p.failed || err != nil
	return n, err
}

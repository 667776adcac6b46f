package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// ReplayConfig has the settings of Replay.
type ReplayConfig struct {
	Log      io.ReadSeeker
	Format   Format
	Send     Send
	ShiftNow bool    // shift all times equally, so that the last signal is sent at its own time
	Speed    float64 // time of the log per real time; 0: as fast as the service accepts it
	Batch    int     // largest number of signals in a request; 0: 1000
	Patience time.Duration
	// Refused is called for each refused line, Noted for each line accepted with a remark. nil: no call.
	Refused, Noted func(line int, issue string)
	Waiting        func(why string) // called while the service is busy; nil: no call
}

// Replayed is the result of a replay.
type Replayed struct {
	Signals  int `json:"signals"`  // lines that are not empty
	Accepted int `json:"accepted"` // accepted signals
	Refused  int `json:"refused"`
	Noted    int `json:"noted"` // accepted with a remark, such as a repeated ID
}

// batchBytes limits the size of a request, whatever the number of its signals.
const batchBytes = 1 << 20

// replay is one run of Replay.
type replay struct {
	cfg    ReplayConfig
	client client
	done   Replayed
	shift  int64 // added to every time, ms

	body  []byte
	lines []int // of the signals in body
}

// Replay sends a log of signals to a service in the order of its lines. An invalid line does not stop the rest. Errors:
// those of reading the log, ctx's, and that of a service that does not answer. With an error the counts are those known
// so far.
func Replay(ctx context.Context, cfg ReplayConfig) (Replayed, error) {
	if cfg.Batch <= 0 {
		cfg.Batch = 1000
	}
	r := &replay{cfg: cfg, client: client{send: cfg.Send, patience: cfg.Patience, waiting: cfg.Waiting}}
	first, last := int64(0), int64(0)
	if cfg.ShiftNow || cfg.Speed > 0 {
		var err error
		if first, last, err = span(cfg); err != nil {
			return r.done, err
		}
	}
	began := time.Now()
	if cfg.ShiftNow && last != 0 {
		r.shift = began.UnixMilli() - last
		if cfg.Speed > 0 {
			r.shift += int64(float64(last-first) / cfg.Speed)
		}
	}
	reader, err := newReader(cfg)
	if err != nil {
		return r.done, err
	}
	for {
		e, err := reader.next()
		if errors.Is(err, io.EOF) {
			return r.done, r.flush(ctx)
		}
		if err != nil {
			return r.done, errors.Join(err, r.flush(ctx))
		}
		if err := r.take(ctx, e, first, began); err != nil {
			return r.done, err
		}
	}
}

// span returns the earliest and the latest time of a log; 0 for a log without times.
func span(cfg ReplayConfig) (first, last int64, err error) {
	reader, err := newReader(cfg)
	if err != nil {
		return 0, 0, err
	}
	first = math.MaxInt64
	for {
		e, err := reader.next()
		switch {
		case errors.Is(err, io.EOF) && last == 0:
			return 0, 0, nil
		case errors.Is(err, io.EOF):
			return first, last, nil
		case err != nil:
			return 0, 0, err
		case e.issue == "" && e.at != 0:
			first, last = min(first, e.at), max(last, e.at)
		}
	}
}

// take adds a line to the next request when its time has come.
func (r *replay) take(ctx context.Context, e entry, first int64, began time.Time) error {
	r.done.Signals++
	if e.issue != "" {
		r.refuse(e.line, e.issue)
		return nil
	}
	if r.cfg.Speed > 0 && e.at != 0 {
		due := time.Duration(float64(e.at-first) / r.cfg.Speed * float64(time.Millisecond))
		if ahead := due - time.Since(began); ahead > 100*time.Millisecond {
			if err := r.flush(ctx); err != nil {
				return err
			}
			if err := sleep(ctx, ahead); err != nil {
				return err
			}
		}
	}
	if len(r.lines) > 0 {
		r.body = append(r.body, ',')
	}
	r.body = e.appendObject(r.body, r.shift)
	if r.lines = append(r.lines, e.line); len(r.lines) >= r.cfg.Batch || len(r.body) >= batchBytes {
		return r.flush(ctx)
	}
	return nil
}

func (r *replay) refuse(line int, issue string) {
	r.done.Refused++
	if r.cfg.Refused != nil {
		r.cfg.Refused(line, issue)
	}
}

// flush sends the queued lines.
func (r *replay) flush(ctx context.Context) error {
	if len(r.lines) == 0 {
		return nil
	}
	lines := r.lines
	outcomes, err := r.client.signals(ctx, r.body)
	r.body, r.lines = r.body[:0], r.lines[:0]
	var no *Refusal
	switch {
	case errors.As(err, &no) && no.Status != unauthorized && no.Status != forbidden && no.Status != tooManyRequests && no.Status != unavailable:
		for _, line := range lines {
			r.refuse(line, no.Error())
		}
		return nil
	case err != nil:
		return fmt.Errorf("lines %d to %d: %w; it is not known whether they were taken, all before them were sent", lines[0], lines[len(lines)-1], err)
	}
	for _, o := range outcomes {
		switch {
		case o.Index < 0 || o.Index >= len(lines):
			return fmt.Errorf("the service answered for a signal %d of %d", o.Index, len(lines))
		case !o.Accepted:
			r.refuse(lines[o.Index], o.Issue)
			continue
		case o.Issue != "":
			r.done.Noted++
			if r.cfg.Noted != nil {
				r.cfg.Noted(lines[o.Index], o.Issue)
			}
		}
		r.done.Accepted++
	}
	return nil
}

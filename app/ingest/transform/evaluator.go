package transform

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// EvaluatorConfig is what NewEvaluator needs.
type EvaluatorConfig struct {
	Command    []string // the program, and the arguments with which it calls Work on its standard streams
	Expression string   // that CheckExpression finds nothing wrong with
	Timeout    time.Duration
	Memory     int64 // bytes that the process may take
	Log        *slog.Logger
}

// What an evaluation may take when nothing else is said.
const (
	DefaultTimeout = time.Second
	DefaultMemory  = 256 << 20

	startTime = 10 * time.Second // for a worker to get ready
	maxOutput = 1 << 20          // bytes of a result
	tellEvery = time.Minute      // how often the end of workers is logged
)

// Evaluator evaluates an expression of a user's in a child process, since an evaluation has no time-out of its own and can
// end the process. A worker that hangs, or takes too much memory, is ended and the next input gets a new one. All methods may
// be called at any time from any goroutine; inputs are evaluated one after the other.
type Evaluator struct {
	cfg EvaluatorConfig

	mu     sync.Mutex
	worker *worker
	closed bool
	told   time.Time
}

// worker is a child process.
type worker struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	w   *bufio.Writer
	r   *bufio.Reader
}

// InputError says that an input has no result: the expression fails for it, hangs or takes too much.
type InputError struct{ Reason string }

// Error implements error.
func (e *InputError) Error() string { return "the expression " + e.Reason }

// ErrClosed says that the evaluator was closed.
var ErrClosed = errors.New("the evaluator is closed")

// NewEvaluator makes an evaluator. The worker starts with the first input. The caller closes it.
func NewEvaluator(cfg EvaluatorConfig) *Evaluator {
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Memory == 0 {
		cfg.Memory = DefaultMemory
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Evaluator{cfg: cfg}
}

// CheckExpression returns what is wrong with an expression; nil when nothing is. It is not evaluated.
func CheckExpression(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("is empty")
	case len(text) > MaxExpression:
		return fmt.Errorf("must be %d bytes or fewer; it has %d", MaxExpression, len(text))
	case patternCost(text) > maxPattern:
		return errors.New("must not repeat so much in regular expressions; one is too large with its {…} written out")
	}
	if err := compile(text); err != nil {
		return fmt.Errorf("must be a JSONata expression: %w", err)
	}
	return nil
}

// Evaluate returns the value of the expression for an input, as JSON; nil when it gives nothing. vars are what the expression
// can use as $name. Errors: *InputError when the input has no result; others when no worker can be started, for which the same
// input may be tried again; ErrClosed; ctx's.
func (e *Evaluator) Evaluate(ctx context.Context, input json.RawMessage, vars map[string]string) (json.RawMessage, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if e.worker == nil {
		w, err := e.start(ctx)
		if err != nil {
			return nil, err
		}
		e.worker = w
	}
	var out workOutput
	hung, err := e.worker.within(ctx, e.cfg.Timeout, func() error {
		if err := writeFrame(e.worker.w, workInput{input, vars}); err != nil {
			return err
		}
		return readFrame(e.worker.r, maxFrame, &out)
	})
	switch {
	case err == nil && out.Error != "":
		return nil, &InputError{out.Error}
	case err == nil:
		return out.Value, nil
	}
	e.worker.end()
	e.worker = nil
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	why := "took too much memory, or calls itself without an end"
	if hung {
		why = fmt.Sprintf("did not end within %s", e.cfg.Timeout)
	}
	if now := time.Now(); now.Sub(e.told) > tellEvery {
		e.told = now
		e.cfg.Log.Warn("an expression was ended, and goes on with the next input", slog.String("why", why))
	}
	return nil, &InputError{why}
}

// Close ends the worker. An evaluation that goes on is finished first.
func (e *Evaluator) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.worker != nil {
		e.worker.end()
		e.worker = nil
	}
}

func (e *Evaluator) start(ctx context.Context) (*worker, error) {
	cmd := exec.Command(e.cfg.Command[0], e.cfg.Command[1:]...)
	cmd.Env = []string{"GOMAXPROCS=1"} // and no secret of ours
	if root := os.Getenv("SystemRoot"); root != "" {
		cmd.Env = append(cmd.Env, "SystemRoot="+root)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	w := &worker{cmd: cmd, in: in, w: bufio.NewWriter(in), r: bufio.NewReader(out)}
	_, err = w.within(ctx, startTime, func() error {
		// It ends itself later than it would be ended, for when this process is no more.
		if err := writeFrame(w.w, workStart{e.cfg.Expression, e.cfg.Memory, 2 * e.cfg.Timeout, maxOutput}); err != nil {
			return err
		}
		return readFrame(w.r, maxFrame, new(workOutput))
	})
	if err != nil {
		w.end()
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	return w, nil
}

// within runs what speaks to the worker, which is ended when that takes too long; hung tells that it did.
func (w *worker) within(ctx context.Context, limit time.Duration, speak func() error) (hung bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = w.cmd.Process.Kill() }) // it may have ended
	err = speak()
	stop()
	return errors.Is(ctx.Err(), context.DeadlineExceeded), err
}

// end ends the process.
func (w *worker) end() {
	_ = w.in.Close()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait() // how it ended tells nothing more
}

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

// EvaluatorConfig configures an Evaluator.
type EvaluatorConfig struct {
	Command    []string // the program with arguments that make it call Work on its standard streams
	Expression string   // must be accepted by CheckExpression
	Timeout    time.Duration
	Memory     int64 // limit for the process, in bytes
	Log        *slog.Logger
}

// Default limits of an evaluation.
const (
	DefaultTimeout = time.Second
	DefaultMemory  = 256 << 20

	startTime = 10 * time.Second // for the start of a worker
	maxOutput = 1 << 20          // maximum size of a result, in bytes
	tellEvery = time.Minute      // minimum time between log messages about ended workers
)

// Evaluator evaluates a user's expression in a child process, because an evaluation has no timeout and can crash the
// process. A worker that hangs or uses too much memory is killed, and the next input gets a new one. All methods may
// be called concurrently; inputs are evaluated sequentially.
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

// InputError means that an input has no result: the expression fails for it, hangs or uses too much memory.
type InputError struct{ Reason string }

// Error implements error.
func (e *InputError) Error() string { return "the expression " + e.Reason }

// ErrClosed means that the evaluator was closed.
var ErrClosed = errors.New("the evaluator is closed")

// NewEvaluator returns an evaluator, which the caller must close. The worker starts with the first input.
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

// CheckExpression returns the problem of an expression, or nil. It does not evaluate the expression.
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

// Evaluate returns the value of the expression for an input, as JSON; nil if it has none. The expression can refer to
// vars as $name. Errors: *InputError if the input has no result; others if no worker can be started, after which the
// same input may be retried; ErrClosed; that of ctx.
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
		e.cfg.Log.Warn("worker of an expression was killed; the next input gets a new one", slog.String("why", why))
	}
	return nil, &InputError{why}
}

// Close ends the worker, after a running evaluation.
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
	cmd.Env = []string{"GOMAXPROCS=1"} // excludes our secrets
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
		// The worker's own timeout is longer, in case this process has died.
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

// within runs speak, which communicates with the worker, and kills the worker after limit; hung reports whether it
// did.
func (w *worker) within(ctx context.Context, limit time.Duration, speak func() error) (hung bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = w.cmd.Process.Kill() }) // may have ended
	err = speak()
	stop()
	return errors.Is(ctx.Err(), context.DeadlineExceeded), err
}

// end ends the process.
func (w *worker) end() {
	_ = w.in.Close()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait() // the exit status adds no information
}

package transform

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	jsonata "github.com/blues/jsonata-go"
)

// A worker is a child process that evaluates one expression; Evaluator starts it. They communicate in frames: the
// length of a JSON document in four bytes, big-endian, and the document. The first frame configures the worker; each
// further one is an input, which the worker answers with one frame.
type (
	workStart struct {
		Expression string        `json:"expression"`
		Memory     int64         `json:"memory"`  // memory limit of the process, in bytes
		Timeout    time.Duration `json:"timeout"` // after which the worker ends itself
		Output     int           `json:"output"`  // maximum size of a result, in bytes
	}
	workInput struct {
		Input json.RawMessage   `json:"input"`
		Vars  map[string]string `json:"vars"` // $topic and so on
	}
	workOutput struct {
		Value json.RawMessage `json:"value,omitempty"` // absent: the expression has no value for this input
		Error string          `json:"error,omitempty"`
	}
)

// maxStack is the maximum stack of an expression's recursion, in bytes. Exceeding it ends the process.
const maxStack = 64 << 20

// exitHung is the exit status of a worker that ended itself after the timeout.
const exitHung = 3

// Work evaluates the inputs from in until it ends. It must run in its own process. Errors: those of the expression
// and of the streams.
func Work(in io.Reader, out io.Writer) error {
	r, w := bufio.NewReader(in), bufio.NewWriter(out)
	var start workStart
	if err := readFrame(r, MaxExpression*8, &start); err != nil {
		return fmt.Errorf("read the configuration of a worker: %w", err)
	}
	if err := limitMemory(start.Memory); err != nil {
		return fmt.Errorf("limit the memory of a worker: %w", err)
	}
	debug.SetMemoryLimit(start.Memory * 3 / 4)
	debug.SetMaxStack(maxStack)
	expression, err := compiled(start.Expression)
	if err != nil {
		return err
	}
	if err := writeFrame(w, workOutput{}); err != nil { // it is ready
		return err
	}
	for {
		var input workInput
		if err := readFrame(r, maxFrame, &input); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		hung := time.AfterFunc(start.Timeout, func() { os.Exit(exitHung) })
		result := answer(expression, &input)
		hung.Stop()
		if len(result.Value) > start.Output {
			result = workOutput{Error: fmt.Sprintf("returned more than %d bytes", start.Output)}
		}
		if err := writeFrame(w, result); err != nil {
			return err
		}
	}
}

// compiled compiles an expression for evaluation.
func compiled(text string) (e *jsonata.Expr, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("compile the expression: %v", r)
		}
	}()
	return jsonata.Compile(text)
}

// answer evaluates an input.
func answer(e *jsonata.Expr, in *workInput) (out workOutput) {
	defer func() {
		if r := recover(); r != nil {
			out = workOutput{Error: fmt.Sprintf("fails: %v", r)}
		}
	}()
	var data any
	if err := json.Unmarshal(in.Input, &data); err != nil {
		return workOutput{Error: "the input is not JSON"}
	}
	vars := make(map[string]any, len(in.Vars))
	for name, v := range in.Vars {
		vars[name] = v
	}
	if err := e.RegisterVars(vars); err != nil {
		return workOutput{Error: err.Error()}
	}
	v, err := e.Eval(data)
	if errors.Is(err, jsonata.ErrUndefined) || err == nil && v == nil {
		return workOutput{}
	}
	if err != nil {
		return workOutput{Error: err.Error()}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // infinite numbers, functions
		return workOutput{Error: "did not return JSON: " + err.Error()}
	}
	return workOutput{Value: bytes.TrimSpace(b.Bytes())}
}

// maxFrame bounds a frame, in bytes.
const maxFrame = 4 << 20

func readFrame(r *bufio.Reader, most int, into any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:1]); err != nil {
		return err // an end between frames is one
	}
	if _, err := io.ReadFull(r, head[1:]); err != nil {
		return fmt.Errorf("read a frame: %w", noEnd(err))
	}
	n := binary.BigEndian.Uint32(head[:])
	if int64(n) > int64(most) {
		return fmt.Errorf("a frame of %d bytes is more than %d", n, most)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return fmt.Errorf("read a frame: %w", noEnd(err))
	}
	return json.Unmarshal(b, into)
}

func noEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func writeFrame(w *bufio.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var head [4]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(b)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return err
	}
	return w.Flush()
}

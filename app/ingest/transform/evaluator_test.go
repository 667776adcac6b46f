package transform

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain also runs the worker: tests start this binary as a worker.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "work" {
		if err := Work(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func evaluator(t testing.TB, expression string, timeout time.Duration) *Evaluator {
	t.Helper()
	if err := CheckExpression(expression); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := NewEvaluator(EvaluatorConfig{Command: []string{program, "work"}, Expression: expression, Timeout: timeout, Memory: 512 << 20})
	t.Cleanup(e.Close)
	return e
}

// TestEvaluate checks that an expression has a value, or an error with the reason.
func TestEvaluate(t *testing.T) {
	for _, c := range []struct{ expression, input, want, issue string }{
		{`{"line_speed": speed * 60}`, `{"speed": 1.5}`, `{"line_speed":90}`, ""},
		{`tags[name="good"].{"production_count": value, "station_code": $station}`, `{"tags":[{"name":"good","value":7},{"name":"bad","value":1}]}`, `{"production_count":7,"station_code":"S1"}`, ""},
		{`nothing.at.all`, `{}`, "", ""},
		{`null`, `{}`, "", ""},
		{`$topic`, `1`, `"plant/S1"`, ""},
		{`$`, `"text that was no JSON"`, `"text that was no JSON"`, ""},
		{`$number(x)`, `{"x":"y"}`, "", "the expression"},
		{`1/0`, `1`, "", "the expression"},
		{`$sum`, `1`, `""`, ""}, // not JSON: the result is that of the library
		{`$pad("x", 3000000)`, `1`, "", "returned more than 1048576 bytes"},
	} {
		got, err := evaluator(t, c.expression, 0).Evaluate(t.Context(), json.RawMessage(c.input), map[string]string{"topic": "plant/S1", "station": "S1"})
		if string(got) != c.want {
			t.Errorf("%s of %s is %s, want %s", c.expression, c.input, got, c.want)
		}
		var no *InputError
		if (err != nil) != (c.issue != "") || err != nil && (!errors.As(err, &no) || !strings.Contains(err.Error(), c.issue)) {
			t.Errorf("%s of %s: %v, want %q", c.expression, c.input, err, c.issue)
		}
	}
}

// TestHungAndGreedy checks that an expression that never ends, recurses infinitely or uses all memory is ended, and
// that the next input is evaluated.
func TestHungAndGreedy(t *testing.T) {
	const timeout = time.Second
	for name, expression := range map[string]string{
		"calls itself": `(input = "bad" ? ($f := function($n) { 1 + $f($n + 1) }; $f(1)) : 1)`,
		"memory":       `(input = "bad" ? ($f := function($s) { $f($s & $s) }; $f("xxxxxxxxxxxxxxxx")) : 1)`,
		"hangs":        `(input = "bad" ? ($f := function($n) { $n < 2 ? 1 : $f($n - 1) + $f($n - 2) }; $f(80)) : 1)`,
	} {
		e := evaluator(t, expression, timeout)
		for range 2 {
			began := time.Now()
			if v, err := e.Evaluate(t.Context(), json.RawMessage(`{"input":"bad"}`), nil); err == nil {
				t.Errorf("%s: is %s", name, v)
			} else if no := (*InputError)(nil); !errors.As(err, &no) {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(began); took > timeout+2*time.Second {
				t.Errorf("%s: it took %s", name, took)
			}
			if v, err := e.Evaluate(t.Context(), json.RawMessage(`{"input":"good"}`), nil); err != nil || string(v) != "1" {
				t.Errorf("%s: after it a good input is %s, %v", name, v, err)
			}
		}
	}
}

// TestEvaluatorEnds checks a context that ends, an invalid program, and Close.
func TestEvaluatorEnds(t *testing.T) {
	e := evaluator(t, `$`, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Evaluate(ctx, json.RawMessage(`1`), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := e.Evaluate(t.Context(), json.RawMessage(`1`), nil); err != nil {
		t.Error(err)
	}
	e.Close()
	if _, err := e.Evaluate(t.Context(), json.RawMessage(`1`), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	for _, command := range [][]string{{"/nowhere/app", "work"}, {os.Args[0], "-test.run=^$"}} {
		e := NewEvaluator(EvaluatorConfig{Command: command, Expression: "$"})
		defer e.Close()
		var no *InputError
		if _, err := e.Evaluate(t.Context(), json.RawMessage(`1`), nil); err == nil || errors.As(err, &no) {
			t.Errorf("%v: %v", command, err)
		}
	}
}

func TestCheckExpression(t *testing.T) {
	for text, issue := range map[string]string{
		"": "is empty", "a.b": "", "a.": "must be a JSONata expression", strings.Repeat("a", MaxExpression+1): "bytes or fewer", "$match(a, /" + strings.Repeat("((a{30}){30})", 100) + "/)": "regular expressions",
	} {
		if err := CheckExpression(text); (err != nil) != (issue != "") || err != nil && !strings.Contains(err.Error(), issue) {
			t.Errorf("%.40s: %v, want %q", text, err, issue)
		}
	}
}

// BenchmarkEvaluate measures one message of the plant's broker.
func BenchmarkEvaluate(b *testing.B) {
	e := evaluator(b, `{"production_count": good, "production_count_bad": bad, "productive": state = "run", "line_speed": speed / 10}`, 0)
	input := json.RawMessage(`{"good":123456,"bad":12,"state":"run","speed":455,"temperature":21.5}`)
	for b.Loop() {
		if _, err := e.Evaluate(b.Context(), input, map[string]string{"topic": "plant/a/S1", "station": "S1"}); err != nil {
			b.Fatal(err)
		}
	}
}

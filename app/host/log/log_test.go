package log

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"time"
	"unicode/utf8"
)

// TestHandler: it does with groups and attributes what a handler must, and hands everything on.
func TestHandler(t *testing.T) {
	var b *Book
	var out bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		b = New(time.Now)
		return NewHandler(b, slog.LevelDebug, slog.NewTextHandler(&out, nil))
	}, func(t *testing.T) map[string]any {
		l := b.Lines(Query{Limit: 1, Least: slog.LevelDebug})[0]
		flat := map[string]any{}
		if err := json.Unmarshal(l.Attributes, &flat); err != nil {
			t.Fatal(err)
		}
		nested := map[string]any{slog.LevelKey: l.Level, slog.MessageKey: l.Message}
		if !strings.HasSuffix(t.Name(), "/zero-time") { // it gets the time that it came
			nested[slog.TimeKey] = l.At
		}
		for name, v := range flat {
			in := nested
			parts := strings.Split(name, ".")
			for _, p := range parts[:len(parts)-1] {
				if in[p] == nil {
					in[p] = map[string]any{}
				}
				in = in[p].(map[string]any)
			}
			in[parts[len(parts)-1]] = v
		}
		return nested
	})
	if n := strings.Count(out.String(), "\n"); n < 10 {
		t.Errorf("%d lines were handed on", n)
	}
}

func TestValues(t *testing.T) {
	b := New(time.Now)
	log := slog.New(NewHandler(b, slog.LevelInfo, slog.DiscardHandler))
	log.Info("m", "n", 3, "d", 1500*time.Millisecond, "e", errors.New("broken"), "t", time.Unix(0, 0), "x", "a\x00<b>", "n", 4, "nan", slog.AnyValue(struct{ A int }{7}))
	log.Debug("not noted")
	want := `{"n":4,"d":"1.5s","e":"broken","t":"1970-01-01T00:00:00Z","x":"a\u0000\u003cb\u003e","nan":"{7}"}`
	if got := b.Lines(Query{Limit: 9}); len(got) != 1 || string(got[0].Attributes) != want {
		t.Errorf("%s, want %s", got[0].Attributes, want)
	}
	log.Info(strings.Repeat("ü", maxText), "v", strings.Repeat("\xff", 3*maxText))
	if l := b.Lines(Query{Limit: 1})[0]; len(l.Message) > maxText+4 || !utf8.ValidString(l.Message) || len(l.Attributes) > 4*maxText || !json.Valid(l.Attributes) {
		t.Errorf("a line of %d and %d bytes", len(l.Message), len(l.Attributes))
	}
}

// TestBounds: neither many lines nor long ones nor time make a book grow, and warnings outlive what is usual.
func TestBounds(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	b := New(func() time.Time { return now })
	add := func(level slog.Level, message string) { b.add(Line{At: now, Level: level, Message: message}) }
	add(slog.LevelWarn, "early")
	for i := range 3 * maxLines {
		add(slog.LevelInfo, fmt.Sprint(i))
	}
	for i := range 3 * maxBytes / maxText {
		add(slog.LevelInfo, strings.Repeat("x", maxText)+fmt.Sprint(i))
	}
	for _, h := range []half{b.usual, b.severe} {
		sum := 0
		for i := range h.lines {
			sum += h.lines[i].size()
		}
		if sum != h.bytes || sum > maxBytes || len(h.lines) > maxLines {
			t.Errorf("%d lines of %d bytes, counted as %d", len(h.lines), sum, h.bytes)
		}
	}
	if all := b.Lines(Query{Limit: 99999}); all[len(all)-1].Message != "early" || len(all) != len(b.usual.lines)+1 {
		t.Errorf("%d lines, the oldest is %.20s", len(all), all[len(all)-1].Message)
	}
	now = now.Add(maxAge + time.Second)
	if all := b.Lines(Query{Limit: 9}); len(all) != 0 {
		t.Errorf("after a day there are %d lines", len(all))
	}
	add(slog.LevelInfo, "new")
	if len(b.usual.lines) != 1 {
		t.Errorf("%d lines are kept after a day", len(b.usual.lines))
	}
}

// TestPages: lines come newest first, from a severity on, and a page goes on where the one before ended.
func TestPages(t *testing.T) {
	b := New(time.Now)
	levels := []slog.Level{slog.LevelInfo, slog.LevelWarn, slog.LevelError, slog.LevelDebug}
	for i := range 20 {
		b.add(Line{At: time.Now(), Level: levels[i%4], Message: fmt.Sprint(i)})
	}
	read := func(least slog.Level, size int) (got []string) {
		q := Query{Least: least, Limit: size}
		for {
			page := b.Lines(q)
			if len(page) == 0 {
				return got
			}
			for _, l := range page {
				got = append(got, l.Message)
			}
			q.Before = page[len(page)-1].ID
		}
	}
	for _, size := range []int{1, 3, 7, 100} {
		if got := fmt.Sprint(read(slog.LevelWarn, size)); got != "[18 17 14 13 10 9 6 5 2 1]" {
			t.Errorf("in pages of %d: %s", size, got)
		}
		if got := read(slog.LevelDebug, size); len(got) != 20 || got[0] != "19" || got[19] != "0" {
			t.Errorf("in pages of %d: %s", size, got)
		}
	}
}

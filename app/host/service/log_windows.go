package service

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"

	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
)

// Managed tells whether the service control manager started this process as the service.
var Managed = sync.OnceValue(func() bool {
	is, err := svc.IsWindowsService()
	return err == nil && is
})

// event numbers of what is written to the event log; EventCreate's messages are 1 to 1000.
const (
	eventWarning = 1
	eventError   = 2
)

// source is the event log as the service writes it, nil when it cannot be opened.
var source = sync.OnceValue(func() *eventlog.Log {
	l, err := eventlog.Open(Name)
	if err != nil {
		return nil
	}
	return l
})

// eventHandler writes warnings and errors to the Windows event log, since nobody sees a service's standard error.
type eventHandler struct {
	text  slog.Handler
	buf   *bytes.Buffer // the output of text
	mu    *sync.Mutex
	level slog.Leveler
}

// NewHandler returns the handler of log records: to the event log in a service, else as plain text to stderr.
func NewHandler(stderr io.Writer, level slog.Leveler) slog.Handler {
	if !Managed() {
		return slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})
	}
	var buf bytes.Buffer
	text := slog.NewTextHandler(&buf, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
			return slog.Attr{}
		}
		return a
	}})
	return &eventHandler{text, &buf, new(sync.Mutex), level}
}

// Enabled implements slog.Handler.
func (h *eventHandler) Enabled(_ context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && l >= h.level.Level()
}

// Handle implements slog.Handler.
func (h *eventHandler) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf.Reset()
	if err := h.text.Handle(ctx, r); err != nil {
		return err
	}
	return report(r.Level, h.buf.String())
}

// WithAttrs implements slog.Handler.
func (h *eventHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &eventHandler{h.text.WithAttrs(attrs), h.buf, h.mu, h.level}
}

// WithGroup implements slog.Handler.
func (h *eventHandler) WithGroup(name string) slog.Handler {
	return &eventHandler{h.text.WithGroup(name), h.buf, h.mu, h.level}
}

// report writes one event.
func report(level slog.Level, text string) error {
	l := source()
	if l == nil {
		return nil // the service works without its event log
	}
	if level >= slog.LevelError {
		return l.Error(eventError, text)
	}
	return l.Warning(eventWarning, text)
}

// Complain reports why the process ends: in the event log for a service, else to stderr.
func Complain(stderr io.Writer, text string) {
	if Managed() {
		_ = report(slog.LevelError, text) // there is nowhere else to say it
		return
	}
	io.WriteString(stderr, text)
}

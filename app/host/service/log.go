package service

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// ExitPermanent is the exit status of a service whose start failed for a cause that stays until a person mends it: the
// service manager does not try again. (EX_CONFIG of sysexits; the unit names it.)
const ExitPermanent = 78

// PermanentError is the failure of a service that would fail the same way when started again.
type PermanentError struct{ Err error }

// Error implements error.
func (e *PermanentError) Error() string { return e.Err.Error() }

// Unwrap returns the failure itself.
func (e *PermanentError) Unwrap() error { return e.Err }

// priorities are the prefixes of a line by which systemd's journal knows how grave it is (sd-daemon(3)).
const (
	priorityError   = "<3>"
	priorityWarning = "<4>"
	priorityInfo    = "<6>"
	priorityDebug   = "<7>"
)

// journalHandler writes records for systemd's journal: with a priority, and without the time that the journal has
// itself.
type journalHandler struct {
	level    slog.Leveler
	handlers map[string]slog.Handler // by priority
}

func newJournalHandler(w io.Writer, level slog.Leveler) *journalHandler {
	h := &journalHandler{level, map[string]slog.Handler{}}
	for _, p := range []string{priorityError, priorityWarning, priorityInfo, priorityDebug} {
		h.handlers[p] = slog.NewTextHandler(prefixed{w, p}, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
				return slog.Attr{}
			}
			return a
		}})
	}
	return h
}

// prefixed writes a prefix before each line, in one piece.
type prefixed struct {
	w      io.Writer
	prefix string
}

// Write implements io.Writer. p is one line, as slog writes it.
func (w prefixed) Write(p []byte) (int, error) {
	if _, err := w.w.Write(append([]byte(w.prefix), p...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func priorityOf(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return priorityError
	case l >= slog.LevelWarn:
		return priorityWarning
	case l >= slog.LevelInfo:
		return priorityInfo
	}
	return priorityDebug
}

// Enabled implements slog.Handler.
func (h *journalHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level.Level() }

// Handle implements slog.Handler.
func (h *journalHandler) Handle(ctx context.Context, r slog.Record) error {
	return h.handlers[priorityOf(r.Level)].Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.each(func(sub slog.Handler) slog.Handler { return sub.WithAttrs(attrs) })
}

// WithGroup implements slog.Handler.
func (h *journalHandler) WithGroup(name string) slog.Handler {
	return h.each(func(sub slog.Handler) slog.Handler { return sub.WithGroup(name) })
}

func (h *journalHandler) each(fn func(slog.Handler) slog.Handler) slog.Handler {
	out := &journalHandler{h.level, map[string]slog.Handler{}}
	for p, sub := range h.handlers {
		out.handlers[p] = fn(sub)
	}
	return out
}

// complain writes lines with the priority of an error.
func complain(w io.Writer, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "%s%s\n", priorityError, strings.TrimRight(line, "\n"))
	}
}

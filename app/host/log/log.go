// Package log keeps the newest lines of the log in memory, for people who look at a page rather than at the machine.
// A Handler hands each record on to the log itself and notes it in a Book. Nothing is stored: a restart begins a new
// book, and the machine's own log has the rest.
package log

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Line is a line of the log. It must not be changed.
type Line struct {
	ID         uint64 // growing, also from one start of the service to the next
	At         time.Time
	Level      slog.Level
	Message    string
	Attributes json.RawMessage // one object, its members in the order of the log
}

// What a Book keeps at most. Warnings and errors have as much room of their own as everything else, so that a day of
// requests does not push them out.
const (
	maxAge   = 24 * time.Hour
	maxLines = 5000    // of each half
	maxBytes = 2 << 20 // of each half
	overhead = 96      // bytes that a line takes beside its text
)

// Book holds the newest lines. Make one with New; all methods may be called from any goroutine.
type Book struct {
	clock func() time.Time

	mu     sync.Mutex
	last   uint64
	usual  half // below warnings
	severe half
}

// half is a queue of lines, oldest first.
type half struct {
	lines []Line
	bytes int
}

// New makes an empty Book.
func New(clock func() time.Time) *Book {
	return &Book{clock: clock, last: uint64(max(clock().UnixMilli(), 0))}
}

// add notes a line and forgets what there is no more room or time for.
func (b *Book) add(l Line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	l.ID = b.last
	if l.At.IsZero() {
		l.At = b.clock()
	}
	h := &b.usual
	if l.Level >= slog.LevelWarn {
		h = &b.severe
	}
	h.lines = append(h.lines, l)
	h.bytes += l.size()
	h.trim(b.clock().Add(-maxAge))
}

func (l *Line) size() int { return overhead + len(l.Message) + len(l.Attributes) }

func (h *half) trim(oldest time.Time) {
	n := 0
	for n < len(h.lines) && (len(h.lines)-n > maxLines || h.bytes > maxBytes || h.lines[n].At.Before(oldest)) {
		h.bytes -= h.lines[n].size()
		h.lines[n] = Line{} // so that its text can go
		n++
	}
	h.lines = h.lines[n:]
}

// Query says which lines are wanted.
type Query struct {
	Least  slog.Level // at least so severe
	Before uint64     // only lines with smaller ids; 0 = all
	Limit  int
}

// Lines gives lines of the last day, newest first.
func (b *Book) Lines(q Query) []Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	oldest := b.clock().Add(-maxAge)
	var list []Line
	for _, h := range []*half{&b.usual, &b.severe} {
		n := 0
		for i := len(h.lines) - 1; i >= 0 && n < q.Limit; i-- {
			if l := h.lines[i]; l.Level >= q.Least && (q.Before == 0 || l.ID < q.Before) && !l.At.Before(oldest) {
				list = append(list, l)
				n++
			}
		}
	}
	slices.SortFunc(list, func(x, y Line) int {
		if x.ID > y.ID {
			return -1
		}
		return 1 // no two are equal
	})
	return list[:min(len(list), q.Limit)]
}

// Handler notes what is logged in a Book and hands it on.
type Handler struct {
	book   *Book
	least  slog.Level
	next   slog.Handler
	prefix string // of names, a dot at its end
	with   attributes
}

// NewHandler makes a Handler that notes records from a level on, whatever next does with them.
func NewHandler(book *Book, least slog.Level, next slog.Handler) *Handler {
	return &Handler{book: book, least: least, next: next}
}

// Enabled implements slog.Handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.least || h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= h.least {
		all := append(make(attributes, 0, len(h.with)+r.NumAttrs()), h.with...)
		r.Attrs(func(a slog.Attr) bool {
			all = all.add(h.prefix, a)
			return true
		})
		h.book.add(Line{At: r.Time, Level: r.Level, Message: shorten(r.Message), Attributes: all.json()})
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := *h
	out.next, out.with = h.next.WithAttrs(attrs), slices.Clone(h.with)
	for _, a := range attrs {
		out.with = out.with.add(h.prefix, a)
	}
	return &out
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	out := *h
	out.next = h.next.WithGroup(name)
	if name != "" {
		out.prefix += name + "."
	}
	return &out
}

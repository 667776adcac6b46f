package rest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// trickle is a client that reads a long answer slowly, after buffers on the way have accepted the beginning.
type trickle struct {
	httptest.ResponseRecorder
	rate  int
	until time.Time
	taken int
}

func (c *trickle) SetWriteDeadline(t time.Time) error {
	c.until = t
	return nil
}

// Write implements io.Writer like a connection to a slow reader.
func (c *trickle) Write(b []byte) (int, error) {
	takes := time.Duration(len(b)) * time.Second / time.Duration(c.rate)
	if c.taken < chunkedHeld {
		takes = 0
	}
	if left := time.Until(c.until); takes > left {
		time.Sleep(left)
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(takes)
	c.taken += len(b)
	return len(b), nil
}

// TestALongAnswerIsTakenAtSomeRate: a client that reads too slowly is disconnected, a client with a slow line is not,
// however long the answer takes.
func TestALongAnswerIsTakenAtSomeRate(t *testing.T) {
	const size, piece = 64 << 20, 64 << 10
	for _, tt := range []struct {
		rate int // bytes a second
		all  bool
	}{{rate: 4 << 10}, {rate: chunkedRate - 1<<10}, {rate: chunkedRate + 1<<10, all: true}} {
		synctest.Test(t, func(t *testing.T) {
			a := New(Config{Log: slog.New(slog.DiscardHandler)})
			c := &trickle{ResponseRecorder: *httptest.NewRecorder(), rate: tt.rate}
			began, making := time.Now(), time.Duration(0)
			p := &Chunked{Kind: CSVType, Run: func(_ context.Context, w io.Writer) error {
				for range size / piece {
					time.Sleep(time.Minute)
					making += time.Minute
					if _, err := w.Write(bytes.Repeat([]byte{'x'}, piece)); err != nil {
						return err
					}
				}
				return nil
			}}
			func() {
				defer func() {
					if v := recover(); (v == http.ErrAbortHandler) == tt.all {
						t.Errorf("at %d bytes a second it ended with %v", tt.rate, v)
					}
				}()
				a.writeChunked(c, httptest.NewRequestWithContext(t.Context(), "GET", "/export/windows", nil), p)
			}()
			if tt.all != (c.taken == size) {
				t.Errorf("at %d bytes a second %d of %d were sent", tt.rate, c.taken, size)
			}
			if most := chunkedSlack + time.Duration(c.taken+chunkedHeld+piece)*time.Second/chunkedRate; time.Since(began)-making > most {
				t.Errorf("at %d bytes a second sending %d took %v", tt.rate, c.taken, time.Since(began)-making)
			}
		})
	}
}

// TestALongAnswerKeepsTheStoreOpen: the store is not closed while an answer is generated from it, and the closer can
// abort the answer.
func TestALongAnswerKeepsTheStoreOpen(t *testing.T) {
	var gate sync.RWMutex
	a := New(Config{Log: slog.New(slog.DiscardHandler), Gate: &gate})
	making := make(chan struct{})
	api := a.Handler([]Route{{Method: "GET", Path: "/long", Access: Open, Handle: func(*Call) (Reply, error) {
		return Reply{Chunked: &Chunked{Kind: CSVType, Run: func(ctx context.Context, w io.Writer) error {
			close(making)
			<-ctx.Done()
			return ctx.Err()
		}}}, nil
	}}})
	ended, w := make(chan struct{}), httptest.NewRecorder()
	go func() {
		defer close(ended)
		api.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/long", nil))
	}()
	<-making
	if gate.TryLock() {
		t.Fatal("the store can be closed while an answer is made from it")
	}
	a.CutChunked()
	<-ended
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("who asked is told %d", w.Code)
	}
	if !gate.TryLock() {
		t.Error("the store cannot be closed when the answer has ended")
	}
}

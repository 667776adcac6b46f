package control_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opsmon/app/host/control"
)

// serve runs a server on the channel of dir until the test ends.
func serve(t *testing.T, dir string) {
	t.Helper()
	l, err := control.Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "here "+r.URL.Path) })}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		if _, err := control.Client(dir); !errors.Is(err, control.ErrNotRunning) {
			t.Errorf("after the end: %v, want ErrNotRunning", err)
		}
	})
}

func TestChannel(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long/", 40), strings.Repeat("x", 150))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"short": t.TempDir(), "long": long} {
		t.Run(name, func(t *testing.T) {
			if _, err := control.Client(dir); !errors.Is(err, control.ErrNotRunning) {
				t.Fatalf("before the start: %v, want ErrNotRunning", err)
			}
			serve(t, dir)
			client, err := control.Client(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer client.CloseIdleConnections()
			for range 3 {
				resp, err := client.Get("http://app/x")
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if string(body) != "here /x" {
					t.Fatalf("answer %q", body)
				}
			}
		})
	}
}

// Package control is the channel between the command line and a running service on the same machine: HTTP
// over a Unix socket or a Windows named pipe. Only the machine's administrator and the user that the service
// runs as can use it; it is never reachable from the network.
package control

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Client returns an HTTP client for the service that uses a data directory. The host of request addresses does
// not matter. The error is ErrNotRunning when no service answers there.
func Client(dataDir string) (*http.Client, error) {
	conn, err := dial(dataDir)
	if err != nil {
		return nil, err
	}
	first := make(chan net.Conn, 1)
	first <- conn
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		select {
		case c := <-first:
			return c, nil
		default:
			return dial(dataDir)
		}
	}}
	return &http.Client{Transport: transport, Timeout: 10 * time.Minute}, nil
}

type notRunning struct{}

func (notRunning) Error() string { return "no service is running on this data directory" }

// ErrNotRunning says that no service listens on the data directory's channel.
var ErrNotRunning error = notRunning{}

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"opsmon/app/control"
)

// Timeouts of the network side. A request's line and headers must arrive within headerTime, a small body and a
// small answer within bodyTime and answerTime; large ones get more, by their size (package httpapi).
const (
	headerTime = 10 * time.Second
	bodyTime   = 30 * time.Second
	answerTime = 60 * time.Second
	idleTime   = 2 * time.Minute
	drainTime  = 20 * time.Second // for requests that are being answered when the service stops
	maxHeader  = 16 << 10
)

// Run listens and serves until ctx ends; then it answers what it has begun, and returns. The caller closes the
// App. started, when not nil, is called once the service listens, with its address as people use it.
func (a *App) Run(ctx context.Context, started func(url string)) error {
	l, err := a.listen()
	if err != nil {
		return err
	}
	defer l.Close()
	local, err := control.Listen(a.cfg.DataDir)
	if err != nil {
		return err
	}
	defer local.Close()
	errorLog := slog.NewLogLogger(a.log.Handler(), slog.LevelDebug) // a client's broken handshake is no news
	servers := []*http.Server{
		{
			Handler: a.Handler(), ErrorLog: errorLog, MaxHeaderBytes: maxHeader,
			ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
		},
		{Handler: a.Local(), ErrorLog: errorLog, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime},
	}
	ended := make(chan error, len(servers))
	for i, on := range []net.Listener{l, local} {
		go func() { ended <- servers[i].Serve(on) }()
	}
	a.accounts.Warm()
	a.log.Info("listening", slog.String("address", l.Addr().String()), slog.String("url", a.base.get()))
	if started != nil {
		started(a.base.get())
	}
	running := len(servers)
	select {
	case <-ctx.Done():
	case err = <-ended: // it cannot end by itself but by failing
		running--
		err = fmt.Errorf("serve: %w", err)
	}
	a.state.stopping.Store(true)
	a.log.Info("stopping")
	drain, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	for _, s := range servers {
		if e := s.Shutdown(drain); e != nil {
			a.log.Warn("some requests did not end in time and were cut off", slog.Any("error", e))
			s.Close()
		}
	}
	for ; running > 0; running-- {
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, fmt.Errorf("serve: %w", e))
		}
	}
	return err
}

// listen opens the address of the configuration, behind the limits on connections and TLS where it is on.
func (a *App) listen() (net.Listener, error) {
	if err := a.cfg.Check(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", a.cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; another program may be using the port: choose another with --listen", a.cfg.Listen, err)
	}
	cert, key, err := a.cfg.certificate()
	scheme := "http"
	var out net.Listener = newLimitListener(l, a.cfg.MaxConnections, a.cfg.MaxConnections/4)
	if err == nil && cert != "" {
		scheme = "https"
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(cert, key); err == nil {
			out = tls.NewListener(out, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}})
		}
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("TLS certificate: %w", err)
	}
	if a.cfg.URL == "" {
		a.base.set(scheme + "://" + reachable(l.Addr().String()))
	}
	return out, nil
}

// reachable turns an address that is listened on into one that can be opened.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"opsmon/app/control"
)

// timeLimits bound how long clients may take. A request's line and headers must arrive within header, a small body
// and a small answer within body and answer; large ones get more, by their size (package httpapi).
type timeLimits struct {
	header, body, answer, idle time.Duration
	drain                      time.Duration // for requests that are being answered when the service stops
}

func defaultTimeLimits() timeLimits {
	return timeLimits{header: 10 * time.Second, body: 30 * time.Second, answer: 60 * time.Second, idle: 2 * time.Minute, drain: 20 * time.Second}
}

// maxHeader bounds a request's line and headers, in bytes.
const maxHeader = 16 << 10

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
			ReadHeaderTimeout: a.limits.header, ReadTimeout: a.limits.body, WriteTimeout: a.limits.answer, IdleTimeout: a.limits.idle,
			HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 32}, DisableGeneralOptionsHandler: true,
		},
		{Handler: a.Local(), ErrorLog: errorLog, ReadHeaderTimeout: a.limits.header, IdleTimeout: a.limits.idle},
	}
	ended := make(chan error, len(servers))
	for i, on := range []net.Listener{l, local} {
		go func() { ended <- servers[i].Serve(on) }()
	}
	a.accounts.Warm()
	a.log.Info("listening", slog.String("address", l.Addr().String()), slog.String("url", a.base.get()))
	if a.cfg.linksStayHere() {
		a.log.Warn("one-time links will only open on this machine: set url to the address that people use")
	}
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
	a.stopping.Store(true)
	a.log.Info("stopping")
	drain, cancel := context.WithTimeout(context.Background(), a.limits.drain)
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
	cert, key, err := a.cfg.certificate()
	if err != nil {
		return nil, err
	}
	var secret tls.Certificate
	if cert != "" {
		if secret, err = tls.LoadX509KeyPair(cert, key); err != nil {
			return nil, a.cfg.wrong("tls", "needs a certificate and its key in PEM files: %w", err)
		}
	}
	l, err := net.Listen("tcp", a.cfg.Listen)
	if err != nil {
		advice := "another program may be using it: stop that one, or choose another port"
		if errors.Is(err, os.ErrPermission) {
			advice = "the user that runs app may not use this port: choose one above 1023"
		}
		return nil, a.cfg.wrong("listen", "is %s, which cannot be listened on (%w); %s with --listen", a.cfg.Listen, err, advice)
	}
	a.base.set(a.cfg.baseURL(l.Addr().String()))
	limited := newLimitListener(l, a.cfg.MaxConnections, a.cfg.MaxConnections/4)
	if cert == "" {
		return limited, nil
	}
	return tls.NewListener(limited, &tls.Config{Certificates: []tls.Certificate{secret}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}), nil
}

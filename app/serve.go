package app

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"

	"opsmon/app/host/config"
	"opsmon/app/host/control"
)

// listener is a place where the service listens, and what answers there.
type listener struct {
	on     net.Listener
	server *http.Server
}

// serve opens the network and the control channel and begins to answer. ended tells of a server that failed; shut ends
// them all when what they have begun is answered.
func (h *Host) serve() (ended <-chan error, shut func(), err error) {
	defer func() {
		if err != nil {
			h.secure.close()
		}
	}()
	if err := h.openSecurity(); err != nil {
		return nil, nil, err
	}
	listeners, err := h.openListeners()
	if err != nil {
		return nil, nil, err
	}
	failed := make(chan error, len(listeners))
	var running sync.WaitGroup
	for _, d := range listeners {
		running.Go(func() {
			if err := d.server.Serve(d.on); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	for _, l := range []net.Listener{h.mqtt.secure, h.mqtt.clear} {
		if l != nil {
			running.Go(func() { h.serveMQTT(l) })
			h.log.Info("listening for MQTT", slog.String("address", l.Addr().String()), slog.Bool("tls", l == h.mqtt.secure))
		}
	}
	h.answerToName()
	h.log.Info("listening", slog.String("address", listeners[0].on.Addr().String()), slog.String("url", h.base.get()))
	if h.linksStayHere() {
		h.log.Warn("one-time links will only open on this machine until it is on a network, or url is set to the address that people use")
	}
	return failed, func() { h.shut(listeners, &running) }, nil
}

// openListeners listens wherever the service is to answer, the network first; where that fails, nothing is left open.
func (h *Host) openListeners() (listeners []listener, err error) {
	defer func() {
		if err != nil {
			for _, d := range listeners {
				err = errors.Join(err, d.on.Close())
			}
		}
	}()
	l, err := h.listen()
	if err != nil {
		return nil, err
	}
	listeners = append(listeners, listener{l, h.networkServer(h.onlyForHere(h.secure.strict(h)))})
	clear, err := h.listenClear()
	if err != nil {
		return listeners, err
	}
	if clear != nil {
		listeners = append(listeners, listener{clear, h.networkServer(h.secure.trust.Clear())})
	}
	if h.local, err = control.Listen(h.cfg.DataDir); err != nil {
		return listeners, err
	}
	listeners = append(listeners, listener{h.local, &http.Server{
		Handler:  http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.current().Local().ServeHTTP(w, r) }),
		ErrorLog: h.errorLog(), ReadHeaderTimeout: h.limits.header, IdleTimeout: h.limits.idle,
	}})
	return listeners, h.listenMQTT()
}

// networkServer answers whoever is on the network, within limits.
func (h *Host) networkServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: noteFinished(handler), ErrorLog: h.errorLog(), MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: h.limits.header, ReadTimeout: h.limits.body, WriteTimeout: h.limits.answer, IdleTimeout: h.limits.idle,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 32}, DisableGeneralOptionsHandler: true, ConnContext: withConn,
	}
}

// errorLog is for what a server complains of: a client's broken handshake is no news.
func (h *Host) errorLog() *log.Logger { return slog.NewLogLogger(h.log.Handler(), slog.LevelDebug) }

// shut ends the servers when what they have begun is answered, or has had its time.
func (h *Host) shut(listeners []listener, running *sync.WaitGroup) {
	defer h.secure.close()
	h.mqtt.close()
	drain, cancel := context.WithTimeout(context.Background(), h.limits.drain)
	defer cancel()
	for _, d := range listeners {
		if err := d.server.Shutdown(drain); err != nil {
			h.log.Warn("some requests did not end in time and were cut off", slog.Any("error", err))
			d.server.Close()
		}
	}
	running.Wait()
}

// listen opens the address of the configuration, behind the limits on connections and TLS where it is on.
func (h *Host) listen() (net.Listener, error) {
	l, err := h.listenOn("listen", h.cfg.Listen)
	if err != nil {
		return nil, err
	}
	h.base.set(l.Addr().String())
	h.network = newLimitListener(l, newPlaces(h.cfg.MaxConnections, h.cfg.MaxConnections/4))
	if h.secure.keeper == nil {
		return h.network, nil
	}
	return tls.NewListener(h.network, h.secure.keeper.TLS()), nil
}

// listenOn opens an address that a setting gives.
func (h *Host) listenOn(setting, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		advice := "another program may be using it: stop that one, or choose another port"
		if errors.Is(err, os.ErrPermission) {
			advice = "the user that runs app may not use this port: choose one above 1023"
		}
		return nil, h.cfg.Wrong(setting, "is %s, which cannot be listened on (%w); %s with --%s", address, err, advice, config.FlagOf(setting))
	}
	return l, nil
}

package app

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"opsmon/app/errdefs"
	"opsmon/app/httpapi/rest"
	"opsmon/app/ingest/mqtt"
)

// newBroker makes the broker of an App.
func (a *App) newBroker() (*mqtt.Broker, error) {
	topics, err := a.cfg.MQTT.TopicTemplates()
	if err != nil {
		return nil, err
	}
	return mqtt.New(mqtt.Config{
		Devices: a.services.Auth, Signals: a.services.Signals, Stations: a.stationsOf, Topics: topics, Clock: a.cfg.Clock, Log: a.log,
		Linked: a.services.Floor.Linked, Known: keepConn,
		Limits: mqtt.Limits{Connections: a.cfg.MQTT.MaxConnections + a.cfg.MQTT.MaxConnections/8, // those that are just being closed count there
			PerDevice: a.cfg.MQTT.MaxPerDevice},
	}), nil
}

// stationsOf returns which stations an account has, for who takes signals of it. Errors: NotFound, Conflict for an
// archived account.
func (a *App) stationsOf(accountID string) (known func(code string) bool, err error) {
	snap, err := a.services.Accounts.Get(accountID)
	if err != nil {
		return nil, err
	}
	if snap.Account.ArchivedAt != nil {
		return nil, errdefs.New(errdefs.Conflict, "the account %s is archived", accountID)
	}
	return snap.Stations()
}

// mqttPorts are where devices connect. They stay open while the App is replaced: who connects then is let go at once,
// and tries again.
type mqttPorts struct {
	secure, clear net.Listener // nil where there is none
	places        *places      // of both
}

// listenMQTT opens the ports for MQTT that the configuration asks for.
func (h *Host) listenMQTT() (err error) {
	defer func() {
		if err != nil {
			h.mqtt.close()
		}
	}()
	h.mqtt.places = newPlaces(h.cfg.MQTT.MaxConnections, max(4, h.cfg.MQTT.MaxConnections/4))
	if h.cfg.MQTT.Listen != "" {
		l, err := h.listenOn("mqtt.listen", h.cfg.MQTT.Listen)
		if err != nil {
			return err
		}
		over := h.secure.keeper.TLS().Clone()
		over.NextProtos = nil // devices may ask for any, or none
		h.mqtt.secure = tls.NewListener(newLimitListener(l, h.mqtt.places), over)
	}
	if address := h.cfg.MQTT.InsecureListen(); address != "" {
		networks, err := h.cfg.MQTT.AllowedNetworks()
		if err != nil {
			return err
		}
		l, err := h.listenOn("mqtt.insecure.listen", address)
		if err != nil {
			return err
		}
		h.mqtt.clear = newLimitListener(&networkListener{Listener: l, networks: networks, log: h.log}, h.mqtt.places)
	}
	return nil
}

func (p *mqttPorts) close() {
	for _, l := range []net.Listener{p.secure, p.clear} {
		if l != nil {
			_ = l.Close() // it may be closed already
		}
	}
}

// acceptRest is how long to wait when a connection cannot be taken, since there are too many open files.
const acceptRest = 100 * time.Millisecond

// serveMQTT hands connections of a port to the broker of the App that is there, until the port is closed.
func (h *Host) serveMQTT(l net.Listener) {
	for {
		c, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			h.log.Warn("a connection over MQTT could not be taken", slog.Any("error", err))
			time.Sleep(acceptRest)
			continue
		}
		a := h.app.Load()
		if a == nil {
			c.Close()
			continue
		}
		go a.broker.Serve(c)
	}
}

// networkListener lets some networks in.
type networkListener struct {
	net.Listener
	networks []netip.Prefix
	log      *slog.Logger
	told     time.Time
}

// Accept returns the next connection from one of the networks.
func (l *networkListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || l.has(c.RemoteAddr()) {
			return c, err
		}
		if now := time.Now(); now.Sub(l.told) > time.Minute { // it is one goroutine's
			l.told = now
			l.log.Warn("MQTT in the clear was refused to an address that is in none of mqtt.insecure.networks", slog.String("from", c.RemoteAddr().String()))
		}
		c.Close()
	}
}

func (l *networkListener) has(addr net.Addr) bool {
	from, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return false
	}
	ip := from.Addr().Unmap().WithZone("")
	for _, network := range l.networks {
		if network.Contains(ip) {
			return true
		}
	}
	return false
}

// mqttGauges measures the broker, for /metrics.
func (a *App) mqttGauges() []rest.Gauge {
	s := a.broker.Stats()
	list := []rest.Gauge{
		{Name: "app_mqtt_connections", Help: "Connections over MQTT that are open.", Value: float64(s.Connections)},
		{Name: "app_mqtt_connections_total", Help: "Connections over MQTT that signed in.", Value: float64(s.Opened), Total: true},
		{Name: "app_mqtt_messages_total", Help: "Messages that came over MQTT, good and bad.", Value: float64(s.Messages), Total: true},
		{Name: "app_mqtt_received_bytes_total", Help: "Bytes that came over MQTT.", Value: float64(s.BytesIn), Total: true},
		{Name: "app_mqtt_sent_bytes_total", Help: "Bytes that were sent over MQTT.", Value: float64(s.BytesOut), Total: true},
	}
	for why, n := range s.Refused {
		list = append(list, rest.Gauge{Name: "app_mqtt_refused_total", Help: "Connections over MQTT that were refused or ended, by why.", Value: float64(n), Total: true, Label: [2]string{"cause", string(why)}})
	}
	return list
}

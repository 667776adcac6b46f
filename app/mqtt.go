package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"time"

	"opsmon/app/errdefs"
	"opsmon/app/httpapi"
	"opsmon/app/ingest/mqtt"
)

// MQTT says how devices send signals over MQTT (monitoring.md section 2).
type MQTT struct {
	Listen         string       `yaml:"listen"`         // address and port, over TLS; "" = none
	Insecure       MQTTInsecure `yaml:"insecure"`       // for devices that cannot do TLS
	Topics         string       `yaml:"topics"`         // further templates of topics, with commas between
	MaxConnections int          `yaml:"maxConnections"` // at once, in all; a quarter of it from one address
	MaxPerDevice   int          `yaml:"maxPerDevice"`   // of one device at once
}

// MQTTInsecure is MQTT in the clear: tokens and signals can be read on the network.
type MQTTInsecure struct {
	Listen   string `yaml:"listen"`   // address and port; "" = DefaultInsecureMQTT where Networks is set, else none
	Networks string `yaml:"networks"` // from where devices may connect, with commas between: 10.1.7.0/24, 10.1.8.9
}

// DefaultInsecureMQTT is where MQTT in the clear is listened for.
const DefaultInsecureMQTT = ":1883"

// InsecureListen is where MQTT in the clear is listened for, "" for nowhere.
func (m MQTT) InsecureListen() string {
	if m.Insecure.Listen == "" && m.Insecure.Networks != "" {
		return DefaultInsecureMQTT
	}
	return m.Insecure.Listen
}

// commas takes a list apart that stands in one setting.
func commas(text string) (list []string) {
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// networks reads the networks from where MQTT in the clear is taken.
func (m MQTT) networks() (list []netip.Prefix, err error) {
	for _, text := range commas(m.Insecure.Networks) {
		network, err := netip.ParsePrefix(text)
		if addr, e := netip.ParseAddr(text); err != nil && e == nil && addr.Zone() == "" {
			network, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, fmt.Errorf("must be networks such as 10.1.7.0/24 with commas between; one is %q", text)
		}
		list = append(list, network.Masked())
	}
	return list, nil
}

// maxTopics is how many templates of topics may be set.
const maxTopics = 20

// topics reads the templates of topics: the usual one and those that are set.
func (m MQTT) topics() ([]mqtt.Topic, error) {
	list := []mqtt.Topic{mqtt.UsualTopic()}
	for _, text := range commas(m.Topics) {
		topic, err := mqtt.ParseTopic(text)
		if err != nil {
			return nil, err
		}
		list = append(list, topic)
	}
	if len(list) > maxTopics+1 {
		return nil, fmt.Errorf("must be %d templates or fewer; they are %d", maxTopics, len(list)-1)
	}
	return list, nil
}

func (c Config) checkMQTT() error {
	m := c.MQTT
	if m.Listen != "" {
		if _, err := c.checkAddress("mqtt.listen", m.Listen); err != nil {
			return err
		}
		if !c.ownTLS() {
			return c.wrong("mqtt.listen", "is for TLS, and tls is off: set tls, or let devices connect in the clear with mqtt.insecure.networks")
		}
	}
	if clear := m.InsecureListen(); clear != "" {
		if _, err := c.checkAddress("mqtt.insecure.listen", clear); err != nil {
			return err
		}
		networks, err := m.networks()
		if err != nil {
			return c.wrong("mqtt.insecure.networks", "%w", err)
		}
		if len(networks) == 0 {
			return c.wrong("mqtt.insecure.listen", "lets devices connect in the clear: say from where with mqtt.insecure.networks, such as 10.1.7.0/24")
		}
	}
	taken := map[string]string{c.Listen: "listen"}
	for _, setting := range [][2]string{{"clearListen", c.ClearListen}, {"mqtt.listen", m.Listen}, {"mqtt.insecure.listen", m.InsecureListen()}} {
		if name, address := setting[0], setting[1]; address != "" && !strings.HasSuffix(address, ":0") {
			if other, there := taken[address]; there {
				return c.wrong(name, "is the address that %s is: choose another port", other)
			}
			taken[address] = name
		}
	}
	if _, err := m.topics(); err != nil {
		return c.wrong("mqtt.topics", "%w", err)
	}
	if m.MaxConnections < 8 || m.MaxConnections > 60_000 {
		return c.wrong("mqtt.maxConnections", "must be from 8 to 60000; it is %d", m.MaxConnections)
	}
	if m.MaxPerDevice < 1 || m.MaxPerDevice > m.MaxConnections {
		return c.wrong("mqtt.maxPerDevice", "must be from 1 to mqtt.maxConnections, which is %d; it is %d", m.MaxConnections, m.MaxPerDevice)
	}
	return nil
}

// newBroker makes the broker of an App.
func (a *App) newBroker() (*mqtt.Broker, error) {
	topics, err := a.cfg.MQTT.topics()
	if err != nil {
		return nil, err
	}
	return mqtt.New(mqtt.Config{
		Devices: a.auth, Signals: a.signals, Stations: a.stationsOf, Topics: topics, Clock: a.cfg.Clock, Log: a.log,
		Linked: a.floor.Linked, Known: keepConn,
		Limits: mqtt.Limits{Connections: a.cfg.MQTT.MaxConnections + a.cfg.MQTT.MaxConnections/8, // those that are just being closed count there
			PerDevice: a.cfg.MQTT.MaxPerDevice},
	}), nil
}

// stationsOf tells which stations an account has, for who takes signals of it. Errors: NotFound, Conflict for an archived
// account.
func (a *App) stationsOf(accountID string) (known func(code string) bool, err error) {
	snap, err := a.accounts.Get(accountID)
	if err != nil {
		return nil, err
	}
	if snap.Account.ArchivedAt != nil {
		return nil, errdefs.New(errdefs.Conflict, "the account %s is archived", accountID)
	}
	return snap.Stations()
}

// mqttPorts are where devices connect. They stay open while the App is replaced: who connects then is let go at once, and
// tries again.
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
		networks, err := h.cfg.MQTT.networks()
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

// Accept gives the next connection from one of the networks.
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
func (a *App) mqttGauges() []httpapi.Gauge {
	s := a.broker.Stats()
	list := []httpapi.Gauge{
		{Name: "app_mqtt_connections", Help: "Connections over MQTT that are open.", Value: float64(s.Connections)},
		{Name: "app_mqtt_connections_total", Help: "Connections over MQTT that signed in.", Value: float64(s.Opened), Total: true},
		{Name: "app_mqtt_messages_total", Help: "Messages that came over MQTT, good and bad.", Value: float64(s.Messages), Total: true},
		{Name: "app_mqtt_received_bytes_total", Help: "Bytes that came over MQTT.", Value: float64(s.BytesIn), Total: true},
		{Name: "app_mqtt_sent_bytes_total", Help: "Bytes that were sent over MQTT.", Value: float64(s.BytesOut), Total: true},
	}
	for why, n := range s.Refused {
		list = append(list, httpapi.Gauge{Name: "app_mqtt_refused_total", Help: "Connections over MQTT that were refused or ended, by why.", Value: float64(n), Total: true, Label: [2]string{"cause", string(why)}})
	}
	return list
}

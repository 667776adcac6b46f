package config

import (
	"fmt"
	"net/netip"
	"strings"

	"opsmon/app/ingest/mqtt"
)

// MQTT is the listeners and limits of the MQTT broker (monitoring.md section 2).
type MQTT struct {
	Listen         string       `yaml:"listen"`         // address and port, with TLS; "" = off
	Insecure       MQTTInsecure `yaml:"insecure"`       // for devices that cannot do TLS
	Topics         string       `yaml:"topics"`         // further templates of topics, with commas between
	MaxConnections int          `yaml:"maxConnections"` // at once, in all; a quarter of it from one address
	MaxPerDevice   int          `yaml:"maxPerDevice"`   // of one device at once
}

// MQTTInsecure is MQTT in the clear: tokens and signals can be read on the network.
type MQTTInsecure struct {
	Listen   string `yaml:"listen"`   // address and port; "" = DefaultInsecureMQTT where Networks is set, else none
	Networks string `yaml:"networks"` // from which devices may connect, separated by commas: 10.1.7.0/24, 10.1.8.9
}

// DefaultInsecureMQTT is the default address for unencrypted MQTT.
const DefaultInsecureMQTT = ":1883"

// InsecureListen returns the address for unencrypted MQTT, "" if it is off.
func (m MQTT) InsecureListen() string {
	if m.Insecure.Listen == "" && m.Insecure.Networks != "" {
		return DefaultInsecureMQTT
	}
	return m.Insecure.Listen
}

// Commas takes a list apart that stands in one setting.
func Commas(text string) (list []string) {
	for _, item := range strings.Split(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// AllowedNetworks returns the networks from which unencrypted MQTT is accepted.
func (m MQTT) AllowedNetworks() (list []netip.Prefix, err error) {
	for _, text := range Commas(m.Insecure.Networks) {
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

// TopicTemplates reads the templates of topics: the usual one and those that are set.
func (m MQTT) TopicTemplates() ([]mqtt.Topic, error) {
	list := []mqtt.Topic{mqtt.UsualTopic()}
	for _, text := range Commas(m.Topics) {
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

func (c Settings) checkMQTT() error {
	m := c.MQTT
	if m.Listen != "" {
		if _, err := c.checkAddress("mqtt.listen", m.Listen); err != nil {
			return err
		}
		if !c.OwnTLS() {
			return c.Wrong("mqtt.listen", "is for TLS, and tls is off: set tls, or let devices connect in the clear with mqtt.insecure.networks")
		}
	}
	if clear := m.InsecureListen(); clear != "" {
		if _, err := c.checkAddress("mqtt.insecure.listen", clear); err != nil {
			return err
		}
		networks, err := m.AllowedNetworks()
		if err != nil {
			return c.Wrong("mqtt.insecure.networks", "%w", err)
		}
		if len(networks) == 0 {
			return c.Wrong("mqtt.insecure.listen", "lets devices connect in the clear: say from where with mqtt.insecure.networks, such as 10.1.7.0/24")
		}
	}
	taken := map[string]string{c.Listen: "listen"}
	for _, setting := range [][2]string{{"clearListen", c.ClearListen}, {"mqtt.listen", m.Listen}, {"mqtt.insecure.listen", m.InsecureListen()}} {
		if name, address := setting[0], setting[1]; address != "" && !strings.HasSuffix(address, ":0") {
			if other, there := taken[address]; there {
				return c.Wrong(name, "is the address that %s is: choose another port", other)
			}
			taken[address] = name
		}
	}
	if _, err := m.TopicTemplates(); err != nil {
		return c.Wrong("mqtt.topics", "%w", err)
	}
	if m.MaxConnections < 8 || m.MaxConnections > 60_000 {
		return c.Wrong("mqtt.maxConnections", "must be from 8 to 60000; it is %d", m.MaxConnections)
	}
	if m.MaxPerDevice < 1 || m.MaxPerDevice > m.MaxConnections {
		return c.Wrong("mqtt.maxPerDevice", "must be from 1 to mqtt.maxConnections, which is %d; it is %d", m.MaxConnections, m.MaxPerDevice)
	}
	return nil
}

package config

import (
	"opsmon/app/ingest/mqtt"
	"opsmon/app/ingest/transform"
)

// PlantBroker is the connection to the plant's own MQTT broker (monitoring.md section 2).
type PlantBroker struct {
	URL          string `yaml:"url"` // mqtts://broker.plant.example:8883; "" = none
	CA           string `yaml:"ca"`  // file with the authorities that are trusted, in PEM; "" = the machine's
	Username     string `yaml:"username"`
	PasswordFile string `yaml:"passwordFile"` // its first line is the password
	ClientID     string `yaml:"clientId"`     // the broker queues messages for it while it is disconnected; "" = name
	Topics       string `yaml:"topics"`       // filters, with commas between
	Template     string `yaml:"template"`     // of topics, to take the station from
	Mapping      string `yaml:"mapping"`      // JSONata that makes a signal of a message, or an array of them
	Account      string `yaml:"account"`      // whose signals they are; "" = the only one there is
}

func (c Settings) checkPlantBroker() error {
	p := c.PlantBroker
	if p.URL == "" {
		if p.Topics != "" || p.Mapping != "" || p.Template != "" {
			return c.Wrong("plantBroker.url", "must be given: the address of the plant's broker, such as mqtts://broker.plant.example:8883")
		}
		return nil
	}
	if _, err := mqtt.ParseBrokerURL(p.URL); err != nil {
		return c.Wrong("plantBroker.url", "%w", err)
	}
	filters := Commas(p.Topics)
	if len(filters) == 0 || len(filters) > maxTopics {
		return c.Wrong("plantBroker.topics", "must be 1 to %d topic filters with commas between; they are %d", maxTopics, len(filters))
	}
	for _, filter := range filters {
		if err := mqtt.CheckFilter(filter); err != nil {
			return c.Wrong("plantBroker.topics", "%w", err)
		}
	}
	if p.Template != "" {
		if _, err := mqtt.ParseTopic(p.Template); err != nil {
			return c.Wrong("plantBroker.template", "%w", err)
		}
	}
	if p.Mapping != "" {
		if err := transform.CheckExpression(p.Mapping); err != nil {
			return c.Wrong("plantBroker.mapping", "%w", err)
		}
	}
	if len(c.PlantClientID()) > 64 {
		return c.Wrong("plantBroker.clientId", "must be 64 bytes or fewer; it has %d", len(p.ClientID))
	}
	return nil
}

// PlantClientID is the client id at the plant's broker.
func (c Settings) PlantClientID() string {
	if c.PlantBroker.ClientID != "" {
		return c.PlantBroker.ClientID
	}
	return c.Name
}

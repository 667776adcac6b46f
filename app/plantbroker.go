package app

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"opsmon/app/host/namedfile"
	"opsmon/app/httpapi"
	"opsmon/app/ingest/mqtt"
	"opsmon/app/ingest/transform"
)

// PlantBroker says how signals come from the plant's own MQTT broker (monitoring.md section 2).
type PlantBroker struct {
	URL          string `yaml:"url"` // mqtts://broker.plant.example:8883; "" = there is none
	CA           string `yaml:"ca"`  // file with the authorities that are trusted, in PEM; "" = the machine's
	Username     string `yaml:"username"`
	PasswordFile string `yaml:"passwordFile"` // its first line is the password
	ClientID     string `yaml:"clientId"`     // the broker keeps what comes while this one is away; "" = name
	Topics       string `yaml:"topics"`       // filters, with commas between
	Template     string `yaml:"template"`     // of topics, to take the station from
	Mapping      string `yaml:"mapping"`      // JSONata that makes a signal of a message, or an array of them
	Account      string `yaml:"account"`      // whose signals they are; "" = the only one there is
}

// WorkerCommand is the hidden command of the program that evaluates a mapping (package transform).
const WorkerCommand = "transform-worker"

func (c Config) checkPlantBroker() error {
	p := c.PlantBroker
	if p.URL == "" {
		if p.Topics != "" || p.Mapping != "" || p.Template != "" {
			return c.wrong("plantBroker.url", "must be given: the address of the plant's broker, such as mqtts://broker.plant.example:8883")
		}
		return nil
	}
	if _, err := mqtt.ParseBrokerURL(p.URL); err != nil {
		return c.wrong("plantBroker.url", "%w", err)
	}
	filters := commas(p.Topics)
	if len(filters) == 0 || len(filters) > maxTopics {
		return c.wrong("plantBroker.topics", "must be 1 to %d topic filters with commas between; they are %d", maxTopics, len(filters))
	}
	for _, filter := range filters {
		if err := mqtt.CheckFilter(filter); err != nil {
			return c.wrong("plantBroker.topics", "%w", err)
		}
	}
	if p.Template != "" {
		if _, err := mqtt.ParseTopic(p.Template); err != nil {
			return c.wrong("plantBroker.template", "%w", err)
		}
	}
	if p.Mapping != "" {
		if err := transform.CheckExpression(p.Mapping); err != nil {
			return c.wrong("plantBroker.mapping", "%w", err)
		}
	}
	if len(c.plantClient()) > 64 {
		return c.wrong("plantBroker.clientId", "must be 64 bytes or fewer; it has %d", len(p.ClientID))
	}
	return nil
}

// plantClient is the client id at the plant's broker.
func (c Config) plantClient() string {
	if c.PlantBroker.ClientID != "" {
		return c.PlantBroker.ClientID
	}
	return c.Name
}

// plant is what brings signals from the plant's own broker; empty where there is none, or no service runs.
type plant struct {
	client  *mqtt.Plant
	mapping *transform.Evaluator
}

// startPlant connects to the plant's broker, where one is set.
func (a *App) startPlant() error {
	p := a.cfg.PlantBroker
	if p.URL == "" {
		return nil
	}
	u, err := mqtt.ParseBrokerURL(p.URL)
	if err != nil {
		return a.cfg.wrong("plantBroker.url", "%w", err)
	}
	cfg := mqtt.PlantConfig{URL: u, Username: p.Username, ClientID: a.cfg.plantClient(), Topics: commas(p.Topics), Account: a.plantAccount, Log: a.log}
	if p.CA != "" {
		pem, err := namedfile.Read(p.CA)
		if err != nil {
			return a.cfg.wrong("plantBroker.ca", "cannot be read: %w", err)
		}
		cfg.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
		if !cfg.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return a.cfg.wrong("plantBroker.ca", "must be a file with certificates in PEM; %s has none", p.CA)
		}
	}
	if p.PasswordFile != "" {
		cfg.Password = func() (string, error) { return firstLine(p.PasswordFile) }
	}
	if p.Template != "" {
		topic, err := mqtt.ParseTopic(p.Template)
		if err != nil {
			return a.cfg.wrong("plantBroker.template", "%w", err)
		}
		cfg.Template = &topic
	}
	if p.Mapping != "" {
		program, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find this program's file: %w", err)
		}
		a.plant.mapping = transform.NewEvaluator(transform.EvaluatorConfig{Command: []string{program, WorkerCommand}, Expression: p.Mapping, Log: a.log})
		cfg.Mapping = a.plant.mapping
	}
	a.plant.client = mqtt.StartPlant(a.broker, cfg)
	return nil
}

// endPlant ends what startPlant began.
func (a *App) endPlant() {
	if a.plant.client != nil {
		a.plant.client.Close()
	}
	if a.plant.mapping != nil {
		a.plant.mapping.Close()
	}
}

// plantAccount gives the account that the plant's broker sends for.
func (a *App) plantAccount() (string, error) {
	if id := a.cfg.PlantBroker.Account; id != "" {
		_, err := a.stationsOf(id)
		return id, err
	}
	list := a.accounts.List(false)
	if len(list) != 1 {
		return "", fmt.Errorf("this appliance holds %d accounts: name the one that the plant's broker sends for with plantBroker.account", len(list))
	}
	return list[0].ID, nil
}

// firstLine reads a secret that stands in a file.
func firstLine(path string) (string, error) {
	b, err := namedfile.Read(path)
	if err != nil {
		return "", err
	}
	if text := namedfile.FirstLine(b); text != "" {
		return text, nil
	}
	return "", errors.New(path + " is empty")
}

// plantGauges measures the client of the plant's broker, for /metrics.
func (a *App) plantGauges() []httpapi.Gauge {
	if a.plant.client == nil {
		return nil
	}
	s := a.plant.client.Stats()
	return []httpapi.Gauge{
		{Name: "app_plant_broker_connected", Help: "1 while the plant's own broker is connected.", Value: map[bool]float64{true: 1}[s.Connected]},
		{Name: "app_plant_broker_messages_total", Help: "Messages that came from the plant's own broker.", Value: float64(s.Messages), Total: true},
		{Name: "app_plant_broker_ignored_total", Help: "Of them, those that the mapping makes nothing of.", Value: float64(s.Ignored), Total: true},
		{Name: "app_plant_broker_refused_total", Help: "Of them, those that are no signals.", Value: float64(s.Refused), Total: true},
	}
}

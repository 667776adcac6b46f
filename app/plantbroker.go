package app

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"opsmon/app/host/config"
	"opsmon/app/host/namedfile"
	"opsmon/app/httpapi/rest"
	"opsmon/app/ingest/mqtt"
	"opsmon/app/ingest/transform"
)

// WorkerCommand is the hidden command of the program that evaluates a mapping (package transform).
const WorkerCommand = "transform-worker"

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
		return a.cfg.Wrong("plantBroker.url", "%w", err)
	}
	cfg := mqtt.PlantConfig{URL: u, Username: p.Username, ClientID: a.cfg.PlantClientID(), Topics: config.Commas(p.Topics), Account: a.plantAccount, Log: a.log}
	if p.CA != "" {
		pem, err := namedfile.Read(p.CA)
		if err != nil {
			return a.cfg.Wrong("plantBroker.ca", "cannot be read: %w", err)
		}
		cfg.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
		if !cfg.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return a.cfg.Wrong("plantBroker.ca", "must be a file with certificates in PEM; %s has none", p.CA)
		}
	}
	if p.PasswordFile != "" {
		cfg.Password = func() (string, error) { return firstLine(p.PasswordFile) }
	}
	if p.Template != "" {
		topic, err := mqtt.ParseTopic(p.Template)
		if err != nil {
			return a.cfg.Wrong("plantBroker.template", "%w", err)
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

// plantAccount returns the account that the plant's broker sends for.
func (a *App) plantAccount() (string, error) {
	if id := a.cfg.PlantBroker.Account; id != "" {
		_, err := a.stationsOf(id)
		return id, err
	}
	list := a.services.Accounts.List(false)
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
func (a *App) plantGauges() []rest.Gauge {
	if a.plant.client == nil {
		return nil
	}
	s := a.plant.client.Stats()
	return []rest.Gauge{
		{Name: "app_plant_broker_connected", Help: "1 while the plant's own broker is connected.", Value: map[bool]float64{true: 1}[s.Connected]},
		{Name: "app_plant_broker_messages_total", Help: "Messages that came from the plant's own broker.", Value: float64(s.Messages), Total: true},
		{Name: "app_plant_broker_ignored_total", Help: "Of them, those that the mapping makes nothing of.", Value: float64(s.Ignored), Total: true},
		{Name: "app_plant_broker_refused_total", Help: "Of them, those that are no signals.", Value: float64(s.Refused), Total: true},
	}
}

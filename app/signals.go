package app

import (
	"time"

	"opsmon/app/httpapi/rest"
	"opsmon/app/ingest/signal"
)

// days returns a number of days as a duration.
func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// signalGauges counts what machines send, for /metrics.
func (a *App) signalGauges() []rest.Gauge {
	c := a.services.Signals.Counts()
	list := []rest.Gauge{
		{Name: "app_signals_accepted_total", Help: "Signals that count.", Value: float64(c.Accepted), Total: true},
		{Name: "app_signals_repeated_total", Help: "Accepted signals whose id came before.", Value: float64(c.Repeated), Total: true},
		{Name: "app_signals_clock_corrected_total", Help: "Accepted signals whose time was more than two minutes in the future.", Value: float64(c.Corrected), Total: true},
		{Name: "app_signals_throttled_total", Help: "Batches and messages that were refused for now, or made to wait, since one device sent too many or the machine could not evaluate more.", Value: float64(c.Throttled), Total: true},
		{Name: "app_signals_waiting", Help: "Signals that are stored and not packed yet.", Value: float64(a.services.Signals.Tail())},
		{Name: "app_devices_clock_ahead", Help: "Devices whose clock was more than two minutes ahead when they last told a time.", Value: float64(c.Skewed)},
	}
	for _, cause := range signal.Causes() {
		list = append(list, rest.Gauge{
			Name: "app_signals_refused_total", Help: "Signals that were refused, by what was wrong.", Value: float64(c.Refused[cause]), Total: true, Label: [2]string{"cause", string(cause)},
		})
	}
	return list
}

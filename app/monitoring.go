package app

import (
	"encoding/json"
	"log/slog"

	"opsmon/app/auth"
	"opsmon/app/deliver/event"
	"opsmon/app/httpapi/rest"
)

// changed tells the floor, and who watches, that an account has changed.
func (a *App) changed(accountID string) {
	a.services.Floor.Changed(accountID)
	newest, _, err := a.services.Accounts.Revisions(auth.Principal{AccountID: accountID}, 1, 0)
	if err != nil || len(newest) == 0 {
		a.log.Error("a new revision is not told to who watches", slog.String("account", accountID), slog.Any("error", err))
		return
	}
	if was, known := a.told.Swap(accountID, newest[0].Revision); known && was == newest[0].Revision {
		return // it was archived, or has come back
	}
	data, err := json.Marshal(newest[0])
	if err != nil {
		a.log.Error("a new revision is not told to who watches", slog.String("account", accountID), slog.Any("error", err))
		return
	}
	a.services.Events.Publish(accountID, event.Event{At: a.cfg.Clock().UnixMilli(), Type: event.Account, Data: data})
}

// floorGauges measures how the stations of all accounts keep up.
func (a *App) floorGauges() []rest.Gauge {
	var stations, late, loading, failing, behind float64
	now, oldest := a.cfg.Clock().UnixMilli(), int64(0)
	for _, account := range a.services.Accounts.List(false) {
		h := a.services.Floor.Health(account.ID)
		stations += float64(h.Stations)
		late += float64(h.Late)
		failing += float64(h.Failing)
		if h.Behind != 0 {
			behind = max(behind, float64(now-h.Behind)/1000)
		}
		if h.Loading {
			loading++
		}
		if h.Kept != 0 && (oldest == 0 || h.Kept < oldest) {
			oldest = h.Kept
		}
	}
	list := []rest.Gauge{
		{Name: "app_floor_stations", Help: "Stations that are followed.", Value: stations},
		{Name: "app_floor_late_stations", Help: "Stations that are to be computed again because something came late.", Value: late},
		{Name: "app_floor_behind_seconds", Help: "How far back figures are still to change because something came late; 0 when none are.", Value: behind},
		{Name: "app_floor_failing", Help: "What falls due by itself at stations and cannot be done, of each station by itself; the log tells why.", Value: failing},
		{Name: "app_floor_loading_accounts", Help: "Accounts whose stations are being read since the start.", Value: loading},
	}
	if oldest != 0 {
		list = append(list, rest.Gauge{Name: "app_floor_kept_age_seconds", Help: "Age of the stored results; signals since then are processed again after a restart.", Value: float64(now-oldest) / 1000})
	}
	return list
}

package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"opsmon/app/errdefs"
	"opsmon/app/host/config"
	"opsmon/app/httpapi"
	"opsmon/app/httpapi/appliance"
)

// Offline serves the machine's own administrator what is done with a data directory while nobody has its store open: POST
// /local/restore and /local/compact. All else gets 503. It must never be reachable from the network.
func Offline(cfg config.Settings, log *slog.Logger) http.Handler {
	return httpapi.New(httpapi.Config{
		Log: log, Closed: func() error { return errOffline }, Restorer: offline{cfg},
		Backups: appliance.Backups{Scratch: cfg.DataDir},
		Compact: func(ctx context.Context) (appliance.Compacted, error) {
			r, err := Compact(ctx, cfg, log)
			return r, told(err)
		},
		Status: func() appliance.Status { return statusOf(cfg, nil) },
	}).Local()
}

var errOffline = errors.New("no service runs on the data directory")

// offline restores where no service runs.
type offline struct{ cfg config.Settings }

// Restore implements httpapi.Restorer.
func (o offline) Restore(ctx context.Context, in RestoreInput) (Restored, error) {
	r, err := Restore(ctx, o.cfg, in)
	return r, told(err)
}

// Begin implements httpapi.Restorer: nobody would be there to ask how it goes.
func (offline) Begin(RestoreInput) (*appliance.RestoreState, error) {
	return nil, errdefs.New(errdefs.Unavailable, "%v", errOffline)
}

// State implements httpapi.Restorer.
func (offline) State() *appliance.RestoreState { return nil }

// told makes an error one whose words the administrator gets.
func told(err error) error {
	if known := (*errdefs.Error)(nil); err == nil || errors.As(err, &known) {
		return err
	}
	return &errdefs.Error{Kind: errdefs.Unavailable, Message: err.Error(), Err: err}
}

package app

import (
	"errors"
	"os"
	"time"

	"opsmon/app/host/config"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/instant"
	"opsmon/kv"
)

// statusOf returns how an App is, which may be nil: away.
func statusOf(cfg config.Settings, a *App) appliance.Status {
	st := appliance.Status{Version: BuildInfo().Version, PID: os.Getpid(), DataDir: cfg.DataDir, URLs: []string{}, Memory: memoryStatus()}
	if a != nil {
		st.SetupCode = a.SetupCode()
		st.Store = &appliance.StoreStatus{Full: a.store.Full(), Version: a.store.Version()}
		if u, err := a.store.Usage(); err == nil {
			st.Store.Bytes, st.Store.Free = u.Bytes, u.Free
		}
		st.Backup = a.backupStatus()
	}
	return st
}

// status returns how the service is. It does not wait for writes.
func (h *Host) status() appliance.Status {
	a := h.app.Load()
	st := statusOf(h.cfg, a)
	st.StartedAt = new(instant.Format(h.began))
	st.URL = h.base.get()
	st.Listen, st.ClearListen = addressOf(h.network), addressOf(h.secure.clear)
	st.MQTTListen, st.MQTTInsecureListen = addressOf(h.mqtt.secure), addressOf(h.mqtt.clear)
	st.URLs = append(st.URLs, h.urls()...)
	st.Certificate = h.secure.status(h.trustPages)
	why := h.why()
	if a != nil {
		why = a.ready()
	}
	st.Ready = why == nil
	st.Starting = why == errStarting || why == errLoading
	if why != nil {
		st.Reason, st.Mend = why.Error(), h.mending(why)
	}
	return st
}

// pulse is the record that Probe writes: the time at which the store last took a write for it.
var pulse = kv.NewBucket("pulse", kv.String, kv.JSON[time.Time]())

// pulseKey is the one key of that bucket.
const pulseKey = "probe"

// Probe makes a small write to the store and waits for it, as a request would; a service whose Probe does not return
// is hung. It returns at once when there is no store for the moment. The error says why requests that write are not
// served: that is no reason to start the service again, it mends itself (a full disk) or needs a person (damage).
func (h *Host) Probe() error {
	a := h.app.Load()
	if a == nil {
		return h.why()
	}
	if err := a.store.Attached(); err != nil {
		return err
	}
	err := a.store.Update(func(tx *kv.Tx) error { return pulse.Put(tx, pulseKey, tx.Now()) })
	if errors.Is(err, kv.ErrClosed) {
		return h.why() // it was taken away meanwhile
	}
	return err
}

package httpapi

import (
	"net/url"
	"time"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/signal"
	"opsmon/schema"
	"opsmon/schema/strictjson"
)

// signalLimit is the size of a body of POST /signal: ten thousand signals with everything in them.
const signalLimit = 4 << 20

// postSignal answers POST /signal (monitoring.md section 2).
func postSignal(c *call) (reply, error) {
	b, err := c.bytes()
	if err != nil {
		return reply{}, err
	}
	v, err := strictjson.Decode(b)
	if err != nil {
		return reply{}, invalidJSON(err)
	}
	if err := check(schema.SignalBatch, v); err != nil {
		return reply{}, err
	}
	objects, _ := v.(map[string]any)["signals"].([]any)
	if n := len(objects); n > signal.MaxBatch {
		return reply{}, errdefs.InvalidField("signals", "must have %d items or fewer; it has %d", signal.MaxBatch, n)
	}
	snap, err := c.api.cfg.Accounts.Get(c.p.AccountID)
	if err != nil {
		return reply{}, err
	}
	if snap.Account.ArchivedAt != nil {
		return reply{}, errdefs.New(errdefs.Conflict, "the account %s is archived: it can be read and not changed", c.p.AccountID)
	}
	known, err := snap.Stations()
	if err != nil {
		return reply{}, err
	}
	outcomes, err := c.api.cfg.Signals.Take(signal.Sender{
		Account: c.p.AccountID, Source: c.p.Actor().Credential, Stations: c.p.StationCodes, Known: known,
	}, objects, signal.HTTP)
	if err != nil {
		return reply{}, err
	}
	return list(outcomes, -1)
}

// deviceLine is a device with what is known of it since the service started.
type deviceLine struct {
	auth.Device
	LastSeenAt *audit.Time `json:"lastSeenAt"` // null: not yet
	Accepted   uint64      `json:"accepted"`
	Refused    uint64      `json:"refused"`
	AheadMs    int64       `json:"clockAheadMs"`
}

func (c *call) line(d auth.Device) deviceLine {
	seen := c.api.cfg.Signals.Seen("device:" + d.ID)
	l := deviceLine{Device: d, Accepted: seen.Accepted, Refused: seen.Refused, AheadMs: seen.AheadMs}
	if seen.LastAt != 0 {
		l.LastSeenAt = audit.TimeOrNil(time.UnixMilli(seen.LastAt))
	}
	return l
}

// getDevices answers GET /device.
func getDevices(c *call) (reply, error) {
	devices, err := c.api.cfg.Auth.ListDevices(c.p)
	if err != nil {
		return reply{}, err
	}
	lines := make([]deviceLine, len(devices))
	for i, d := range devices {
		lines[i] = c.line(d)
	}
	return list(lines, -1)
}

// postDevice answers POST /device: its token is shown once.
func postDevice(c *call) (reply, error) {
	var in auth.DeviceInput
	if err := c.decode(schema.DeviceCreate, false, &in); err != nil {
		return reply{}, err
	}
	if err := c.api.cfg.Accounts.HaveStations(c.p.AccountID, "stationCodes", in.StationCodes); err != nil {
		return reply{}, err
	}
	d, token, err := c.api.cfg.Auth.AddDevice(c.p, in)
	if err != nil {
		return reply{}, err
	}
	out, err := ok(struct {
		ID    string `json:"id"`
		Token string `json:"token"`
	}{d.ID, token})
	out.header = [][2]string{{"Location", "/device/" + url.PathEscape(d.Name)}}
	return out, err
}

// deleteDevice answers DELETE /device/{device}: its id or its name.
func deleteDevice(c *call) (reply, error) {
	if err := c.api.cfg.Auth.RevokeDevice(c.p, c.params.ByName("device")); err != nil {
		return reply{}, err
	}
	return reply{status: 204}, nil
}

// Package signals serves signals and the devices that send them.
package signals

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/ingest/signal"
	"opsmon/app/instant"
	"opsmon/schema"
	"opsmon/schema/strictjson"
)

// API has the services of these operations.
type API struct {
	Accounts *account.Service
	Auth     *auth.Service
	Signals  *signal.Log
	// Connections returns the number of open MQTT connections of a device by its ID; nil: no MQTT.
	Connections func(deviceID string) int
	Log         *slog.Logger
	// Piece is the approximate number of signals in memory while they are counted; 0: 20,000.
	Piece int
}

// Routes returns the operations on signals and devices.
func (api *API) Routes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/device", Handle: api.getDevices, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "listDevices", Tag: "Signal", Summary: "List the devices",
				About: "Each device with its last signal, amount, rate, errors and clock. This survives restarts of " +
					"the service.",
				Answer: "The devices, by name.", Form: openapi.FormList, Gives: "Device",
				Sample: `{"id":"acme/press-gateway","name":"press-gateway","stationCodes":["PACK-1","PACK-2"],
					"createdAt":"2026-11-20T08:15:30.123Z","lastSeenAt":"2026-11-21T06:00:02.040Z","accepted":81204,
					"refused":1,"throttled":0,"signalsPerSecond":0.2,"clockAheadMs":0,
					"lastIssue":"rssi must be a number","lastIssueAt":"2026-11-20T17:31:09.412Z","connections":1}`,
			},
		},
		{
			Method: http.MethodPost, Path: "/device", Handle: api.postDevice, Body: true, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "addDevice", Tag: "Signal", Summary: "Add a device",
				About: "A device may only send signals of its stations. Its token is shown once. It goes into " +
					"`X-API-KEY` or, for MQTT, is the password, with the id as user name.\n\n409: another device " +
					"has the name, or the account is archived.",
				Answer: "The device's id and token.", Body: schema.DeviceCreate, Form: openapi.FormResult,
				Gives: "DeviceToken", Also: []int{409}, Location: true,
				Sample: `{"id":"acme/press-gateway","token":"opd_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2"}`,
			},
		},
		{
			Method: http.MethodDelete, Path: "/device/:device", Handle: api.deleteDevice, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "revokeDevice", Tag: "Signal", Summary: "Revoke a device",
				About: "The token stops working, and open connections of the device end, at once.\n\n409: the " +
					"account is archived.",
				Answer: "Revoked.", Form: openapi.FormEmpty, Also: []int{404, 409},
				Params: openapi.Params{
					"device": {
						About:  "The device's name, or its id.",
						Schema: `{"type": "string", "minLength": 1}`, Example: "press-gateway",
					},
				},
			},
		},
		{
			Method: http.MethodGet, Path: "/signal", Handle: api.getSignals,
			Query: []string{"stationcode", "from", "to", "rangecode", "archived", "limit", "skip"},
			Operation: openapi.Operation{
				ID: "listSignals", Tag: "Signal", Summary: "List a station's signals",
				About: "Every accepted signal as it is stored, oldest first. The range may be one day: 25 hours " +
					"where the clock goes back.",
				Answer: "A page of signals.", Form: openapi.FormPage, Gives: "SignalLine", Also: []int{400},
				Sample: `{"at":"2026-11-20T08:15:30.123Z","arrivedAt":"2026-11-20T08:15:30.320Z",
					"source":"device:acme/press-gateway","id":"81723","clockCorrected":false,
					"values":{"productive":true,"productionCountGood":48211,"electricalKw":4.2}}`,
				Params: openapi.OneStation("limit", openapi.Param{
					About:  "Maximum number of results.",
					Schema: `{"type": "integer", "minimum": 1, "maximum": 10000, "default": 1000}`, Example: 500,
				}),
			},
		},
		{
			Method: http.MethodPost, Path: "/signal", Handle: api.postSignal, Role: auth.Member, Devices: true,
			Limit: signalLimit,
			Operation: openapi.Operation{
				ID: "sendSignals", Tag: "Signal", Summary: "Send signals",
				About: "For devices, members and admins. Accepted signals are durable when the answer is sent. A " +
					"rejected signal does not affect the others; causes are: not an object, an unknown station, " +
					"a wrong value, a time before the retention limit, or a millisecond for which the station " +
					"already has 20,000 signals. A signal more than two minutes in the future gets the time of " +
					"its arrival.\n\nBodies may have 4 MiB.\n\n409: the account is archived. 429: this " +
					"credential sends too many signals; send them again after `Retry-After`.",
				Answer: "The outcome of each signal.", Body: schema.SignalBatch, Form: openapi.FormList,
				Gives: "SignalOutcome", Also: []int{409},
				Sample: `{"index":0,"accepted":true,"issue":""}`,
			},
		},
	}
}

// signalLimit is the largest body of POST /signal: ten thousand signals with every field.
const signalLimit = 4 << 20

// postSignal handles POST /signal (monitoring.md section 2).
func (api *API) postSignal(c *rest.Call) (rest.Reply, error) {
	source, sent := c.Principal.Actor().Credential, 1 // an invalid body counts as one signal
	done, wait := api.Signals.Admit(c.Principal.AccountID, source)
	if wait > 0 {
		return rest.Reply{}, &errdefs.Error{Kind: errdefs.TooMany, Message: "more signals come from this credential than it may send; send the same again after the time in Retry-After", RetryAfter: wait}
	}
	defer func() { done(sent) }()
	objects, err := api.batch(c)
	if err != nil {
		return rest.Reply{}, err
	}
	sent = len(objects)
	snap, err := api.Accounts.Get(c.Principal.AccountID)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := snap.Account.Writable(); err != nil {
		return rest.Reply{}, err
	}
	known, err := snap.Stations()
	if err != nil {
		return rest.Reply{}, err
	}
	outcomes, err := api.Signals.Take(signal.Sender{
		Account: c.Principal.AccountID, Source: source, Mine: oneOf(c.Principal.StationCodes, len(objects)), Known: known,
	}, objects, signal.HTTP)
	if err != nil {
		return rest.Reply{}, err
	}
	return outcomesReply(outcomes)
}

// batch decodes the body as signals. An invalid body is counted and shown at the device that sent it, as over MQTT.
func (api *API) batch(c *rest.Call) (objects []any, err error) {
	b, err := c.Bytes()
	if err == nil {
		objects, err = signalsOf(b)
	}
	var e *errdefs.Error
	if errors.As(err, &e) && (e.Kind == errdefs.Invalid || e.Kind == errdefs.TooLarge) {
		api.Signals.NoteRefused(signal.Sender{Account: c.Principal.AccountID, Source: c.Principal.Actor().Credential}, signal.CauseMalformed, e.Message, 1)
	}
	return objects, err
}

// outcomesReply is list for outcomes of signals, at a fraction of the cost, because there may be ten thousand.
func outcomesReply(outcomes []signal.Outcome) (rest.Reply, error) {
	const usual = `{"index":1234,"accepted":true,"issue":""},`
	b := make([]byte, 0, 64+len(outcomes)*len(usual))
	b = append(b, `{"isSuccess":true,"results":[`...)
	for i := range outcomes {
		o := &outcomes[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"index":`...), int64(o.Index), 10)
		b = strconv.AppendBool(append(b, `,"accepted":`...), o.Accepted)
		b = append(b, `,"issue":`...)
		if o.Issue == "" {
			b = append(b, `""}`...)
			continue
		}
		issue, err := rest.Marshal(o.Issue)
		if err != nil {
			return rest.Reply{}, err
		}
		b = append(append(b, issue...), '}')
	}
	return rest.Reply{Body: append(b, `]}`...)}, nil
}

// setPays is the number of lookups from which making a set of a list is faster.
const setPays = 32

// oneOf returns a function that reports whether a code is in a list, for about times calls; nil for no list.
func oneOf(codes []string, times int) func(code string) bool {
	switch {
	case codes == nil:
		return nil
	case times < setPays:
		return func(code string) bool { return slices.Contains(codes, code) }
	}
	set := make(map[string]bool, len(codes))
	for _, code := range codes {
		set[code] = true
	}
	return func(code string) bool { return set[code] }
}

// The longest range of signals, a day of 25 hours for the end of daylight saving time, and the most signals in one
// answer.
const (
	longestSignals = 25 * time.Hour
	mostSignals    = 10_000
	signalPiece    = 20_000 // in memory while they are counted
)

// signalLine is a stored signal.
//
//openapi:schema SignalLine
type signalLine struct {
	At        string  `json:"at" schema:"ref=Moment"`
	ArrivedAt string  `json:"arrivedAt" schema:"ref=Moment"`
	Source    string  `json:"source"` // the sender's credential
	ID        *string `json:"id"`     // the sender's id; null if it sent none
	// Its time was too far in the future, so it has the time of its arrival.
	ClockCorrected bool `json:"clockCorrected"`
	// Its values, by the names of POST /signal.
	Values map[string]any `json:"values" schema:"type=number|boolean|string"`
}

// getSignals handles GET /signal: the stored signals of a station.
func (api *API) getSignals(c *rest.Call) (rest.Reply, error) {
	limit, skip := c.Page(1000, mostSignals)
	x, err := c.ChooseOne(longestSignals)
	if err == nil {
		err = c.WaitLong() // there may be very many
	}
	if err != nil {
		return rest.Reply{}, err
	}
	s := &x.Stations[0]
	lines, total := []signalLine{}, 0
	for from := s.Begin; from < s.End; {
		if err := c.Request.Context().Err(); err != nil {
			return rest.Reply{}, err
		}
		to := min(s.End, (signal.Day(from)+1)*instant.DayMs)
		piece, end, err := api.Signals.Some(c.Principal.AccountID, s.Code, from, to, cmp.Or(api.Piece, signalPiece), func() {})
		if err != nil {
			return rest.Reply{}, err
		}
		for i := min(len(piece), max(0, skip-total)); i < len(piece) && len(lines) < limit; i++ {
			lines = append(lines, signalLineOf(&piece[i]))
		}
		total, from = total+len(piece), end
	}
	return rest.List(lines, total)
}

func signalLineOf(s *signal.Signal) signalLine {
	return signalLine{At: instant.FormatMs(s.At), ArrivedAt: instant.FormatMs(s.Arrived), Source: s.Source, ID: rest.OrNull(s.ID), ClockCorrected: s.ClockCorrected, Values: s.Sent()}
}

// signalsOf decodes a body as signals. The signal log decides whether each is valid.
func signalsOf(body []byte) (objects []any, err error) {
	if objects, ok := signal.QuickBatch(body); ok {
		return objects, nil
	}
	v, err := strictjson.Decode(body)
	if err != nil {
		return nil, rest.InvalidJSON(err)
	}
	if err := rest.Violations(schema.SignalBatch, ofObjects(v)).Err("the body"); err != nil {
		return nil, err
	}
	objects, _ = v.(map[string]any)["signals"].([]any)
	if n := len(objects); n > signal.MaxBatch {
		return nil, errdefs.InvalidField("signals", "must have %d items or fewer; it has %d", signal.MaxBatch, n)
	}
	return objects, nil
}

// ofObjects returns a batch with an empty object in place of each item that is not an object: the log refuses only
// those, and the rest of the body is validated as usual.
func ofObjects(batch any) any {
	none := func(item any) bool { _, is := item.(map[string]any); return !is }
	body, _ := batch.(map[string]any)
	items, _ := body["signals"].([]any)
	if !slices.ContainsFunc(items, none) {
		return batch
	}
	body, items = maps.Clone(body), slices.Clone(items)
	for i := range items {
		if none(items[i]) {
			items[i] = map[string]any{}
		}
	}
	body["signals"] = items
	return body
}

// deviceLine is a credential that may send the signals of its stations, and its state.
//
//openapi:schema Device
type deviceLine struct {
	auth.Device
	LastSeenAt *instant.Time `json:"lastSeenAt"` // null if that has not happened yet
	Accepted   uint64        `json:"accepted"`   // accepted signals
	Refused    uint64        `json:"refused"`    // rejected signals
	// Batches and messages that were delayed or rejected because the device sent too many.
	Throttled uint64  `json:"throttled"`
	Rate      float64 `json:"signalsPerSecond" schema:"min=0"` // signals per second, averaged over about a minute
	// Milliseconds by which its clock was ahead at its last signal with a time.
	AheadMs int64 `json:"clockAheadMs" schema:"min=0"`
	// The last problem with one of its signals; null if there was none.
	Issue *string `json:"lastIssue"`
	// Time of the last problem; null if there was none.
	IssueAt     *instant.Time `json:"lastIssueAt"`
	Connections int           `json:"connections" schema:"min=0"` // open MQTT connections
}

func (api *API) line(c *rest.Call, d auth.Device) deviceLine {
	seen := api.Signals.Seen(c.Principal.AccountID, "device:"+d.ID)
	l := deviceLine{
		Device: d, Accepted: seen.Accepted, Refused: seen.Refused, Throttled: seen.Throttled, AheadMs: seen.AheadMs, Rate: math.Round(seen.Rate*100) / 100,
	}
	if seen.LastAt != 0 {
		l.LastSeenAt = instant.OrNil(time.UnixMilli(seen.LastAt))
	}
	if seen.Issue != "" {
		l.Issue, l.IssueAt = &seen.Issue, instant.OrNil(time.UnixMilli(seen.IssueAt))
	}
	if api.Connections != nil {
		l.Connections = api.Connections(d.ID)
	}
	return l
}

// getDevices handles GET /device.
func (api *API) getDevices(c *rest.Call) (rest.Reply, error) {
	devices, err := api.Auth.ListDevices(c.Principal)
	if err != nil {
		return rest.Reply{}, err
	}
	lines := make([]deviceLine, len(devices))
	for i, d := range devices {
		lines[i] = api.line(c, d)
	}
	return rest.List(lines, -1)
}

// deviceToken is a new device's token. It is shown once.
//
//openapi:schema DeviceToken
type deviceToken struct {
	ID string `json:"id"`
	// For X-API-KEY, or the MQTT password with the id as user name.
	Token string `json:"token"`
}

// postDevice handles POST /device: its token is shown once.
func (api *API) postDevice(c *rest.Call) (rest.Reply, error) {
	var in auth.DeviceInput
	if err := c.Decode(schema.DeviceCreate, false, &in, func() error { return in.Check() }, func() error {
		return api.Accounts.HaveStations(c.Principal.AccountID, "stationCodes", in.StationCodes)
	}); err != nil {
		return rest.Reply{}, err
	}
	d, token, err := api.Auth.AddDevice(c.Principal, in)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := api.Signals.Forget(c.Principal.AccountID, "device:"+d.ID); err != nil { // an earlier device had the same ID
		api.Log.Warn("what was known of an earlier device of the name stays", slog.String("device", d.ID), slog.Any("error", err))
	}
	out, err := rest.OK(deviceToken{d.ID, token})
	out.Header = [][2]string{{"Location", "/device/" + url.PathEscape(d.Name)}}
	return out, err
}

// deleteDevice handles DELETE /device/{device}: by its ID or its name.
func (api *API) deleteDevice(c *rest.Call) (rest.Reply, error) {
	if err := api.Auth.RevokeDevice(c.Principal, c.Params.ByName("device")); err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{Status: 204}, nil
}

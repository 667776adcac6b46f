package appliance

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"opsmon/app/auth"
	"opsmon/app/errdefs"
	hostlog "opsmon/app/host/log"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
)

// logRoutes returns the operations on the service's log.
func (api *API) logRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/appliance/log", Handle: api.getLog, Role: auth.Admin,
			Query: []string{"level", "before", "limit"},
			Operation: openapi.Operation{
				ID: "getLog", Tag: "Admin", Summary: "Read the service's log",
				About: "Lines of the last day, newest first, as far as memory allows: at most 10,000, half of which " +
					"are reserved for warnings and errors, and 4 MiB. A restart empties it; the operating " +
					"system's log has the rest. It holds no secrets. For earlier lines send `before` with the id " +
					"of the last line.",
				Answer: "Lines of the log.", Form: openapi.FormList, Gives: "LogLine", Also: []int{400},
				Sample: `{"id":1795162530124,"at":"2026-11-20T01:30:02.114Z","level":"info","message":"backup made",
					"attributes":{"file":"/var/lib/app/backups/app-20261120T013000Z.backup","bytes":1846211}}`,
				Params: openapi.Params{
					"level": {
						About:  "Minimum severity.",
						Schema: `{"type": "string", "enum": ["debug", "info", "warn", "error"]}`, Example: "warn",
					},
				},
			},
		},
	}
}

// logLine is a line of the service's log.
//
//openapi:schema LogLine
type logLine struct {
	ID         uint64          `json:"id" schema:"min=1"` // increases from line to line
	At         string          `json:"at" schema:"ref=Moment"`
	Level      string          `json:"level" schema:"enum=debug|info|warn|error"`
	Message    string          `json:"message"`
	Attributes json.RawMessage `json:"attributes" schema:"type=object"` // attributes by name; groups are joined by dots
}

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// getLog handles GET /appliance/log: lines of the last day, newest first.
func (api *API) getLog(c *rest.Call) (rest.Reply, error) {
	q := hostlog.Query{Least: slog.LevelDebug, Limit: c.Number("limit", 100, 1, 1000)}
	if name := c.Query("level"); name != "" {
		level, known := logLevels[name]
		if !known {
			c.Fault("level", "must be debug, info, warn or error; it is %q", errdefs.Shorten(name))
		}
		q.Least = level
	}
	if id := c.Query("before"); id != "" {
		n, err := strconv.ParseUint(id, 10, 64)
		if err != nil || n == 0 {
			c.Fault("before", "must be the id of a line; it is %q", errdefs.Shorten(id))
		}
		q.Before = n
	}
	if err := c.QueryError(); err != nil {
		return rest.Reply{}, err
	}
	lines := []logLine{}
	if api.Lines != nil {
		for _, l := range api.Lines(q) {
			lines = append(lines, logLine{l.ID, instant.Format(l.At), strings.ToLower(l.Level.String()), l.Message, l.Attributes})
		}
	}
	return rest.List(lines, -1)
}

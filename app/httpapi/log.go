package httpapi

import (
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"

	"opsmon/app/audit"
	"opsmon/app/host/logbook"
)

// logLine is a line of the service's log.
//
//openapi:schema LogLine
type logLine struct {
	ID         uint64          `json:"id" schema:"min=1"` // grows from line to line
	At         string          `json:"at" schema:"ref=Moment"`
	Level      string          `json:"level" schema:"enum=debug|info|warn|error"`
	Message    string          `json:"message"`
	Attributes json.RawMessage `json:"attributes" schema:"type=object"` // by name; of groups with dots between
}

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// getLog answers GET /appliance/log: lines of the last day, newest first.
func getLog(c *call) (reply, error) {
	q := logbook.Query{Least: slog.LevelDebug, Limit: c.number("limit", 100, 1, 1000)}
	if name := c.query("level"); name != "" {
		level, known := logLevels[name]
		if !known {
			c.fault("level", "must be debug, info, warn or error; it is %q", shorten(name))
		}
		q.Least = level
	}
	if id := c.query("before"); id != "" {
		n, err := strconv.ParseUint(id, 10, 64)
		if err != nil || n == 0 {
			c.fault("before", "must be the id of a line; it is %q", shorten(id))
		}
		q.Before = n
	}
	if err := c.unclear(); err != nil {
		return reply{}, err
	}
	lines := []logLine{}
	if c.api.cfg.Lines != nil {
		for _, l := range c.api.cfg.Lines(q) {
			lines = append(lines, logLine{l.ID, audit.Timestamp(l.At), strings.ToLower(l.Level.String()), l.Message, l.Attributes})
		}
	}
	return list(lines, -1)
}

package account

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/errdefs"
	"opsmon/schema/strictjson"
)

// Account is the stored record of an account: every field of http-api.md 2.1 except the arrays of its manifest, which
// are a separate document. The record is small, so changing one setting writes little.
//
// Stored as JSON: a changed field needs a migration (app/layout.go).
type Account struct {
	ID                string     `json:"id"`
	Domain            string     `json:"domain"`
	StationCountLimit *int64     `json:"stationCountLimit,omitempty"`
	WarehousePassword *string    `json:"warehousePassword,omitempty"`
	UploadTransforms  *string    `json:"uploadTransforms,omitempty"`
	AppURLs           *string    `json:"appUrls,omitempty"`
	CreatedAt         time.Time  `json:"createdAt"`
	UpdatedAt         time.Time  `json:"updatedAt"`
	ArchivedAt        *time.Time `json:"archivedAt,omitempty"`

	// Own has the settings that are part of the manifest, by name, in their original JSON. A missing setting is
	// unset.
	Own map[string]json.RawMessage `json:"own"`

	Revision uint64 `json:"revision"` // of the configuration; starts at 1
	Sequence uint64 `json:"sequence"` // of the record: counts every write, also of fields outside of the configuration
	Document Hash   `json:"document"` // the arrays: key of the document
	Rendered Hash   `json:"rendered"` // the rendered arrays, for the ETag
}

// Hash is a SHA-256; in JSON it is hexadecimal.
type Hash [32]byte

// MarshalText returns lower-case hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

// UnmarshalText parses hexadecimal.
func (h *Hash) UnmarshalText(b []byte) error {
	_, err := hex.Decode(h[:], b)
	return err
}

// ownFields are the account's settings that are part of a manifest, in the order of http-api.md 2.1 and 2.2.
var ownFields = func() []string {
	names := []string{
		"electricalPricePerKwh", "electricalCo2PerKwh", "currency", "maxProductionCountPerSchedule", "dashboardConfig", "durationFormat",
		"includeReasonCodes", "excludeReasonCodes", "includeTaskCodes", "excludeTaskCodes", "includeTaskListCodes", "excludeTaskListCodes",
	}
	for f := range manifest.FlagCount {
		if f.Top() == manifest.LevelAccount {
			names = append(names, f.String())
		}
	}
	return names
}()

// form selects a representation of an account.
type form uint8

const (
	formAnswer   form = iota // every field, null if unset
	formManifest             // inside manifest.account: own settings as received, no secret
)

// appendAccount appends the account's own members, without braces. secret includes the warehouse password.
func appendAccount(dst []byte, a *Account, f form, secret bool) []byte {
	dst = manifest.AppendString(append(dst, `"id":`...), a.ID)
	dst = manifest.AppendString(append(dst, `,"domain":`...), a.Domain)
	dst = appendValue(append(dst, `,"stationCountLimit":`...), a.StationCountLimit)
	for _, name := range ownFields {
		raw, ok := a.Own[name]
		if !ok && f == formManifest {
			continue
		}
		dst = append(append(append(dst, `,"`...), name...), `":`...)
		if !ok {
			raw = []byte("null")
		}
		dst = append(dst, raw...)
	}
	dst = append(dst, `,"warehousePassword":`...)
	if secret && f == formAnswer {
		dst = appendValue(dst, a.WarehousePassword)
	} else {
		dst = append(dst, "null"...)
	}
	dst = appendValue(append(dst, `,"uploadTransforms":`...), a.UploadTransforms)
	dst = appendValue(append(dst, `,"appUrls":`...), a.AppURLs)
	dst = manifest.AppendTime(append(dst, `,"createdAt":`...), a.CreatedAt)
	dst = manifest.AppendTime(append(dst, `,"updatedAt":`...), a.UpdatedAt)
	dst = append(dst, `,"archivedAt":`...)
	if a.ArchivedAt == nil {
		return append(dst, "null"...)
	}
	return manifest.AppendTime(dst, *a.ArchivedAt)
}

// appendValue appends a string or integer, or null for a nil pointer.
func appendValue[T string | int64](dst []byte, v *T) []byte {
	if v == nil {
		return append(dst, "null"...)
	}
	return append(dst, manifest.Encode(*v)...)
}

// clone returns a copy of the record that may be changed.
func (a *Account) clone() *Account {
	c := *a
	c.Own = make(map[string]json.RawMessage, len(a.Own))
	for k, v := range a.Own {
		c.Own[k] = v
	}
	return &c
}

// set changes a setting of the account and reports whether its value changed. Absent and null are equal, and numbers
// are compared by value.
func (a *Account) set(name string, v any) bool {
	raw := manifest.Encode(v)
	old, ok := a.Own[name]
	if !ok {
		old = []byte("null")
	}
	was, err := strictjson.Decode(old)
	if err == nil && manifest.EqualJSON(was, v) {
		return false
	}
	a.Own[name] = raw
	return true
}

// Writable returns errdefs.Conflict if the account is archived.
func (a *Account) Writable() error {
	if a.ArchivedAt == nil {
		return nil
	}
	return errdefs.New(errdefs.Conflict, "the account %s is archived: it can be read and not changed", a.ID)
}

// FlagsOn returns the names of the account's flags that are on, in the order of http-api.md 2.2.
func (a *Account) FlagsOn() []string {
	on := []string{}
	for f := range manifest.FlagCount {
		if a.FlagOn(f) {
			on = append(on, f.String())
		}
	}
	return on
}

// FlagOn reports whether a flag is on at the level of the account.
func (a *Account) FlagOn(f manifest.Flag) bool {
	raw := a.Own[f.String()]
	if string(raw) == `"on"` {
		return true
	}
	// The document may have written the text with escapes.
	return len(raw) > 2 && raw[0] == '"' && manifest.Plain(raw[1:len(raw)-1]) == "on"
}

// DashboardConfig returns the dashboard's free-form settings as a JSON object, {} if unset.
func (a *Account) DashboardConfig() json.RawMessage {
	if raw := a.Own["dashboardConfig"]; len(raw) > 0 && raw[0] == '{' {
		return raw
	}
	return json.RawMessage("{}")
}

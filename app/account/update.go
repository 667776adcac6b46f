package account

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"opsmon/app/account/manifest"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/ingest/transform"
	"opsmon/kv"
	"opsmon/schema"
	"opsmon/schema/strictjson"
)

// Update changes fields of the caller's account (http-api.md 4.1): missing fields remain, null clears. body is a
// result of strictjson. The change creates a revision, unless nothing changes.
func (s *Service) Update(p auth.Principal, body any, match *Match) (*Account, error) {
	if err := mayWrite(p); err != nil {
		return nil, err
	}
	patch, err := readPatch(body)
	if err != nil {
		return nil, err
	}
	var a *Account
	changed := false
	turn := s.changeLock(p.AccountID)
	turn.RLock()
	defer turn.RUnlock()
	err = s.store.Update(func(tx *kv.Tx) (err error) {
		if a, err = s.writable(tx, p, match); err != nil {
			return err
		}
		was := a.clone()
		names := patch.apply(a)
		if changed = len(names) > 0; !changed {
			return nil
		}
		if len(names) == 1 && names[0] == warehousePassword {
			err = touch(tx, a) // a secret is not part of the configuration
		} else {
			err = s.reviseSettings(tx, was, a, p)
		}
		if err != nil {
			return err
		}
		return audit.Put(tx, a.ID, p.Actor(), "account.update", a.ID, map[string]string{
			"fields": strings.Join(names, ","), "revision": strconv.FormatUint(a.Revision, 10),
		})
	})
	if err != nil {
		return nil, err
	}
	if changed {
		if err := s.publishRecord(a); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// AppendAnswer appends the account as in the answer of POST /account: without manifest and cursors. secret includes
// what only the role admin may see.
func (a *Account) AppendAnswer(dst []byte, secret bool) []byte {
	return append(appendAccount(append(dst, '{'), a, formAnswer, secret), '}')
}

// patch is a checked body of POST /account.
type patch struct {
	own               map[string]any // settings that are part of the manifest, dashboardConfig as an object
	uploadTransforms  *string
	hasTransforms     bool
	warehousePassword string // "" = unchanged
}

func readPatch(body any) (*patch, error) {
	var problems []errdefs.Detail
	for _, v := range schema.Validate(schema.AccountUpdate, body) {
		problems = append(problems, errdefs.Detail{Field: v.Path, Issue: v.Issue})
	}
	fields, _ := body.(map[string]any)
	p := &patch{own: make(map[string]any, len(fields))}
	for name, v := range fields {
		switch name {
		case "dashboardConfig":
			if text, ok := v.(string); ok {
				object, issue := readObject(text)
				if issue != "" {
					problems = append(problems, errdefs.Detail{Field: name, Issue: issue})
				}
				v = object
			}
			p.own[name] = v
		case "uploadTransforms":
			p.hasTransforms = true
			if text, ok := v.(string); ok {
				p.uploadTransforms = &text
				problems = append(problems, prefixed(name, transform.Check(text))...)
			}
		case "resetWarehousePassword":
			if v == true {
				p.warehousePassword = rand.Text()
			}
		default:
			p.own[name] = v
		}
	}
	slices.SortStableFunc(problems, func(a, b errdefs.Detail) int { return strings.Compare(a.Field, b.Field) })
	return p, errdefs.InvalidDetails("the body", problems)
}

// readObject decodes a JSON object from a string.
func readObject(text string) (any, string) {
	if len(text) > maxDashboard {
		return nil, fmt.Sprintf("must be %d KiB or smaller; it has %d bytes", maxDashboard>>10, len(text))
	}
	v, err := strictjson.Decode([]byte(text))
	if err != nil {
		return nil, "must be a string that holds a JSON object: " + err.Error()
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, `must be a string that holds a JSON object, such as "{\"home\":\"floor\"}"`
	}
	if n := len(manifest.Encode(v)); n > maxDashboard { // some characters take more bytes in the stored form
		return nil, fmt.Sprintf("must be %d KiB or smaller; it has %d bytes", maxDashboard>>10, n)
	}
	if n := levels(v); n > maxObjectLevels {
		return nil, fmt.Sprintf("must be nested %d levels or fewer, since a manifest holds it too; it has %d", maxObjectLevels, n)
	}
	return v, ""
}

// maxDashboard is the maximum size of dashboardConfig, in bytes of JSON: every revision has a copy.
const maxDashboard = 64 << 10

// maxObjectLevels is the maximum nesting of an object in manifest.account that strictjson accepts.
const maxObjectLevels = strictjson.MaxDepth - 2

// levels returns the nesting of objects and arrays in decoded JSON.
func levels(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			deepest = max(deepest, levels(member))
		}
	case []any:
		for _, item := range v {
			deepest = max(deepest, levels(item))
		}
	default:
		return 0
	}
	return deepest + 1
}

// apply changes a and returns the names of changed fields, in alphabetical order.
func (p *patch) apply(a *Account) []string {
	if a.Own == nil {
		a.Own = map[string]json.RawMessage{}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(p.own)) {
		if a.set(name, p.own[name]) {
			names = append(names, name)
		}
	}
	if p.hasTransforms && !same(a.UploadTransforms, p.uploadTransforms) {
		a.UploadTransforms = p.uploadTransforms
		names = append(names, "uploadTransforms")
	}
	if p.warehousePassword != "" {
		a.WarehousePassword = &p.warehousePassword
		names = append(names, warehousePassword)
	}
	return names
}

// warehousePassword is its field's name in the record of a change.
const warehousePassword = "warehousePassword"

func same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// Set changes a field that only the appliance's administrator may set: stationCountLimit (a whole number or "null")
// and appUrls (text or "null") (decisions.md section 2).
func (s *Service) Set(p auth.Principal, name, value string) (*Account, error) {
	if p.Type != auth.TypeLocal {
		return nil, errdefs.New(errdefs.Forbidden, "only the appliance's own administrator may set %s", name)
	}
	var limit *int64
	switch name {
	case "stationCountLimit":
		if value != "null" {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 {
				return nil, errdefs.InvalidField(name, "must be a whole number of at least 0, or null; it is %q", errdefs.Shorten(value))
			}
			limit = &n
		}
	case "appUrls":
	default:
		return nil, errdefs.InvalidField(name, "is not a field that can be set here; stationCountLimit and appUrls are")
	}
	var urls *string
	if name == "appUrls" && value != "null" {
		urls = &value
	}
	var a *Account
	turn := s.changeLock(p.AccountID)
	turn.Lock() // excludes manifests between checking the stations and setting the limit
	defer turn.Unlock()
	if err := s.leavesRoom(p.AccountID, limit); err != nil {
		return nil, err
	}
	err := s.store.Update(func(tx *kv.Tx) (err error) {
		if a, err = s.writable(tx, p, nil); err != nil {
			return err
		}
		was := a.clone()
		if name == "stationCountLimit" {
			if same(a.StationCountLimit, limit) {
				return nil
			}
			a.StationCountLimit = limit
		} else {
			if same(a.AppURLs, urls) {
				return nil
			}
			a.AppURLs = urls
		}
		if err := s.reviseSettings(tx, was, a, p); err != nil {
			return err
		}
		return audit.Put(tx, a.ID, p.Actor(), "account.set", a.ID, map[string]string{"fields": name, "value": errdefs.Shorten(value)})
	})
	if err != nil {
		return nil, err
	}
	return a, s.publishRecord(a)
}

// leavesRoom returns Conflict for a stationCountLimit (nil: none) below the current number of stations.
func (s *Service) leavesRoom(id string, limit *int64) error {
	if limit == nil {
		return nil
	}
	cur, err := s.Get(id)
	if err != nil {
		return err
	}
	m, err := cur.Manifest()
	if err != nil {
		return err
	}
	if n := int64(m.StationCount()); n > *limit {
		return errdefs.New(errdefs.Conflict, "stationCountLimit cannot be %d: the account has %d stations; take some out of the manifest first", *limit, n)
	}
	return nil
}

// SetArchived archives or unarchives an account (decisions.md section 2). Repeating it changes nothing.
func (s *Service) SetArchived(p auth.Principal, archived bool) (*Account, error) {
	if p.Type != auth.TypeLocal {
		return nil, errdefs.New(errdefs.Forbidden, "only the appliance's own administrator may archive an account")
	}
	var a *Account
	turn := s.changeLock(p.AccountID)
	turn.RLock()
	defer turn.RUnlock()
	err := s.store.Update(func(tx *kv.Tx) (err error) {
		if a, err = readAccount(tx, p.AccountID); err != nil {
			return err
		}
		if archived == (a.ArchivedAt != nil) {
			return nil
		}
		action := "account.unarchive"
		a.ArchivedAt = nil
		if archived {
			action = "account.archive"
			now := tx.Now()
			a.ArchivedAt = &now
		}
		if err := touch(tx, a); err != nil {
			return err
		}
		return audit.Put(tx, a.ID, p.Actor(), action, a.ID, nil)
	})
	if err != nil {
		return nil, err
	}
	return a, s.publishRecord(a)
}

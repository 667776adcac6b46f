package account

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/ingest/transform"
	"opsmon/app/iso"
	"opsmon/kv"
)

// CreateInput describes a new account.
type CreateInput struct {
	ID       string        // "" = that of the manifest, else the first label of the domain
	Domain   string        // "" = that of the manifest
	Manifest []byte        // nil = a starter manifest
	Plant    *StarterPlant // plant of the starter manifest; nil = one with one station
}

// StarterPlant describes the plant of a starter manifest, for accounts that are created without a manifest.
type StarterPlant struct {
	Name     string
	Timezone string // IANA name
	Groups   int    // 0 = 1
	Stations int    // per group; 0 = 1
}

// Draft is a checked account that is not stored yet.
type Draft struct {
	Warnings []errdefs.Detail

	account    *Account
	manifest   *manifest.Manifest
	rendered   []byte
	compressed []byte
}

// ID returns the account's id.
func (d *Draft) ID() string { return d.account.ID }

// validDomain reports whether a domain is valid for e-mail addresses.
func validDomain(domain string) bool {
	_, err := auth.ParseEmail("x@" + domain)
	return err == nil
}

var idPattern = regexp.MustCompile(`^[a-z0-9-]{3,55}$`)

// check returns the problems of all fields except the manifest.
func (in *CreateInput) check(domain string) (problems errdefs.Problems) {
	switch {
	case domain == "" && in.Manifest == nil:
		problems.Add("domain", "is required")
	case domain != "" && !validDomain(domain):
		problems.Add("domain", "must be a domain such as plant.example; it is %q", errdefs.Shorten(in.Domain))
	}
	if id := in.id(domain); id != "" && !idPattern.MatchString(id) && (in.ID != "" || len(problems) == 0) {
		problems.Add("id", "must be 3 to 55 lower-case letters, digits and hyphens; it is %q", errdefs.Shorten(id))
	}
	if in.Plant != nil && in.Manifest != nil {
		problems.Add("plant", "must be left out where a manifest is given: the manifest has its plants")
	} else if in.Plant != nil {
		if _, err := iso.Zone(in.Plant.Timezone); err != nil {
			problems.Add("plant.timezone", "must be an IANA time zone such as Europe/London; it is %q", errdefs.Shorten(in.Plant.Timezone))
		}
	}
	return problems
}

// id returns the requested id; "" if it is in the manifest.
func (in *CreateInput) id(domain string) string {
	if in.ID != "" || in.Manifest != nil {
		return in.ID
	}
	id, _, _ := strings.Cut(domain, ".")
	return id
}

// Draft checks the input for a new account (decisions.md section 2). It takes system fields from the manifest, which
// may come from another installation.
func (s *Service) Draft(in CreateInput) (*Draft, error) {
	domain := strings.ToLower(strings.TrimSpace(in.Domain))
	id, raw, problems := in.id(domain), in.Manifest, in.check(domain)
	if raw == nil {
		if err := problems.Err("the account"); err != nil {
			return nil, err
		}
		raw = starter(id, domain, in.Plant.filled())
	}
	a := &Account{}
	doc, err := readDocument(raw, true, s.clock())
	if err == nil {
		err = a.takeSystem(doc.members)
	}
	if len(problems) > 0 {
		_ = problems.Take(err)
		return nil, problems.Err("the account")
	}
	if err != nil {
		return nil, err
	}
	m := doc.manifest
	if id != "" && id != m.ID {
		return nil, errdefs.New(errdefs.Conflict, "the manifest is of the account %q and not of %q; change account.id in the file, or the id asked for", errdefs.Shorten(m.ID), id)
	}
	if domain != "" && !strings.EqualFold(domain, m.Domain) {
		return nil, errdefs.New(errdefs.Conflict, "the manifest is of the domain %q and not of %q; change account.domain in the file, or the domain asked for", errdefs.Shorten(m.Domain), domain)
	}
	now := s.clock().UTC().Truncate(time.Millisecond)
	life := &manifest.Lifetimes{Now: now}
	life.BeginAll(m)
	d := &Draft{Warnings: doc.warnings, manifest: m}
	d.rendered = manifest.Render(doc.pure, m)
	d.compressed = compress(doc.pure)
	a.ID, a.Domain, a.Own = m.ID, m.Domain, doc.own()
	a.Document, a.Rendered = sha256.Sum256(doc.pure), sha256.Sum256(d.rendered)
	if err := withinLimit(a, 0, m); err != nil {
		return nil, err
	}
	d.account = a
	return d, nil
}

// takeSystem reads the system fields of a document that creates an account.
func (a *Account) takeSystem(members map[string][]byte) error {
	text := func(name string) *string {
		raw := members[name]
		if len(raw) == 0 || raw[0] != '"' {
			return nil
		}
		return new(manifest.Plain(raw[1 : len(raw)-1]))
	}
	a.WarehousePassword, a.UploadTransforms, a.AppURLs = text("warehousePassword"), text("uploadTransforms"), text("appUrls")
	var problems []errdefs.Detail
	moment := func(name string) (t time.Time) {
		if s := text(name); s != nil {
			var ok bool
			if t, ok = manifest.ParseTime(*s); !ok {
				problems = append(problems, errdefs.Detail{Field: "account." + name, Issue: "must be a time such as 2026-11-20T08:15:30.123Z"})
			}
		}
		return t
	}
	a.CreatedAt, a.UpdatedAt = moment("createdAt"), moment("updatedAt")
	if t := moment("archivedAt"); !t.IsZero() {
		a.ArchivedAt = &t
	}
	if n := manifest.Number(members["stationCountLimit"]); n.Set() && n != "null" {
		a.StationCountLimit = new(n.Int())
	}
	if a.UploadTransforms != nil {
		problems = append(problems, prefixed("account.uploadTransforms", transform.Check(*a.UploadTransforms))...)
	}
	return errdefs.InvalidDetails("the manifest", problems)
}

// prefixed returns the details of a value with the field that contains it.
func prefixed(field string, details []errdefs.Detail) []errdefs.Detail {
	out := make([]errdefs.Detail, len(details))
	for i, d := range details {
		out[i] = errdefs.Detail{Field: field, Issue: d.Issue}
		if d.Field != "" {
			out[i].Field = field + "." + d.Field
		}
	}
	return out
}

// withinLimit returns Conflict if a manifest has more stations than the account may have (http-api.md section 8) and
// more than it has now.
func withinLimit(a *Account, has int, m *manifest.Manifest) error {
	if n := m.StationCount(); a.StationCountLimit != nil && int64(n) > *a.StationCountLimit && n > has {
		return errdefs.New(errdefs.Conflict, "the manifest has %d stations and the account's stationCountLimit is %d", n, *a.StationCountLimit)
	}
	return nil
}

// CreateTx stores an account in the caller's transaction. After the commit, the caller must call done, which
// publishes the account. It returns errdefs.Conflict for a duplicate id or domain and, if first is true, if any
// account exists.
func (s *Service) CreateTx(tx *kv.Tx, d *Draft, first bool, p auth.Principal) (done func(), err error) {
	for item, err := range accounts.Scan(tx, kv.Range{}) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("read accounts: %w", err)
		case first:
			return nil, errdefs.New(errdefs.Conflict, "this appliance is set up already; make another account with: app account create")
		case item.Key == d.account.ID:
			return nil, errdefs.New(errdefs.Conflict, "there is already an account with the id %s on this appliance", item.Key)
		case strings.EqualFold(item.Value.Domain, d.account.Domain):
			return nil, errdefs.New(errdefs.Conflict, "the domain %s belongs to the account %s already", d.account.Domain, item.Key)
		}
	}
	a := d.account.clone()
	if a.CreatedAt.IsZero() {
		a.CreatedAt = tx.Now()
	}
	moved := a.UpdatedAt
	if err := putDocument(tx, a, d.compressed, d.rendered); err != nil {
		return nil, err
	}
	effect, err := s.effect(nil, d.manifest)
	if err != nil {
		return nil, err
	}
	if err := revise(tx, a, p, "first manifest", effect); err != nil {
		return nil, err
	}
	if !moved.IsZero() { // from another installation: preserve its times
		a.UpdatedAt = moved
		if err := put(tx, a); err != nil {
			return nil, err
		}
	}
	if err := audit.Put(tx, a.ID, p.Actor(), "account.create", a.ID, nil); err != nil {
		return nil, err
	}
	return func() { s.publish(newSnapshot(a, newArrays(d.rendered, d.manifest))) }, nil
}

// filled returns a copy with defaults: for nil, one group with one station, in the machine's time zone.
func (p *StarterPlant) filled() StarterPlant {
	if p == nil {
		zone := time.Local.String()
		if _, err := iso.Zone(zone); err != nil {
			zone = "UTC"
		}
		p = &StarterPlant{Name: "Plant 1", Timezone: zone}
	}
	return StarterPlant{Name: p.Name, Timezone: p.Timezone, Groups: max(p.Groups, 1), Stations: max(p.Stations, 1)}
}

// code derives a plant's code from its name: words of ASCII letters and digits, joined by hyphens. It is empty for a
// name in another script.
func (p StarterPlant) code() string {
	words := strings.FieldsFunc(strings.ToLower(p.Name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	code := strings.Join(words, "-")
	if len(code) < 3 {
		return "plant-1"
	}
	return strings.TrimRight(code[:min(len(code), 55)], "-")
}

// starter returns the manifest of an account that is created without one. Stations are numbered across groups,
// because their codes are unique in the account.
func starter(id, domain string, plant StarterPlant) []byte {
	var groups []any
	for g := range plant.Groups {
		var stations []any
		for s := range plant.Stations {
			n := g*plant.Stations + s + 1
			stations = append(stations, map[string]any{"code": fmt.Sprintf("STATION-%d", n), "name": fmt.Sprintf("Station %d", n)})
		}
		groups = append(groups, map[string]any{"code": fmt.Sprintf("line-%d", g+1), "name": fmt.Sprintf("Line %d", g+1), "stations": stations})
	}
	return manifest.Encode(map[string]any{
		"version": "v1",
		"account": map[string]any{
			"id": id, "domain": domain,
			"durationFormat": "months",
			"shiftPatterns":  []any{}, "reasons": []any{}, "tasks": []any{}, "taskLists": []any{}, "skus": []any{},
			"plants": []any{map[string]any{
				"code": plant.code(), "name": plant.Name, "timezone": plant.Timezone, "dayStartHour": 0, "weekStartDay": 0,
				"stationGroups": groups,
			}},
		},
	})
}

package auth

import (
	"errors"
	"slices"
	"strings"
	"time"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// tabletPrefix starts a tablet's identity. No e-mail address contains a colon, so it is never a person's.
const tabletPrefix = "tablet:"

// Tablet is a tablet on the floor.
//
// See decisions.md sections 4 and 6.
//
//openapi:schema Tablet
type Tablet struct {
	ID           string        `json:"id"`
	Name         string        `json:"name"`
	Email        string        `json:"email"` // its identity: tablet:NAME@DOMAIN
	Role         Role          `json:"role" schema:"enum=supervisor|operator|readonly"`
	StationCodes []string      `json:"stationCodes"` // its stations
	CreatedAt    instant.Time  `json:"createdAt"`
	PairedAt     *instant.Time `json:"pairedAt"` // when it was paired; null if its link was not opened yet
	// To the hour; null if never, or not for a month.
	LastUsedAt *instant.Time `json:"lastUsedAt"`
}

// TabletInput describes a new tablet.
type TabletInput struct {
	Name         string   // 1 to 64 characters, unique in the account, ignoring case and blanks
	Role         Role     // operator, supervisor or readonly; empty: operator
	StationCodes []string // its stations; an operator's tablet needs at least one. The caller checks that they exist
}

// TabletLink is a new tablet and the token of its pairing link (LinkURL).
type TabletLink struct {
	Tablet    Tablet
	Token     string // single use; must not be logged
	ExpiresAt time.Time
}

const maxTabletStations = 1000

// Check validates the input independent of the caller: Invalid (name, role, stationCodes[n]).
func (in TabletInput) Check() error {
	if in.Role == "" {
		in.Role = Operator
	}
	var details []errdefs.Detail
	if strings.TrimSpace(in.Name) == "" {
		details = append(details, errdefs.Detail{Field: "name", Issue: "must not be empty"})
	} else if issue := nameIssue(in.Name); issue != "" {
		details = append(details, errdefs.Detail{Field: "name", Issue: issue})
	}
	switch in.Role {
	case Operator, Supervisor, Readonly:
	default:
		details = append(details, errdefs.Detail{Field: "role", Issue: "must be operator, supervisor or readonly"})
	}
	if len(in.StationCodes) > 0 || in.Role == Operator {
		details = append(details, stationIssues(in.StationCodes)...)
	}
	return errdefs.InvalidDetails("the tablet", errdefs.Cap(details))
}

// isStationCode validates the form of http-api.md section 2.3, Station.
func isStationCode(s string) bool {
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && s[i] != '-' && s[i] != '_' {
			return false
		}
	}
	return 1 <= len(s) && len(s) <= 32
}

// PairTablet adds a tablet and creates its pairing link, valid once and for 15 minutes. Opening it creates a session
// with the tablet's role and stations. Requires admin. Errors: Invalid (name, role, stationCodes[n]), Forbidden,
// Conflict for a name in use and on an archived account.
func (s *Service) PairTablet(p Principal, in TabletInput) (TabletLink, error) {
	if in.Role == "" {
		in.Role = Operator
	}
	if err := in.Check(); err != nil {
		return TabletLink{}, err
	}
	token, made := newToken(prefixLink)
	id := newID()
	var pairing TabletLink
	err := s.write(p, Admin, func(tx *kv.Tx, _ Role, _ *changes) error {
		account, _ := s.accounts.Account(p.AccountID)
		name := strings.ToLower(strings.Join(strings.Fields(in.Name), "-"))
		record := tabletRecord{
			Name: in.Name, Email: tabletPrefix + name + "@" + account.Domain, Role: in.Role,
			StationCodes: slices.Clone(in.StationCodes), CreatedAt: instant.Of(tx.Now()), LinkHash: made.hash[:],
		}
		for item, err := range tablets.Scan(tx, kv.Under(tablets, p.AccountID)) {
			if err != nil {
				return err
			}
			if item.Value.Email == record.Email {
				return errdefs.New(errdefs.Conflict, "another tablet has the name %q", item.Value.Name)
			}
		}
		link := linkRecord{
			Email: record.Email, AccountID: p.AccountID, TabletID: id, Address: p.Address,
			CreatedAt: record.CreatedAt, ExpiresAt: instant.Of(tx.Now().Add(LinkLifetime)),
		}
		pairing = TabletLink{Tablet: record.tablet(id), Token: token, ExpiresAt: link.ExpiresAt.Time}
		if err := tablets.Put(tx, place{A: p.AccountID, B: id}, record); err != nil {
			return err
		}
		if err := putLink(tx, made.hash, link); err != nil {
			return err
		}
		return audit.Put(tx, p.AccountID, p.Actor(), "tablet.pair", id, map[string]string{
			"name": in.Name, "role": string(in.Role), "stationCodes": strings.Join(in.StationCodes, ","),
		})
	})
	return pairing, err
}

func (t tabletRecord) tablet(id string) Tablet {
	return Tablet{
		ID: id, Name: t.Name, Email: t.Email, Role: t.Role, StationCodes: append([]string{}, t.StationCodes...),
		CreatedAt: t.CreatedAt, PairedAt: t.PairedAt,
	}
}

// pairUp stores the session of a tablet whose link was opened.
func (s *Service) pairUp(tx *kv.Tx, made secret, link linkRecord, address string) (sessionRecord, error) {
	if err := s.writable(link.AccountID); err != nil {
		return sessionRecord{}, err
	}
	at := place{A: link.AccountID, B: link.TabletID}
	tablet, err := tablets.Get(tx, at)
	if errors.Is(err, kv.ErrNotFound) {
		return sessionRecord{}, errBadLink
	}
	if err != nil {
		return sessionRecord{}, err
	}
	session := newSession(tx, made, link.AccountID, tablet.Email, address)
	session.TabletID, session.Role, session.StationCodes = link.TabletID, tablet.Role, tablet.StationCodes
	if err := sessions.Put(tx, made.id, session); err != nil {
		return session, err
	}
	tablet.PairedAt, tablet.SessionID = instant.OrNil(tx.Now()), made.id
	if err := tablets.Put(tx, at, tablet); err != nil {
		return session, err
	}
	return session, auditSignIn(tx, made.id, session)
}

// ListTablets returns the tablets of the caller's account, by name, including those not yet paired. Requires admin.
// The list is never nil. Errors: Forbidden.
func (s *Service) ListTablets(p Principal) ([]Tablet, error) {
	list := []Tablet{}
	err := s.view(p, func(tx *kv.Tx) error {
		for item, err := range tablets.Scan(tx, kv.Under(tablets, p.AccountID)) {
			if err != nil {
				return err
			}
			tablet := item.Value.tablet(item.Key.B)
			if id := item.Value.SessionID; id != "" {
				session, err := sessions.Get(tx, id)
				// the session of a tablet that was unused for a month has ended
				if err != nil && !errors.Is(err, kv.ErrNotFound) {
					return err
				}
				if err == nil {
					tablet.LastUsedAt = new(s.lastUsed(id, session))
				}
			}
			list = append(list, tablet)
		}
		return nil
	})
	slices.SortFunc(list, func(a, b Tablet) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// TabletName returns the name of the calling tablet. Errors: Unauthorized for a caller that is not a tablet, or no
// longer; those of the store.
func (s *Service) TabletName(p Principal) (name string, err error) {
	err = s.store.View(func(tx *kv.Tx) error {
		for item, err := range tablets.Scan(tx, kv.Under(tablets, p.AccountID)) {
			if err != nil {
				return err
			}
			if item.Value.Email == p.Email {
				name = item.Value.Name
				return nil
			}
		}
		return errUnauthorized
	})
	return name, err
}

// RevokeTablet revokes a tablet: its session and its pairing link end immediately. Requires admin. Errors: Forbidden,
// NotFound, Conflict on an archived account.
func (s *Service) RevokeTablet(p Principal, id string) error {
	return s.write(p, Admin, func(tx *kv.Tx, _ Role, c *changes) error {
		at := place{A: p.AccountID, B: id}
		tablet, err := tablets.Get(tx, at)
		if errors.Is(err, kv.ErrNotFound) {
			return errdefs.New(errdefs.NotFound, "there is no such tablet")
		}
		if err != nil {
			return err
		}
		if tablet.SessionID != "" {
			c.sessions = []string{tablet.SessionID}
			if err := sessions.Delete(tx, tablet.SessionID); err != nil {
				return err
			}
		}
		if err := errors.Join(links.Delete(tx, [32]byte(tablet.LinkHash)), tablets.Delete(tx, at)); err != nil {
			return err
		}
		return audit.Put(tx, p.AccountID, p.Actor(), "tablet.revoke", id, map[string]string{"name": tablet.Name})
	})
}

package account

import (
	"errors"
	"fmt"

	"opsmon/app/errdefs"
	"opsmon/kv"
	"opsmon/schema/strictjson"
)

// ManifestOf returns the typed manifest of a revision, which must not be changed. That of an earlier one is read and made
// anew for each call, which takes as long as its document is large; plants, groups and stations are without lifetimes
// there. errdefs.NotFound when there is no such revision.
func (s *Service) ManifestOf(accountID string, number uint64) (*Manifest, error) {
	cur, err := s.Get(accountID)
	if err != nil {
		return nil, err
	}
	if number == cur.Account.Revision {
		return cur.Manifest()
	}
	return s.manifestAnew(accountID, number)
}

// NewestRevision returns the number of an account's configuration in force. Errors: kv.ErrNotFound, the store's.
func NewestRevision(tx *kv.Tx, accountID string) (uint64, error) {
	a, err := accounts.Get(tx, accountID)
	return a.Revision, err
}

// EachManifest returns all revisions of an account, in order, with their manifests. Errors are the store's, or fn's.
func EachManifest(tx *kv.Tx, accountID string, fn func(r *Revision, m *Manifest) error) error {
	for item, err := range revisions.Scan(tx, kv.Under(revisions, accountID)) {
		if err != nil {
			return fmt.Errorf("read the revisions of %s: %w", accountID, err)
		}
		packed, err := documents.Get(tx, item.Value.Account.Document)
		if err != nil {
			return fmt.Errorf("read revision %d of %s: %w", item.Value.Number, accountID, err)
		}
		pure, err := extract(packed)
		if err != nil {
			return fmt.Errorf("read revision %d of %s: %w", item.Value.Number, accountID, err)
		}
		m, err := item.Value.manifest(pure)
		if err != nil {
			return err
		}
		if err := fn(&item.Value, m); err != nil {
			return err
		}
	}
	return nil
}

// manifest returns the typed manifest of a revision, of the arrays of its document.
func (r *Revision) manifest(pure []byte) (*Manifest, error) {
	tree, err := strictjson.Decode(pure)
	if err != nil {
		return nil, fmt.Errorf("read revision %d of %s: %w", r.Number, r.Account.ID, err)
	}
	m := modelOf(map[string]any{"account": tree})
	return m, r.Account.into(m)
}

// manifestAnew is ManifestOf for who changes what it gets.
func (s *Service) manifestAnew(accountID string, number uint64) (*Manifest, error) {
	r, pure, err := s.revisionDocument(accountID, number)
	if err != nil {
		return nil, err
	}
	return r.manifest(pure)
}

// revisionDocument reads a revision and the arrays of its manifest.
func (s *Service) revisionDocument(accountID string, number uint64) (r Revision, pure []byte, err error) {
	var packed []byte
	err = s.store.View(func(tx *kv.Tx) (err error) {
		r, err = revisions.Get(tx, kv.Pair[string, uint64]{A: accountID, B: number})
		if errors.Is(err, kv.ErrNotFound) {
			return errdefs.New(errdefs.NotFound, "there is no revision %d of the manifest", number)
		}
		if err == nil {
			packed, err = documents.Get(tx, r.Account.Document)
		}
		return err
	})
	if err == nil {
		pure, err = extract(packed)
	}
	if err != nil {
		return r, nil, fmt.Errorf("read revision %d of %s: %w", number, accountID, err)
	}
	return r, pure, nil
}

// GoneStations returns the stations that have left the manifest, by code, with the times of their lives: ArchivedAt is when
// they left. One whose code returns is none of them any more. Errors are the store's.
func (s *Service) GoneStations(accountID string) (map[string]Lifetime, error) {
	known, err := s.gone(accountID)
	if err != nil {
		return nil, err
	}
	stations := map[string]Lifetime{}
	for key, life := range known {
		if key.A == "station" {
			stations[key.B] = life
		}
	}
	return stations, nil
}

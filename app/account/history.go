package account

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"opsmon/app/account/manifest"
	"opsmon/app/errdefs"
	"opsmon/kv"
	"opsmon/schema/strictjson"
)

// ManifestOf returns the typed manifest of a revision, which must not be changed. An earlier revision is read and
// decoded on each call, which takes time in proportion to its size; its plants, groups and stations have no
// lifetimes. It returns errdefs.NotFound for an unknown revision.
func (s *Service) ManifestOf(accountID string, number uint64) (*manifest.Manifest, error) {
	cur, err := s.Get(accountID)
	if err != nil {
		return nil, err
	}
	if number == cur.Account.Revision {
		return cur.Manifest()
	}
	return s.manifestCopy(accountID, number)
}

// NewestRevision returns the number of an account's current revision. Errors: kv.ErrNotFound, those of the store.
func NewestRevision(tx *kv.Tx, accountID string) (uint64, error) {
	a, err := accounts.Get(tx, accountID)
	return a.Revision, err
}

// EachManifest calls fn with all revisions of an account, in order, and their manifests. It returns errors of the
// store or of fn.
func EachManifest(tx *kv.Tx, accountID string, fn func(r *Revision, m *manifest.Manifest) error) error {
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

// manifest decodes the manifest of a revision from the arrays of its document.
func (r *Revision) manifest(pure []byte) (*manifest.Manifest, error) {
	tree, err := strictjson.Decode(pure)
	if err != nil {
		return nil, fmt.Errorf("read revision %d of %s: %w", r.Number, r.Account.ID, err)
	}
	m := manifest.ModelOf(map[string]any{"account": tree})
	return m, r.Account.into(m)
}

// manifestCopy is ManifestOf with a result that the caller may change.
func (s *Service) manifestCopy(accountID string, number uint64) (*manifest.Manifest, error) {
	r, pure, err := s.revisionDocument(accountID, number)
	if err != nil {
		return nil, err
	}
	return r.manifest(pure)
}

// revisionDocument returns a revision and the arrays of its manifest.
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

// GoneStations returns the stations that were removed from the manifest, by code, with their lifetimes: ArchivedAt is
// the time of removal. A station that was added again is not among them. Errors are those of the store.
func (s *Service) GoneStations(accountID string) (map[string]manifest.Lifetime, error) {
	known, err := s.gone(accountID)
	if err != nil {
		return nil, err
	}
	stations := map[string]manifest.Lifetime{}
	for key, life := range known {
		if key.Kind == "station" {
			stations[key.Key] = life
		}
	}
	return stations, nil
}

// gone returns the lifetimes of plants, groups and stations of earlier manifests.
func (s *Service) gone(id string) (map[manifest.Place]manifest.Lifetime, error) {
	known := map[manifest.Place]manifest.Lifetime{}
	err := s.store.View(func(tx *kv.Tx) error {
		for item, err := range gone.Scan(tx, kv.Under(gone, id)) {
			if err != nil {
				return fmt.Errorf("read former stations: %w", err)
			}
			known[manifest.Place{Kind: item.Key.B.A, Key: item.Key.B.B}] = manifest.Lifetime(item.Value)
		}
		return nil
	})
	return known, err
}

// storeLifetimes stores the lifetimes of removed entities and deletes those of returned ones, in key order: another order
// would take many times as long for thousands of keys.
func storeLifetimes(tx *kv.Tx, id string, l *manifest.Lifetimes) error {
	byKey := func(a, b manifest.Place) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key)) }
	for _, k := range slices.SortedFunc(maps.Keys(l.Left), byKey) {
		if err := gone.Put(tx, goneOf(id, k), storedLifetime(l.Left[k])); err != nil {
			return err
		}
	}
	for _, k := range slices.SortedFunc(slices.Values(l.Returned), byKey) {
		if err := gone.Delete(tx, goneOf(id, k)); err != nil {
			return err
		}
	}
	return nil
}

// goneKey is the stored form of a place.
type goneKey = kv.Pair[string, string]

func goneOf(id string, p manifest.Place) kv.Pair[string, goneKey] {
	return kv.Pair[string, goneKey]{A: id, B: goneKey{A: p.Kind, B: p.Key}}
}

package account

import (
	"bytes"
	"fmt"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Revision is one state of an account's configuration. Revisions are never overwritten.
//
// Stored as JSON: a changed field needs a migration (app/layout.go).
type Revision struct {
	Number    uint64    `json:"number"`
	CreatedAt time.Time `json:"createdAt"`
	Author    string    `json:"author"`
	Note      string    `json:"note,omitempty"`
	Account   Account   `json:"account"` // the record at that time, without its secret
}

// RevisionInfo is one state of the configuration. Revisions are never overwritten.
//
//openapi:schema Revision
type RevisionInfo struct {
	Revision  uint64 `json:"revision" schema:"min=1"` // number of the revision, from 1
	CreatedAt string `json:"createdAt" schema:"ref=Moment"`
	Author    string `json:"author"` // who made it
	Note      string `json:"note"`   // reason for the change; may be empty
}

// Revisions returns the revisions of the caller's account, newest first, and their total number.
func (s *Service) Revisions(p auth.Principal, limit, skip int) ([]RevisionInfo, int, error) {
	list, total := []RevisionInfo{}, 0
	err := s.store.View(func(tx *kv.Tx) error {
		a, err := readAccount(tx, p.AccountID)
		if err != nil {
			return err
		}
		total = int(a.Revision) // they are numbered from 1 without a gap
		if limit <= 0 || skip >= total {
			return nil
		}
		at := func(n int) kv.Pair[string, uint64] { return kv.Pair[string, uint64]{A: a.ID, B: uint64(n)} }
		newest := total - max(skip, 0)
		for item, err := range revisions.ScanDown(tx, revisions.Between(at(max(newest-limit, 0)+1), at(newest+1))) {
			if err != nil {
				return fmt.Errorf("read revisions: %w", err)
			}
			r := item.Value
			list = append(list, RevisionInfo{r.Number, r.CreatedAt.UTC().Format(instant.Layout), r.Author, r.Note})
		}
		return nil
	})
	return list, total, err
}

// Revision returns the manifest of a revision as a document {version, account}; errdefs.NotFound for an unknown
// revision.
func (s *Service) Revision(p auth.Principal, number uint64) (*Representation, error) {
	cur, err := s.Get(p.AccountID)
	if err != nil {
		return nil, err
	}
	if number == cur.Account.Revision {
		return cur.Document(), nil
	}
	r, pure, err := s.revisionDocument(p.AccountID, number)
	if errdefs.KindOf(err) == errdefs.NotFound {
		return nil, errdefs.New(errdefs.NotFound, "there is no revision %d; the newest is %d", number, cur.Account.Revision)
	}
	if err != nil {
		return nil, err
	}
	former := r.Account
	former.Rendered = former.Document // it has no lifetimes, so its entity tag differs from when it was current
	return newRepresentation(&former, manifestHead(&former), pure[1:], []byte("}")), nil
}

// Difference is the changes that lead from one revision to another.
//
//openapi:schema Difference
type Difference struct {
	From         uint64            `json:"from" schema:"min=1"`
	To           uint64            `json:"to" schema:"min=1"`
	TotalChanges int               `json:"totalChanges" schema:"min=0"`    // total number of changes
	Changes      []manifest.Change `json:"changes" schema:"maxItems=1000"` // the first 1,000 changes
}

// Compare returns the changes from one revision to another, which may be the earlier one; errdefs.NotFound for an
// unknown revision.
func (s *Service) Compare(accountID string, from, to uint64) (*Difference, error) {
	old, err := s.ManifestOf(accountID, from)
	if err != nil {
		return nil, err
	}
	now, err := s.manifestCopy(accountID, to) // a copy, because diff sets its lifetimes
	if err != nil {
		return nil, err
	}
	d := manifest.Diff(old, now, &manifest.Lifetimes{Gone: func() (map[manifest.Place]manifest.Lifetime, error) { return nil, nil }})
	return &Difference{From: from, To: to, TotalChanges: d.Total, Changes: append([]manifest.Change{}, d.Changes...)}, nil
}

// Restore applies the manifest of an earlier revision again, as a new revision.
func (s *Service) Restore(p auth.Principal, number uint64, note string, match *Match) (*ApplyResult, error) {
	if err := mayWrite(p); err != nil {
		return nil, err
	}
	rep, err := s.Revision(p, number)
	if err != nil {
		return nil, err
	}
	if note == "" {
		note = fmt.Sprintf("restored revision %d", number)
	}
	return s.Apply(p, ApplyInput{Raw: bytes.Join(rep.Parts[:], nil), Note: note, Match: match})
}

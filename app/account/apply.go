package account

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"opsmon/app/account/manifest"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/kv"
	"opsmon/schema"
	"opsmon/schema/strictjson"
)

// document is a manifest that has passed every check that does not need the store.
type document struct {
	manifest *manifest.Manifest
	members  map[string][]byte // the account's own members as received, compacted
	pure     []byte            // the arrays without system members
	warnings []errdefs.Detail
}

// own returns the settings of the document. Missing ones are unset; durationFormat defaults to months.
func (d *document) own() map[string]json.RawMessage {
	own := make(map[string]json.RawMessage, len(d.members))
	for _, name := range ownFields {
		if raw, ok := d.members[name]; ok {
			own[name] = raw
		}
	}
	if _, ok := own["durationFormat"]; !ok {
		own["durationFormat"] = json.RawMessage(`"months"`)
	}
	return own
}

// readDocument decodes and checks a manifest. It returns all problems together, as errdefs.Invalid. A standalone
// manifest is not compared with an account, so its id and domain are checked too.
func readDocument(raw []byte, standalone bool, now time.Time) (*document, error) {
	tree, err := strictjson.Decode(raw)
	if err != nil {
		return nil, invalidJSON(err)
	}
	d := &document{manifest: manifest.ModelOf(tree)}
	var problems []errdefs.Detail
	shapes := manifest.Shapes{}
	for _, v := range schema.Validate(schema.Manifest, tree) {
		problems = append(problems, errdefs.Detail{Field: v.Path, Issue: v.Issue})
		shapes[v.Path] = true
	}
	tree = nil
	collectGarbage(raw)                       // the tree is large: free it before the next large allocation
	if len(problems) < schema.MaxViolations { // otherwise the set of invalid values is incomplete
		var found []errdefs.Detail
		found, d.warnings = manifest.Check(d.manifest, shapes, now)
		problems = append(problems, found...)
		if standalone {
			problems = append(problems, identity(d.manifest, shapes)...)
		}
	}
	if err := errdefs.InvalidDetails("the manifest", problems); err != nil {
		return nil, err
	}
	d.members, d.pure = manifest.Split(raw)
	if n := len(d.members["dashboardConfig"]); n > maxDashboard {
		return nil, errdefs.InvalidField("account.dashboardConfig", "must be %d KiB or smaller; it has %d bytes", maxDashboard>>10, n)
	}
	if _, ok := d.members["durationFormat"]; !ok {
		d.manifest.Settings.DurationFormat = new("months")
	}
	return d, nil
}

// identity checks account.id and account.domain (decisions.md section 2). It is for documents that are not compared
// with an existing account.
func identity(m *manifest.Manifest, shapes manifest.Shapes) (problems errdefs.Problems) {
	if !idPattern.MatchString(m.ID) && !shapes.Broken("account.id") {
		problems.Add("account.id", "must be 3 to 55 lower-case letters, digits and hyphens; it is %q", errdefs.Shorten(m.ID))
	}
	if !validDomain(m.Domain) && !shapes.Broken("account.domain") {
		problems.Add("account.domain", "must be a domain such as plant.example; it is %q", errdefs.Shorten(m.Domain))
	}
	return problems
}

// large is the size, in bytes, from which a manifest's memory matters on a typical PC of a plant.
const large = 4 << 20

// collectGarbage collects the garbage of a large manifest immediately. Otherwise the heap would grow to twice its size before
// the next collection.
func collectGarbage(raw []byte) {
	if len(raw) >= large {
		runtime.GC()
	}
}

// invalidJSON converts a decoding error into one for the client.
func invalidJSON(err error) error {
	invalid := &errdefs.Error{Kind: errdefs.Invalid, Message: err.Error(), Details: []errdefs.Detail{{Issue: err.Error()}}}
	if e, ok := errors.AsType[*strictjson.Error](err); ok {
		invalid.Details[0].Field = e.Path
	}
	return invalid
}

// Report is the outcome of checking a manifest file.
type Report struct {
	Valid    bool             `json:"valid"`
	Details  []errdefs.Detail `json:"details"`
	Warnings []errdefs.Detail `json:"warnings"`
}

// Validate checks a manifest without an account.
func Validate(raw []byte, now time.Time) Report {
	d, err := readDocument(raw, true, now)
	var e *errdefs.Error
	if errors.As(err, &e) {
		return Report{Details: e.Details, Warnings: []errdefs.Detail{}}
	}
	return Report{Valid: true, Details: []errdefs.Detail{}, Warnings: append([]errdefs.Detail{}, d.warnings...)}
}

// ApplyInput is a manifest to be applied.
type ApplyInput struct {
	Raw    []byte // {version, account}
	DryRun bool   // only check and compare
	Note   string // at most 200 characters
	Match  *Match // nil = any current revision
}

// ApplyResult is what applying a manifest changed, or would change.
//
//openapi:schema ApplyResult
type ApplyResult struct {
	Revision uint64 `json:"revision" schema:"min=1"` // number of the revision now in force
	// Whether the content differs. Equal content makes no revision.
	Changed      bool              `json:"changed"`
	TotalChanges int               `json:"totalChanges" schema:"min=0"`    // total number of changes
	Changes      []manifest.Change `json:"changes" schema:"maxItems=1000"` // the first 1,000 changes
	// Accepted content that looks like a mistake.
	Warnings []errdefs.Detail `json:"warnings"`
}

const maxNote = 200

// errConflicting means that the account changed between reading and writing.
var errConflicting = errors.New("the account changed in the meantime")

// Apply checks a manifest and makes it the account's configuration (decisions.md section 3). A manifest with the
// current content does not create a revision.
func (s *Service) Apply(p auth.Principal, in ApplyInput) (*ApplyResult, error) {
	if err := mayWrite(p); err != nil {
		return nil, err
	}
	if n := len([]rune(in.Note)); n > maxNote {
		return nil, errdefs.InvalidField("note", "must be %d characters or fewer; it has %d", maxNote, n)
	}
	if !utf8.ValidString(in.Note) || strings.ContainsFunc(in.Note, unicode.IsControl) {
		return nil, errdefs.InvalidField("note", "must be one line of text without control characters")
	}
	doc, err := readDocument(in.Raw, false, s.clock())
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ { // retries only if another change came in between
		result, err := s.applyInTurn(p, in, doc, try >= maxTries)
		if !errors.Is(err, errConflicting) {
			return result, err
		}
	}
}

// maxTries is how often Apply tries before it blocks other writers: a large manifest takes a second, and a setting
// may change in each of them.
const maxTries = 4

func (s *Service) applyInTurn(p auth.Principal, in ApplyInput, doc *document, alone bool) (*ApplyResult, error) {
	turn := s.changeLock(p.AccountID)
	if alone {
		turn.Lock()
		defer turn.Unlock()
	} else {
		turn.RLock()
		defer turn.RUnlock()
	}
	return s.apply(p, in, doc)
}

// fits returns an error if a document may not become the account's configuration.
func (doc *document) fits(a *Account, match *Match) error {
	if err := a.Writable(); err != nil {
		return err
	}
	if err := match.check(a); err != nil {
		return err
	}
	m := doc.manifest
	if m.ID != a.ID {
		return errdefs.New(errdefs.Conflict, "the manifest is of the account %q and this account is %q; account.id cannot be changed", errdefs.Shorten(m.ID), a.ID)
	}
	if !strings.EqualFold(m.Domain, a.Domain) {
		return errdefs.New(errdefs.Conflict, "the manifest is of the domain %q and this account has %q; account.domain cannot be changed", errdefs.Shorten(m.Domain), a.Domain)
	}
	return nil
}

func (s *Service) apply(p auth.Principal, in ApplyInput, doc *document) (*ApplyResult, error) {
	cur, err := s.Get(p.AccountID)
	if err != nil {
		return nil, err
	}
	a, m := cur.Account, doc.manifest
	if err := doc.fits(a, in.Match); err != nil {
		return nil, err
	}
	old, err := cur.Manifest()
	if err == nil {
		err = withinLimit(a, old.StationCount(), m)
	}
	if err != nil {
		return nil, err
	}
	life := &manifest.Lifetimes{Now: s.clock().UTC().Truncate(time.Millisecond), Gone: sync.OnceValues(func() (map[manifest.Place]manifest.Lifetime, error) { return s.gone(a.ID) })}
	d := manifest.Diff(old, m, life)
	if life.Err != nil {
		return nil, life.Err
	}
	result := &ApplyResult{Revision: a.Revision, Changed: d.Total > 0, TotalChanges: d.Total, Changes: d.Changes, Warnings: doc.warnings}
	if in.DryRun || !result.Changed {
		return result, nil
	}
	s.await(a.ID)
	result.Revision, err = s.commit(p, in, doc, cur, life, d.Total)
	if err != nil {
		return nil, err
	}
	return result, nil
}

// commit makes a changed document the account's configuration and returns the number of the new revision.
func (s *Service) commit(p auth.Principal, in ApplyInput, doc *document, cur *Snapshot, life *manifest.Lifetimes, changes int) (revision uint64, err error) {
	a := cur.Account.clone()
	a.Own = doc.own()
	out := manifest.Render(doc.pure, doc.manifest)
	a.Document, a.Rendered = sha256.Sum256(doc.pure), sha256.Sum256(out)
	compressed := compress(doc.pure)
	collectGarbage(in.Raw)
	was, err := cur.Manifest()
	if err != nil {
		return 0, err
	}
	effect, err := s.effect(was, doc.manifest)
	if err != nil {
		return 0, err
	}
	var next *Account
	err = s.store.Update(func(tx *kv.Tx) error {
		was, err := s.writable(tx, p, in.Match)
		if err != nil {
			return err
		}
		if was.Sequence != cur.Account.Sequence {
			return errConflicting
		}
		next = a.clone()
		if err := putDocument(tx, a, compressed, out); err != nil {
			return err
		}
		if err := storeLifetimes(tx, a.ID, life); err != nil {
			return err
		}
		if err := revise(tx, next, p, in.Note, effect); err != nil {
			return err
		}
		return audit.Put(tx, a.ID, p.Actor(), "manifest.apply", a.ID, map[string]string{
			"revision": strconv.FormatUint(next.Revision, 10), "changes": strconv.Itoa(changes), "note": in.Note,
		})
	})
	if errors.Is(err, errConflicting) {
		if err := s.refresh(a.ID); err != nil {
			return 0, err
		}
	}
	if err != nil {
		return 0, err
	}
	s.publish(newSnapshot(next, newArrays(out, doc.manifest)))
	return next.Revision, nil
}

// putDocument stores the bytes for an account's Document and Rendered hashes. A document shared with an earlier
// revision already exists.
func putDocument(tx *kv.Tx, a *Account, compressed, out []byte) error {
	if !documents.Has(tx, a.Document) {
		if err := documents.Put(tx, a.Document, compressed); err != nil {
			return err
		}
	}
	return rendered.Put(tx, a.ID, out)
}

// refresh publishes the stored state, in case a committed change has not been published yet.
func (s *Service) refresh(id string) error {
	var a *Account
	err := s.store.View(func(tx *kv.Tx) (err error) {
		a, err = readAccount(tx, id)
		return err
	})
	if err != nil {
		return err
	}
	return s.publishRecord(a)
}

// compress compresses a document for the store; extract reverses it.
func compress(b []byte) []byte {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		panic("account: zstd options: " + err.Error())
	}
	defer enc.Close()
	return enc.EncodeAll(b, make([]byte, 0, len(b)/6+1024))
}

func extract(b []byte) ([]byte, error) {
	dec, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(dec); err != nil {
		return nil, fmt.Errorf("decompress document: %w", err)
	}
	return out.Bytes(), nil
}

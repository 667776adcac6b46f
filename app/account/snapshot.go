package account

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"

	"opsmon/app/account/manifest"
	"opsmon/app/errdefs"
	"opsmon/schema/strictjson"
)

// Snapshot is an account as of one revision: immutable, read without a lock, and replaced as a whole after a change
// has been committed. It has the bytes of the answers; the typed manifest is decoded on first use, so a large
// manifest does not delay the start.
type Snapshot struct {
	Account  *Account
	arrays   *arrays
	answers  [2]*Representation // GET /account: [0] for every role, [1] with secrets for admins
	document *Representation    // GET /account/manifest
	live     liveState
	manifest func() (*manifest.Manifest, error)
}

// arrays are the rendered arrays of a manifest, shared by all snapshots until the next manifest.
type arrays struct {
	rendered []byte // one JSON object
	typed    func() (*typedArrays, error)
	places   func() []livePlace // positions of live members
}

// typedArrays is a manifest without the account's own fields, with indices for Resolve.
type typedArrays struct {
	*manifest.Manifest
	stations map[string]stationRef
	tasks    map[string][]manifest.TaskView // by Task list
}

type stationRef struct{ plant, group, station int }

// newArrays returns rendered arrays with their typed form, which is decoded on demand if m is nil.
func newArrays(rendered []byte, m *manifest.Manifest) *arrays {
	return &arrays{rendered: rendered, places: sync.OnceValue(func() []livePlace { return placesOf(rendered) }), typed: sync.OnceValues(func() (*typedArrays, error) {
		if m == nil {
			tree, err := strictjson.Decode(rendered)
			if err != nil {
				return nil, fmt.Errorf("read the stored manifest: %w", err)
			}
			m = manifest.ModelOf(map[string]any{"account": tree})
		}
		t := &typedArrays{Manifest: m, stations: make(map[string]stationRef, m.StationCount()), tasks: m.TasksByList()}
		for p := range m.Plants {
			for g := range m.Plants[p].Groups {
				for s := range m.Plants[p].Groups[g].Stations {
					t.stations[m.Plants[p].Groups[g].Stations[s].Code] = stationRef{p, g, s}
				}
			}
		}
		return t, nil
	})}
}

// newSnapshot returns a snapshot of an account with its answers.
func newSnapshot(a *Account, arr *arrays) *Snapshot {
	s := &Snapshot{Account: a, arrays: arr}
	for i := range s.answers {
		s.answers[i] = newRepresentation(a, s.answerHead([]byte("[]"), i == 1), arr.rendered[1:], []byte("}}}")).weak()
	}
	s.document = newRepresentation(a, manifestHead(a), arr.rendered[1:], []byte("}"))
	s.manifest = sync.OnceValues(func() (*manifest.Manifest, error) {
		t, err := arr.typed()
		if err != nil {
			return nil, err
		}
		m := *t.Manifest
		if err := a.into(&m); err != nil {
			return nil, err
		}
		return &m, nil
	})
	return s
}

// manifestHead returns the start of a manifest, up to its arrays.
func manifestHead(a *Account) []byte {
	return append(appendAccount([]byte(`{"version":"v1","account":{`), a, formManifest, false), ',')
}

// answerHead returns the start of the answer of GET /account, up to the manifest's arrays.
func (s *Snapshot) answerHead(cursors []byte, secret bool) []byte {
	head := appendAccount([]byte(`{"isSuccess":true,"result":{`), s.Account, formAnswer, secret)
	head = append(append(head, `,"cursors":`...), cursors...)
	return append(append(head, `,"manifest":`...), manifestHead(s.Account)...)
}

// into sets the account's own fields in a manifest.
func (a *Account) into(m *manifest.Manifest) error {
	tree, err := strictjson.Decode(append(appendAccount([]byte("{"), a, formManifest, false), '}'))
	if err != nil {
		return fmt.Errorf("read the stored settings of %s: %w", a.ID, err)
	}
	own, _ := tree.(map[string]any)
	head := manifest.ModelOf(map[string]any{"account": own})
	m.ID, m.Domain, m.StationCountLimit, m.Settings = head.ID, head.Domain, head.StationCountLimit, head.Settings
	return nil
}

// Manifest returns the typed manifest. It must not be changed.
func (s *Snapshot) Manifest() (*manifest.Manifest, error) { return s.manifest() }

// Stations returns a function that reports whether a code is a station of the account.
func (s *Snapshot) Stations() (known func(code string) bool, err error) {
	t, err := s.arrays.typed()
	if err != nil {
		return nil, err
	}
	return func(code string) bool { _, ok := t.stations[code]; return ok }, nil
}

// Answer returns the body of GET /account without live values; secret includes what only the role admin may see.
func (s *Snapshot) Answer(secret bool) *Representation {
	if secret {
		return s.answers[1]
	}
	return s.answers[0]
}

// Document returns the body of GET /account/manifest.
func (s *Snapshot) Document() *Representation { return s.document }

// warm computes what requests would otherwise wait for. Answers with live values are made on demand.
func (s *Snapshot) warm(answers bool) {
	if answers {
		s.answers[0].Gzip()
		s.answers[1].Gzip()
	} else {
		s.arrays.places()
	}
	_, _ = s.manifest() // the next use of the manifest reports the error
}

// Representation is a finished body with its entity tags. Its parts share memory with other representations of the
// same document and must not be changed.
type Representation struct {
	Parts        [3][]byte // concatenated, they are the body
	Size         int       // bytes of the body
	ETag         string    // quoted: "<revision>-<hash>"; with W/ if the body has content that the hash excludes
	GzipETag     string    // of the compressed body
	Length       string    // Size in decimal, for the header
	joinOnce     sync.Once
	joined       [1][]byte
	level        int // of compression; 0 is the default
	compressOnce sync.Once
	compressed   []byte
}

// joinUpTo is the maximum size, in bytes, of a body that is copied into one slice: a single write saves system calls,
// which are most of the cost of a small answer.
const joinUpTo = 256 << 10

// Pieces returns the body in one piece or, if large, in its parts.
func (r *Representation) Pieces() [][]byte {
	if r.Size > joinUpTo {
		return r.Parts[:]
	}
	r.joinOnce.Do(func() { r.joined[0] = r.Bytes() })
	return r.joined[:]
}

// newRepresentation returns a body made of three parts. In the entity tag the account's Rendered hash represents
// body; more covers what that hash excludes.
func newRepresentation(a *Account, head, body, tail []byte, more ...byte) *Representation {
	h := sha256.New()
	h.Write(head)
	h.Write(a.Rendered[:]) // avoids hashing body, which may be large
	h.Write(more)
	h.Write(tail)
	tag := strconv.FormatUint(a.Revision, 10) + "-" + hex.EncodeToString(h.Sum(nil)[:12])
	size := len(head) + len(body) + len(tail)
	return &Representation{
		Parts: [3][]byte{head, body, tail}, Size: size, Length: strconv.Itoa(size),
		ETag: `"` + tag + `"`, GzipETag: `"` + tag + `-gzip"`,
	}
}

// weak makes the entity tags weak.
func (r *Representation) weak() *Representation {
	r.ETag, r.GzipETag = "W/"+r.ETag, "W/"+r.GzipETag
	return r
}

// show replaces the start of the body without changing the entity tags.
func (r *Representation) show(head []byte) {
	r.Size += len(head) - len(r.Parts[0])
	r.Parts[0], r.Length = head, strconv.Itoa(r.Size)
}

// Bytes returns the whole body as a new slice.
func (r *Representation) Bytes() []byte { return bytes.Join(r.Parts[:], nil) }

// Gzip returns the compressed body, which is computed on first use.
func (r *Representation) Gzip() []byte {
	r.compressOnce.Do(func() {
		var b bytes.Buffer
		b.Grow(r.Size/8 + 512)
		level := gzip.DefaultCompression
		if r.level != 0 {
			level = r.level
		}
		w, err := gzip.NewWriterLevel(&b, level)
		if err != nil {
			panic("account: gzip options: " + err.Error())
		}
		for _, part := range r.Parts {
			w.Write(part) // a bytes.Buffer does not fail
		}
		w.Close()
		r.compressed = b.Bytes()
	})
	return r.compressed
}

// Resolve returns the configuration in force at a station; errdefs.NotFound for an unknown station.
func (s *Snapshot) Resolve(stationCode string) (*manifest.StationView, error) {
	t, err := s.arrays.typed()
	if err != nil {
		return nil, err
	}
	m, err := s.Manifest()
	if err != nil {
		return nil, err
	}
	ref, ok := t.stations[stationCode]
	if !ok {
		return nil, errdefs.New(errdefs.NotFound, "there is no station with this code")
	}
	plant := &m.Plants[ref.plant]
	group := &plant.Groups[ref.group]
	station := &group.Stations[ref.station]
	return manifest.NewResolverOf(m, t.tasks).View(plant, group, station), nil
}

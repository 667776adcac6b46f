package backup

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// named are the parts that an error about damage may name.
var named = []string{partHeader, partManifest, storeName, settingsName, partEnd}

// expectRefused reads a damaged file in all ways: it must be refused, with the part named.
func expectRefused(t *testing.T, what, path, passphrase string) (part string) {
	t.Helper()
	_, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: passphrase})
	var e *Error
	if !errors.Is(err, ErrDamaged) || !errors.As(err, &e) || !slices.Contains(named, e.Part) || !strings.Contains(err.Error(), path) {
		t.Errorf("%s: verify: %v", what, err)
		return ""
	}
	return e.Part
}

// damageable makes a backup with several parts, in the clear or encrypted.
func damageable(t *testing.T, passphrase string) (data []byte, path string) {
	t.Helper()
	dir := t.TempDir()
	s := openStore(t, dir)
	fill(t, s, 0, 2000)
	writeFile(t, filepath.Join(dir, settingsName), settingsText)
	path = made(t, Config{Store: s, Passphrase: passphrase})
	return []byte(readFile(t, path)), path
}

var passphrases = map[string]string{"plain": "", "encrypted": "pass"}

// TestFlips changes single bytes anywhere.
func TestFlips(t *testing.T) {
	for name, passphrase := range passphrases {
		t.Run(name, func(t *testing.T) {
			data, path := damageable(t, passphrase)
			rng := rand.New(rand.NewPCG(seed(t), 1))
			parts := map[string]int{}
			for i := range flips {
				at := rng.IntN(len(data))
				switch { // the small parts would be met too seldom
				case i%4 == 0:
					at = i / 4 * 7 % min(700, len(data))
				case i%4 == 1:
					at = len(data) - 1 - i/4*7%min(700, len(data))
				}
				flipped := bytes.Clone(data)
				flipped[at] ^= 1 << rng.IntN(8)
				writeFile(t, path, string(flipped))
				part := expectRefused(t, "byte "+itoa(at), path, passphrase)
				parts[part]++
				if at < len(magic) && part != partHeader {
					t.Errorf("byte %d: %q is named", at, part)
				}
			}
			t.Logf("%d bytes, %d flips: %v", len(data), flips, parts)
			if parts[partHeader] == 0 || parts[storeName] == 0 {
				t.Errorf("not all parts were met: %v", parts)
			}
		})
	}
}

// TestEveryByte changes, takes out and doubles with a change every single byte of a small backup.
func TestEveryByte(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	writeFile(t, filepath.Join(dir, settingsName), "listen: x\n")
	path := made(t, Config{Store: s})
	data := []byte(readFile(t, path))
	parts := map[string]int{}
	for at := range data {
		for _, change := range []func() []byte{
			func() []byte { b := bytes.Clone(data); b[at] ^= 0x20; return b },
			func() []byte { return slices.Delete(bytes.Clone(data), at, at+1) },
			func() []byte { return slices.Insert(bytes.Clone(data), at, data[at]^1) },
		} {
			changed := change()
			m, err := read(t.Context(), bytes.NewReader(changed), "", keepNothing, func(int) {})
			var e *Error
			if !errors.Is(err, ErrDamaged) || !errors.As(err, &e) || !slices.Contains(named, e.Part) {
				t.Fatalf("byte %d of %d: %v, %v", at, len(data), m, err)
			}
			parts[e.Part]++
		}
	}
	t.Logf("%d bytes: %v", len(data), parts)
	for _, part := range named {
		if parts[part] == 0 {
			t.Errorf("%s is never named", part)
		}
	}
}

// TestTruncated cuts a backup after every 997th byte, lengthens it, and cuts pieces out of it.
func TestTruncated(t *testing.T) {
	for name, passphrase := range passphrases {
		t.Run(name, func(t *testing.T) {
			data, path := damageable(t, passphrase)
			cuts := []int{0, 1, len(data) - 1}
			for at := 997; at < len(data); at += 997 {
				cuts = append(cuts, at)
			}
			for _, at := range cuts {
				writeFile(t, path, string(data[:at]))
				expectRefused(t, "cut after "+itoa(at), path, passphrase)
			}
			for _, tail := range []string{"\x00", "more", string(data)} {
				writeFile(t, path, string(data)+tail)
				if part := expectRefused(t, "lengthened", path, passphrase); part != partEnd && passphrase == "" {
					t.Errorf("lengthened: %q is named", part)
				}
			}
			for _, at := range []int{10, 900, len(data) / 2, len(data) - 70_000} {
				for _, n := range []int{1, 4, 65_536 + 16} {
					if at > 0 && at+n < len(data) {
						writeFile(t, path, string(data[:at])+string(data[at+n:]))
						expectRefused(t, "without "+itoa(n)+" bytes at "+itoa(at), path, passphrase)
					}
				}
			}
		})
	}
}

// TestRestoreRefuses damages backups and restores them: the directory stays as it is.
func TestRestoreRefuses(t *testing.T) {
	for name, passphrase := range passphrases {
		t.Run(name, func(t *testing.T) {
			data, path := damageable(t, passphrase)
			dir := t.TempDir()
			s := openStore(t, dir)
			fill(t, s, 0, 3)
			want := content(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for at := 5; at < len(data); at += len(data)/20 - 1 {
				flipped := bytes.Clone(data)
				flipped[at] ^= 4
				writeFile(t, path, string(flipped))
				_, err := Restore(t.Context(), RestoreConfig{Path: path, Passphrase: passphrase, Dir: dir, Store: storeConfig("")})
				var e *Error
				if !errors.Is(err, ErrDamaged) || !errors.As(err, &e) || !slices.Contains(named, e.Part) {
					t.Errorf("byte %d: %v", at, err)
				}
			}
			expectContent(t, contentOf(t, dir), want)
			expectOnly(t, dir, "app.db", "backup.lock", "swap.lock")
		})
	}
}

// TestPassphrase tells a wrong passphrase and a missing one from damage.
func TestPassphrase(t *testing.T) {
	_, path := damageable(t, "right")
	dir := t.TempDir()
	for _, wrong := range []string{"wrong", "Right", "right ", ""} {
		_, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: wrong})
		if !errors.Is(err, ErrPassphrase) || errors.Is(err, ErrDamaged) {
			t.Errorf("%q: verify: %v", wrong, err)
		}
		if _, err := Restore(t.Context(), RestoreConfig{Path: path, Passphrase: wrong, Dir: dir, Store: storeConfig("")}); !errors.Is(err, ErrPassphrase) {
			t.Errorf("%q: restore: %v", wrong, err)
		}
		if _, err := Inspect(path, wrong); wrong != "" && !errors.Is(err, ErrPassphrase) {
			t.Errorf("%q: inspect: %v", wrong, err)
		}
	}
	expectOnly(t, dir, "backup.lock", "swap.lock")
	_, plain := damageable(t, "")
	if _, err := Verify(t.Context(), VerifyConfig{Path: plain, Passphrase: "needless"}); err != nil {
		t.Errorf("a passphrase that is not needed: %v", err)
	}
}

// TestNewer refuses what a newer program made, and says what to do.
func TestNewer(t *testing.T) {
	s := openStore(t, t.TempDir())
	path := made(t, Config{Store: s, Version: "9.1.0"})
	data := []byte(readFile(t, path))
	size := binary.BigEndian.Uint32(data[len(magic):])
	rest := data[headerStart+int(size)+digestSize:]

	header, err := encodeHeader(storedHeader{Header: Header{Format: 2, App: "9.1.0"}})
	if err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(t.TempDir(), "newer")
	writeFile(t, newer, string(header)+string(rest))
	for what, err := range map[string]error{
		"inspect": second(Inspect(newer, "")),
		"verify":  second(Verify(t.Context(), VerifyConfig{Path: newer})),
		"restore": second(Restore(t.Context(), RestoreConfig{Path: newer, Dir: t.TempDir(), Store: storeConfig("")})),
	} {
		if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "format 2") || !strings.Contains(err.Error(), "install version 9.1.0") {
			t.Errorf("%s: %v", what, err)
		}
	}

	older := storeConfig("")
	older.Migrations = older.Migrations[:1]
	dir := t.TempDir()
	_, err = Restore(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: older})
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "version 2") || !strings.Contains(err.Error(), "install version 9.1.0") {
		t.Errorf("a newer store: %v", err)
	}
	expectOnly(t, dir)
}

func second[T any](_ T, err error) error { return err }

// framed makes a file of a header and a manifest and entries' blocks as given, with checksums that match, so that what is
// behind the checksums meets them.
func framed(t testing.TB, header, manifest []byte, blocks ...[]byte) []byte {
	t.Helper()
	b := binary.BigEndian.AppendUint32([]byte(magic), uint32(len(header)))
	b = append(b, header...)
	var out bytes.Buffer
	raw := append(b, sum256(b)...)
	out.Write(raw)
	p, err := newPacker(&out, raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.block(manifest), p.end()); err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if err := errors.Join(p.block(b), p.end()); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestManifests refuses manifests that make no sense or lead outside, although their checksums match.
func TestManifests(t *testing.T) {
	header := []byte(`{"format":1,"app":"1"}`)
	store := `{"name":"app.db","kind":"store","size":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}`
	for name, manifest := range map[string]string{
		"not JSON":      `{`,
		"no entries":    `{}`,
		"no store":      `{"entries":[{"name":"app.yaml","kind":"settings","size":0,"sha256":""}]}`,
		"store renamed": `{"entries":[{"name":"x.db","kind":"store","size":0,"sha256":""}]}`,
		"two stores":    `{"entries":[` + store + `,{"name":"b","kind":"store","size":0,"sha256":""}]}`,
		"twice":         `{"entries":[` + store + `,{"name":"a","kind":"file"},{"name":"A","kind":"file"}]}`,
		"negative":      `{"entries":[{"name":"app.db","kind":"store","size":-1,"sha256":""}]}`,
		"up":            `{"entries":[` + store + `,{"name":"../x","kind":"file"}]}`,
		"up within":     `{"entries":[` + store + `,{"name":"a/../../x","kind":"file"}]}`,
		"absolute":      `{"entries":[` + store + `,{"name":"/etc/x","kind":"file"}]}`,
		"backslash":     `{"entries":[` + store + `,{"name":"..\\x","kind":"file"}]}`,
		"drive":         `{"entries":[` + store + `,{"name":"c:x","kind":"file"}]}`,
		"not clean":     `{"entries":[` + store + `,{"name":"a//b","kind":"file"}]}`,
		"empty name":    `{"entries":[` + store + `,{"name":"","kind":"file"}]}`,
		"control":       `{"entries":[` + store + `,{"name":"a\u0000","kind":"file"}]}`,
	} {
		path := filepath.Join(t.TempDir(), "x")
		writeFile(t, path, string(framed(t, header, []byte(manifest), nil, nil, nil)))
		if part := expectRefused(t, name, path, ""); part != partManifest {
			t.Errorf("%s: %q is named", name, part)
		}
	}
	// Content that unpacks to more than the manifest says stops there.
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string][]byte{
		"longer":              encoder.EncodeAll(make([]byte, 10), nil),
		"larger than a block": encoder.EncodeAll(make([]byte, 64<<20), nil),
		"not packed":          []byte("text"),
	} {
		path := filepath.Join(t.TempDir(), "x")
		writeFile(t, path, string(framed(t, header, []byte(`{"entries":[`+store+`]}`), block)))
		if part := expectRefused(t, name, path, ""); part != storeName {
			t.Errorf("%s: %q is named", name, part)
		}
	}
	// An empty file is no store, although its checksum matches.
	path := filepath.Join(t.TempDir(), "x")
	writeFile(t, path, string(framed(t, header, []byte(`{"entries":[`+store+`]}`), encoder.EncodeAll(nil, nil))))
	if part := expectRefused(t, "an empty store", path, ""); part != storeName {
		t.Errorf("an empty store: %q is named", part)
	}
}

// FuzzRead reads whatever comes: it must be refused or be whole, and nothing may crash or take much memory.
func FuzzRead(f *testing.F) {
	store := `{"entries":[{"name":"app.db","kind":"store","size":4,"sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}]}`
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"format":1,"app":"1"}`), []byte(store), encoder.EncodeAll([]byte("test"), nil), uint16(0), byte(0))
	f.Add([]byte(`{"format":1,"encrypted":true,"age":"YWdlLWVuY3J5cHRpb24ub3JnL3Yx"}`), []byte(store), []byte("x"), uint16(40), byte(1))
	f.Fuzz(func(t *testing.T, header, manifest, block []byte, at uint16, change byte) {
		if len(header) > maxHeader || len(manifest) > maxBlock || len(block) > maxBlock || len(manifest) == 0 || len(block) == 0 {
			return
		}
		data := framed(t, header, manifest, block)
		data[int(at)%len(data)] ^= change
		m, err := read(t.Context(), bytes.NewReader(data), "pass", keepNothing, func(int) {})
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Kind == nil) {
			t.Errorf("no kind: %v", err)
		}
		if err == nil && (change != 0 || len(m.Entries) != 1) {
			t.Errorf("accepted: %+v", m)
		}
	})
}

// TestCounts refuses a backup whose store is not the one that the manifest describes, although every checksum matches.
func TestCounts(t *testing.T) {
	s := openStore(t, t.TempDir())
	fill(t, s, 0, 20)
	path := made(t, Config{Store: s})
	m, err := Inspect(path, "")
	if err != nil {
		t.Fatal(err)
	}
	var store bytes.Buffer
	if _, err := s.Snapshot(&store); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Header, map[string]int){
		"":              func(*Header, map[string]int) {},
		"one key more":  func(_ *Header, counts map[string]int) { counts["record"]++ },
		"a bucket more": func(_ *Header, counts map[string]int) { counts["more"] = 0 },
		"a bucket less": func(_ *Header, counts map[string]int) { delete(counts, "session") },
		"version":       func(h *Header, _ map[string]int) { h.Store++ },
	} {
		h, e := m.Header, m.Entries[0]
		e.Counts = maps.Clone(e.Counts)
		change(&h, e.Counts)
		var out bytes.Buffer
		raw, err := encodeHeader(storedHeader{Header: h})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(raw)
		p, err := newPacker(&out, raw)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(contents{Entries: []Entry{e}})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(p.block(text), p.end(), p.entry(t.Context(), bytes.NewReader(store.Bytes()), func(int) {}), p.end()); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, out.String())
		if name == "" {
			if _, err := Verify(t.Context(), VerifyConfig{Path: path}); err != nil {
				t.Errorf("unchanged: %v", err)
			}
		} else if part := expectRefused(t, name, path, ""); part != storeName {
			t.Errorf("%s: %q is named", name, part)
		}
	}
}

// TestForgedHeader changes what an encrypted backup says of itself in the clear, with a checksum that matches.
func TestForgedHeader(t *testing.T) {
	data, path := damageable(t, "pass")
	h, raw, err := readHeader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	h.App = "0.0.1"
	forged, err := encodeHeader(h)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(forged)+string(data[len(raw):]))
	expectRefused(t, "forged", path, "pass")
}

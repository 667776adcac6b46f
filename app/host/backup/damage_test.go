package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"opsmon/app/test/apptest"
	"opsmon/kv"
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

var passphrases = map[string]string{"plain": "", "encrypted": "correct horse"}

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
			m, err := readBytes(t, changed, "")
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

// TestTruncated cuts a backup at many places, lengthens it, and cuts pieces out of it.
func TestTruncated(t *testing.T) {
	for name, passphrase := range passphrases {
		t.Run(name, func(t *testing.T) {
			data, path := damageable(t, passphrase)
			cuts := []int{0, 1, len(data) - 1}
			for at := 997; at < len(data); at += 1 + max(997, len(data)/flips) {
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
	apptest.Long(t)
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
			for at := 5; at < len(data); at += len(data)/9 - 1 {
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
	_, path := damageable(t, "right as rain")
	dir := t.TempDir()
	for _, wrong := range []string{"wrong", "Right as rain", "right as rain ", ""} {
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

	header, err := encodeHeader(Header{Format: 2, App: "9.1.0"})
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

// readBytes reads a backup from memory.
func readBytes(t testing.TB, data []byte, passphrase string) (Manifest, error) {
	o, err := open(bytes.NewReader(data), int64(len(data)), t.TempDir(), passphrase)
	if err != nil {
		return Manifest{}, err
	}
	return o.manifest, o.read(t.Context(), func(Entry) (sink, error) { return discard{}, nil }, func(int) {})
}

// partsOf lists parts that follow a header.
func partsOf(header []byte, parts ...[]byte) (list []part) {
	b := binary.BigEndian.AppendUint32([]byte(magic), uint32(len(header)))
	b = append(b, header...)
	b = append(b, sum256(b)...)
	for _, p := range parts {
		b = append(b, p...)
		list = append(list, part{Size: int64(len(p)), SHA256: sum256hex(b)})
	}
	return list
}

// framed makes a file of a header and parts and of the JSON of a table, where PARTS stands for its list of parts, with
// checksums that match, so that what is behind the checksums meets them.
func framed(t testing.TB, header []byte, tableText string, parts ...[]byte) []byte {
	t.Helper()
	b := binary.BigEndian.AppendUint32([]byte(magic), uint32(len(header)))
	b = append(b, header...)
	b = append(b, sum256(b)...)
	raw := b
	list := partsOf(header, parts...)
	for _, p := range parts {
		b = append(b, p...)
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	tail := []byte(strings.ReplaceAll(tableText, "PARTS", string(text)))
	tail = binary.BigEndian.AppendUint32(tail, uint32(len(tail)))
	tail = append(tail, sum256(append(bytes.Clone(raw), tail...))...)
	return append(append(b, tail...), endMark...)
}

// TestManifests refuses manifests that make no sense or lead outside, although their checksums match.
func TestManifests(t *testing.T) {
	header := []byte(`{"format":1,"app":"1"}`)
	store := `{"name":"app.db","kind":"store","size":0,"parts":1,"sha256":"` + storeSum(partsOf(header, []byte{0}), nil) + `"}`
	manifest := func(entries string) string { return `{"parts":PARTS,"manifest":{"entries":[` + entries + `]}}` }
	for name, text := range map[string]string{
		"not JSON":      `{`,
		"no manifest":   `{"parts":PARTS}`,
		"no entries":    manifest(``),
		"no store":      manifest(`{"name":"app.yaml","kind":"settings","parts":2}`),
		"store renamed": manifest(`{"name":"x.db","kind":"store","parts":2}`),
		"two stores":    manifest(store + `,{"name":"b","kind":"store","parts":1}`),
		"twice":         manifest(store + `,{"name":"a","kind":"file","parts":1},{"name":"A","kind":"file","parts":0}`),
		"negative":      manifest(`{"name":"app.db","kind":"store","size":-1,"parts":2}`),
		"too few parts": manifest(store),
		"more parts":    manifest(store + `,{"name":"a","kind":"file","parts":2}`),
		"most parts":    manifest(store + `,{"name":"a","kind":"file","parts":9223372036854775807}`),
		"no parts":      manifest(`{"name":"app.db","kind":"store","parts":2},{"name":"a","kind":"file","parts":0}`),
		"a bad sum":     `{"parts":[{"size":1,"sha256":"../../x"},{"size":1,"sha256":"00"}],"manifest":{"entries":[]}}`,
		"a bad size":    `{"parts":[{"size":-1,"sha256":"` + sum256hex(nil) + `"}],"manifest":{"entries":[]}}`,
		"up":            manifest(store + `,{"name":"../x","kind":"file","parts":1}`),
		"up within":     manifest(store + `,{"name":"a/../../x","kind":"file","parts":1}`),
		"absolute":      manifest(store + `,{"name":"/etc/x","kind":"file","parts":1}`),
		"backslash":     manifest(store + `,{"name":"..\\x","kind":"file","parts":1}`),
		"drive":         manifest(store + `,{"name":"c:x","kind":"file","parts":1}`),
		"not clean":     manifest(store + `,{"name":"a//b","kind":"file","parts":1}`),
		"empty name":    manifest(store + `,{"name":"","kind":"file","parts":1}`),
		"control":       manifest(store + `,{"name":"a\u0000","kind":"file","parts":1}`),
	} {
		path := filepath.Join(t.TempDir(), "x")
		writeFile(t, path, string(framed(t, header, text, []byte{0}, []byte{0})))
		if part := expectRefused(t, name, path, ""); part != partManifest {
			t.Errorf("%s: %q is named", name, part)
		}
	}
	// Content that unpacks to more than the manifest says stops there. An empty file is no store.
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zeros := func(n int) []byte { return encoder.EncodeAll(make([]byte, n), []byte{packedZstd}) }
	for name, part := range map[string][]byte{
		"longer":           zeros(10),
		"larger than most": zeros(maxContent + 1),
		"not packed so":    []byte("\x02text"),
		"not packed so 2":  []byte("\x01\xff\xff\xff\xff\x7ftext"),
		"an unknown way":   []byte("\x09text"),
		"empty":            {},
		"an empty store":   {0},
	} {
		path := filepath.Join(t.TempDir(), "x")
		writeFile(t, path, string(framed(t, header, manifest(store), part)))
		if part := expectRefused(t, name, path, ""); part != storeName {
			t.Errorf("%s: %q is named", name, part)
		}
	}
}

// FuzzRead reads whatever comes: it must be refused or be whole, and nothing may crash or take much memory.
func FuzzRead(f *testing.F) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	blob := encoder.EncodeAll([]byte("test"), []byte{packedZstd})
	store := `{"parts":PARTS,"manifest":{"entries":[{"name":"app.db","kind":"store","size":4,"parts":1,"sha256":"` + storeSum(partsOf([]byte(`{"format":1,"app":"1"}`), blob), nil) + `"}]}}`
	f.Add([]byte(`{"format":1,"app":"1"}`), store, blob, uint16(0), byte(0))
	f.Add([]byte(`{"format":1,"app":"1"}`), `{"parts":[{"size":200000000,"sha256":"`+sum256hex(nil)+`"}],"manifest":{}}`, blob, uint16(0), byte(0))
	f.Add([]byte(`{"format":1,"encrypted":true}`), `{"parts":PARTS,"sealed":"YWdlLWVuY3J5cHRpb24ub3JnL3Yx"}`, []byte("x"), uint16(40), byte(1))
	f.Fuzz(func(t *testing.T, header []byte, table string, blob []byte, at uint16, change byte) {
		if len(header) > maxHeader {
			return
		}
		data := framed(t, header, table, blob)
		data[int(at)%len(data)] ^= change
		m, err := readBytes(t, data, "correct horse")
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Kind == nil) {
			t.Errorf("no kind: %v", err)
		}
		if err == nil && (change != 0 || len(m.Entries) == 0) {
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
	var parts [][]byte
	if _, err := s.Export(kv.ExportConfig{Use: func(run []byte) error {
		parts = append(parts, append([]byte{packedNot}, run...))
		return nil
	}}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Header, *Entry){
		"":              func(*Header, *Entry) {},
		"one key more":  func(_ *Header, e *Entry) { e.Counts["record"]++ },
		"a bucket more": func(_ *Header, e *Entry) { e.Counts["more"] = 1 },
		"a bucket less": func(_ *Header, e *Entry) { delete(e.Counts, "record") },
		"version":       func(h *Header, _ *Entry) { h.Store++ },
		"sum":           func(*Header, *Entry) {},
		"size":          func(_ *Header, e *Entry) { e.Size++ },
	} {
		h, e := m.Header, m.Entries[0]
		e.Counts = maps.Clone(e.Counts)
		change(&h, &e)
		header, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if e.SHA256 = storeSum(partsOf(header, parts...), nil); name == "sum" {
			e.SHA256 = sum256hex(nil)
		}
		text, err := json.Marshal(contents{Entries: []Entry{e}})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "x")
		writeFile(t, path, string(framed(t, header, `{"parts":PARTS,"manifest":`+string(text)+`}`, parts...)))
		if name == "" {
			if _, err := Verify(t.Context(), VerifyConfig{Path: path}); err != nil {
				t.Errorf("unchanged: %v", err)
			}
		} else if part := expectRefused(t, name, path, ""); part != storeName {
			t.Errorf("%s: %q is named", name, part)
		}
	}
}

// TestForged exchanges what an encrypted backup shows in the clear, with checksums that match.
func TestForged(t *testing.T) {
	data, path := damageable(t, "correct horse")
	h, raw, err := readHeader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	table, start, err := readTable(bytes.NewReader(data), int64(len(data)), raw)
	if err != nil {
		t.Fatal(err)
	}
	older := h
	older.App = "0.0.1"
	var parts [][]byte
	at := int64(len(raw))
	for _, p := range table.Parts {
		parts = append(parts, data[at:at+p.Size])
		at += p.Size
	}
	if at != start || len(parts) < 2 {
		t.Fatal(at, start, len(parts))
	}
	reversed := slices.Clone(parts)
	slices.Reverse(reversed)
	for name, forged := range map[string]struct {
		header Header
		parts  [][]byte
	}{"nothing": {h, parts}, "header": {older, parts}, "order of parts": {h, reversed}, "a part left out": {h, parts[1:]}} {
		header, err := json.Marshal(forged.header)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := json.Marshal(table.Sealed)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, string(framed(t, header, `{"parts":PARTS,"sealed":`+string(sealed)+`}`, forged.parts...)))
		if name != "nothing" {
			expectRefused(t, name, path, "correct horse")
		} else if _, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: "correct horse"}); err != nil {
			t.Error(err)
		}
	}
}

// TestTableOfNothing: a table of millions of empty items, which would take fifty times its size in memory, is refused before.
func TestTableOfNothing(t *testing.T) {
	header, err := encodeHeader(Header{Format: format})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range []string{"{}", "0"} {
		text := []byte(`{"parts":[` + strings.Repeat(item+",", 1<<20) + item + `]}`)
		text = binary.BigEndian.AppendUint32(text, uint32(len(text)))
		sum := sha256.New()
		sum.Write(header)
		sum.Write(text)
		file := slices.Concat(header, text, sum.Sum(nil), []byte(endMark))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := readTable(bytes.NewReader(file), int64(len(file)), header)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", item, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 2*uint64(len(file)) {
			t.Errorf("%s: %d bytes of a table took %d of memory", item, len(file), took)
		}
	}
}

package backup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/host/namedfile"
	"opsmon/kv/file"
)

// TestNamed: files from elsewhere go into encrypted backups alone, under the names that the caller gives them; one that
// cannot be read, that is too large, or that opens other backups keeps none from being made, and the manifest says why.
func TestNamed(t *testing.T) {
	dir, etc := t.TempDir(), t.TempDir()
	s := openStore(t, dir)
	in := func(name string) string { return filepath.Join(etc, name) }
	writeFile(t, in("plant.key"), "a key")
	writeFile(t, in("most"), strings.Repeat("x", namedfile.Max))
	writeFile(t, in("much"), strings.Repeat("x", namedfile.Max+1))
	writeFile(t, in("pass"), "correct horse\r\nsince March\n")
	writeFile(t, in("other"), "correct horses\n")
	cfg := Config{Store: s, WorkFactor: 10, Files: []File{
		{Name: "files/a", From: in("plant.key"), Secret: true}, {Name: "files/b", From: in("most"), Secret: true},
		{Name: "files/c", From: in("much"), Secret: true}, {Name: "files/d", From: in("nothing"), Secret: true},
		{Name: "files/e", From: etc, Secret: true}, {Name: "files/f", From: in("pass"), Secret: true, Opens: true},
		{Name: "files/g", From: in("other"), Secret: true, Opens: true},
	}}
	plain, err := Inspect(made(t, cfg), "")
	_, gone := os.Open(in("nothing"))
	const opens = " (it opens other backups)"
	large, missing, folder := in("much")+" (it has more than 1 MiB)", in("nothing")+" ("+gone.(*os.PathError).Err.Error()+")", etc+" (it is no file)"
	if want := []string{in("plant.key"), in("most"), large, missing, folder, in("pass") + opens, in("other") + opens}; err != nil || len(plain.Entries) != 1 || !cmp.Equal(plain.Omitted, want) {
		t.Errorf("a plain one has %+v and lacks %q, %v", plain.Entries, plain.Omitted, err)
	}
	cfg.Passphrase = "correct horse"
	path := made(t, cfg)
	m, err := Verify(t.Context(), VerifyConfig{Path: path, Passphrase: cfg.Passphrase})
	if err != nil {
		t.Fatal(err)
	}
	var held []string
	for _, e := range m.Entries[1:] {
		held = append(held, fmt.Sprintf("%s %s %d %t", e.Name, e.Kind, e.Size, len(e.SHA256) == 64))
	}
	if diff := cmp.Diff([]string{"files/a file 5 true", "files/b file 1048576 true", "files/f file 27 true"}, held); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{large, missing, folder, in("other") + opens}, m.Omitted); diff != "" {
		t.Error(diff)
	}
}

// TestLeave: an entry that is left is not put in place, what is there stays, and other settings are put there than the
// backup's. Going back takes away what came.
func TestLeave(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	s := openStore(t, from)
	writeFile(t, filepath.Join(from, settingsName), "listen: theirs\n# with more behind it\n")
	writeFile(t, filepath.Join(from, "files/a"), "theirs")
	writeFile(t, filepath.Join(from, "files/b"), "theirs")
	path := made(t, Config{Store: s, Files: []File{{Name: "files/a"}, {Name: "files/b"}}})
	writeFile(t, filepath.Join(dir, "files/a"), "ours")
	p, err := Prepare(t.Context(), RestoreConfig{Path: path, Dir: dir, Store: storeConfig("")})
	if err != nil {
		t.Fatal(err)
	}
	p.Leave("files/a")
	if text, err := p.Settings(); err != nil || string(text) != "listen: theirs\n# with more behind it\n" {
		t.Errorf("the settings are %q, %v", text, err)
	}
	if err := p.ChangeSettings([]byte("listen: ours\n")); err != nil {
		t.Fatal(err)
	}
	r, err := p.Swap()
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string { return readFile(t, filepath.Join(dir, name)) }
	if read("files/a") != "ours" || read("files/b") != "theirs" || read(settingsName) != "listen: ours\n" || r.Settings != SettingsRestored {
		t.Errorf("%+v; %s %s %s", r, read("files/a"), read("files/b"), read(settingsName))
	}
	expectOnly(t, filepath.Join(dir, "files"), "a", "b")
	if err := r.Undo(); err != nil {
		t.Fatal(err)
	}
	if read("files/a") != "ours" || file.Exists(filepath.Join(dir, "files/b")) || file.Exists(filepath.Join(dir, settingsName)) {
		t.Error("it is not as before")
	}
	// One whose settings lack secrets has none to change.
	redacted := made(t, Config{Store: s, SecretSettings: []string{"listen"}})
	p, err = Prepare(t.Context(), RestoreConfig{Path: redacted, Dir: t.TempDir(), Store: storeConfig("")})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := p.Settings(); err != nil || text != nil {
		t.Errorf("the settings are %q, %v", text, err)
	}
	if err := p.Discard(); err != nil {
		t.Fatal(err)
	}
}

package upgrade

import (
	"os"
	"path/filepath"
	"testing"

	"opsmon/kv"
	"opsmon/kv/file"
)

// TestRecoverAndSettle: what the next start does with what a power cut has left.
func TestRecoverAndSettle(t *testing.T) {
	nothing := kv.Migration{Name: "nothing", Run: func(*kv.Tx) error { return nil }}
	store := func(t *testing.T, path string, version int) {
		t.Helper()
		migrations := make([]kv.Migration, version)
		for i := range migrations {
			migrations[i] = nothing
		}
		s, err := kv.Open(kv.Config{Path: path, Migrations: migrations})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	handOver := func(string) error { return nil }
	for name, test := range map[string]struct {
		journal *journal
		kept    bool
		program int // version of the store that the program at the next start works with
		want    int // of the store that it finds
	}{
		"nothing went on":                {nil, false, 2, 2},
		"no journal, a copy was begun":   {nil, true, 1, 2},
		"trying, the old program":        {&journal{Step: stepTrying, FromStore: 1, Kept: true}, true, 1, 2},
		"rollback, the old program":      {&journal{Step: stepRollback, FromStore: 1, Kept: true}, true, 1, 1},
		"rollback, the new program":      {&journal{Step: stepRollback, FromStore: 1, Kept: true}, true, 2, 2},
		"rollback, the store is back":    {&journal{Step: stepRollback, FromStore: 1, Kept: true}, false, 1, 2},
		"rollback that needs no store":   {&journal{Step: stepRollback, FromStore: 1}, true, 1, 2},
		"rollback, of an even older one": {&journal{Step: stepRollback, FromStore: 1, Kept: true}, true, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, kept := filepath.Join(dir, storeName), filepath.Join(dir, keptName)
			store(t, path, 2)
			if test.kept {
				store(t, kept, 1)
			}
			if test.journal != nil {
				if err := test.journal.write(dir, handOver); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // it may be cut off, too, and be done again
				if err := Recover(dir, test.program); err != nil {
					t.Fatal(err)
				}
			}
			if n, err := kv.VersionOf(path); err != nil || n != test.want {
				t.Errorf("the store has version %d, want %d; %v", n, test.want, err)
			}
			if back := test.want == 1; back != file.Exists(filepath.Join(dir, failedName)) {
				t.Error("the store that was taken away is not kept, or one is that was not")
			}
			pending := Pending(dir)
			end, err := begin(dir, handOver)
			if err != nil {
				t.Fatal(err)
			}
			if err := Settle(dir, nil); err != nil || Pending(dir) != pending {
				t.Errorf("settled while an upgrade is at work: %v", err)
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			if err := Settle(dir, nil); err != nil || Pending(dir) {
				t.Errorf("not settled: %v", err)
			}
		})
	}
	dir := t.TempDir()
	store(t, filepath.Join(dir, storeName), 1)
	if err := os.WriteFile(filepath.Join(dir, journalName), []byte(`{"st`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Recover(dir, 1); err != nil {
		t.Errorf("a journal that cannot be read: %v", err)
	}
	if err := Settle(dir, nil); err != nil || Pending(dir) {
		t.Errorf("a journal that cannot be read is left: %v", err)
	}
}

// TestJournalFollowsNoLink: root writes the journal into a directory of the service's user, who may have put a link there.
func TestJournalFollowsNoLink(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, filepath.Join(dir, journalName+".new")); err != nil {
		t.Skip(err)
	}
	if err := (journal{Step: stepTrying}).write(dir, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "old" || readJournal(dir) == nil {
		t.Errorf("the journal was written through the link: %q, %v", text, err)
	}
}

package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"opsmon/kv"
)

// childRole names what the test binary does when a test runs it again as another process.
const childRole = "BACKUP_TEST_ROLE"

// exchangeForever exchanges two names in a directory until the process is killed, where the system can.
var exchangeForever = func(one, other string) { fatal(errors.ErrUnsupported) }

func TestMain(m *testing.M) {
	switch os.Getenv(childRole) {
	case "":
		os.Exit(m.Run())
	case "create":
		s, err := kv.Open(storeConfig(os.Getenv("BACKUP_TEST_DIR")))
		fatal(err)
		cfg := Config{Store: s, Version: "1.2.3", Passphrase: os.Getenv("BACKUP_TEST_PASSPHRASE"), Overwrite: true, Share: os.Getenv("BACKUP_TEST_SHARE") != "", step: dieAt, WorkFactor: 1}
		_, err = Create(context.Background(), cfg, os.Getenv("BACKUP_TEST_FILE"))
		fatal(err)
	case "exchange":
		exchangeForever(os.Getenv("BACKUP_TEST_DIR"), os.Getenv("BACKUP_TEST_FILE"))
	case "receive":
		dying := readerOf(func() error { dieAt("receiving"); return nil })
		_, err := Receive(context.Background(), ReceiveConfig{Path: os.Getenv("BACKUP_TEST_FILE")}, io.MultiReader(os.Stdin, dying))
		fatal(err)
	case "restore":
		_, err := Restore(context.Background(), RestoreConfig{
			Path: os.Getenv("BACKUP_TEST_FILE"), Dir: os.Getenv("BACKUP_TEST_DIR"), Store: storeConfig(""), Usable: refusesWrong, step: dieAt, WithoutSettings: os.Getenv("BACKUP_TEST_WITHOUT_SETTINGS") != "",
		})
		fatal(err)
	}
	fmt.Println("done")
}

// readerOf is a reader that calls a function and is at its end.
type readerOf func() error

// Read implements io.Reader.
func (f readerOf) Read([]byte) (int, error) {
	if err := f(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// child makes the command of another process with a role.
func child(role, dir, file string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childRole+"="+role, "BACKUP_TEST_DIR="+dir, "BACKUP_TEST_FILE="+file), env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// dieAt kills the process without warning at the step that the environment names.
func dieAt(step string) {
	if step != os.Getenv("BACKUP_TEST_STEP") {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	fatal(err)
	fatal(self.Kill())
	select {}
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

var (
	records  = kv.NewBucket("record", kv.Uint64, kv.Raw)
	sessions = kv.NewBucket("session", kv.String, kv.JSON[string]())
)

func storeConfig(dir string) kv.Config {
	nothing := kv.Migration{Name: "nothing", Run: func(*kv.Tx) error { return nil }}
	return kv.Config{
		Path: filepath.Join(dir, storeName), Buckets: []string{records.Name(), sessions.Name()},
		Migrations: []kv.Migration{nothing, nothing}, LockTimeout: 10 * time.Second,
	}
}

// openStore opens the store of a data directory; it is checked and closed when the test ends, unless it is closed before.
func openStore(t testing.TB, dir string) *kv.Store {
	t.Helper()
	s, err := kv.Open(storeConfig(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeChecked(t, s) })
	return s
}

func closeChecked(t testing.TB, s *kv.Store) {
	t.Helper()
	if err := s.Check(func(problem string) { t.Error(problem) }); err != nil && !errors.Is(err, kv.ErrClosed) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// fill puts n records of about 300 bytes into a store; the second half of each does not compress.
func fill(t testing.TB, s *kv.Store, from, n uint64) {
	t.Helper()
	for at := from; at < from+n; at += 500 {
		err := s.Update(func(tx *kv.Tx) error {
			for k := at; k < min(at+500, from+n); k++ {
				if err := records.Put(tx, k, record(k)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// record is a value that looks like what a plant's store holds: names and numbers.
func record(k uint64) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"stationCode":"ST-%03d","from":"2026-11-20T08:%02d:%02d.123Z","state":"running","sku":"SKU-%d","count":%d`, k%200, k/60%60, k%60, k%50, k%10_000)
	x := k*0x9E3779B97F4A7C15 + 1
	for range 10 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		fmt.Fprintf(&b, ",%d", x)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// content reads the records of a store.
func content(t testing.TB, s *kv.Store) map[uint64]string {
	t.Helper()
	all := map[uint64]string{}
	err := s.View(func(tx *kv.Tx) error {
		for item, err := range records.Scan(tx, kv.Range{}) {
			if err != nil {
				return err
			}
			all[item.Key] = string(item.Value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// contentOf opens the store of a data directory as the service does, reads its records and closes it.
func contentOf(t testing.TB, dir string) map[uint64]string {
	t.Helper()
	var s *kv.Store
	err := Recover(dir, func() (err error) {
		s, err = kv.Open(storeConfig(dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer closeChecked(t, s)
	return content(t, s)
}

// expectContent compares what two stores held.
func expectContent(t testing.TB, got, want map[uint64]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%d records, want %d, or they differ", len(got), len(want))
	}
}

// made backs a store up and gives the file.
func made(t testing.TB, cfg Config) string {
	t.Helper()
	cfg.WorkFactor = 1
	if cfg.Version == "" {
		cfg.Version = "1.2.3"
	}
	path := filepath.Join(t.TempDir(), "plant.backup")
	if _, err := Create(t.Context(), cfg, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// expectOnly sees that a directory holds these files and nothing else.
func expectOnly(t testing.TB, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(names) {
		t.Errorf("%s holds %q, want %q", dir, got, names)
	}
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func itoa(n int) string { return strconv.Itoa(n) }

func sum256(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

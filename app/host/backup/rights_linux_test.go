package backup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"opsmon/kv/file"
)

const nobody = 65534

func init() {
	exchangeForever = func(one, other string) {
		fmt.Println("begun")
		for {
			unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE) // either may be gone for a moment
		}
	}
}

// hostile is a data directory whose owner, another user, exchanges a directory in it for a link to root's files all the time.
type hostile struct{ data, victim string }

func newHostile(t *testing.T, name string) hostile {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root has more rights than the owner of the data directory")
	}
	open, err := os.MkdirTemp("", "app-hostile-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(open) })
	h := hostile{filepath.Join(open, "data"), filepath.Join(open, "roots")}
	for _, err := range []error{os.Chmod(open, 0o755), os.Mkdir(h.data, 0o700), os.Mkdir(h.victim, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(h.data, "link")
	for _, err := range []error{os.Symlink(h.victim, link), os.Lchown(link, nobody, nobody), os.Chown(h.data, nobody, nobody)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := child("exchange", filepath.Join(h.data, name), link)
	cmd.Path, cmd.Dir, cmd.Stderr = "/proc/self/exe", "/", nil
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	return h
}

// TestRemoveTreeWithinDirectory: root removes a tree in the service's directory and nothing elsewhere, whatever the service's user
// exchanges at that moment.
func TestRemoveTreeWithinDirectory(t *testing.T) {
	h := newHostile(t, "upgrade-trial-1")
	const files = 20
	for i := range files {
		writeFile(t, filepath.Join(h.victim, fmt.Sprint(i)), "root's")
	}
	path := filepath.Join(h.data, "upgrade-trial-1")
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		os.Mkdir(path, 0o755) // it is there, or a link is
		for i := range files {
			os.WriteFile(filepath.Join(h.data, "upgrade-trial-1", fmt.Sprint("own", i)), nil, 0o600) // or there, by the link
		}
		file.RemoveTree(path)
		for i := range files {
			if _, err := os.Lstat(filepath.Join(h.victim, fmt.Sprint(i))); err != nil {
				t.Fatalf("root's file is gone: %v", err)
			}
		}
		if _, err := os.Lstat(filepath.Join(h.data, "link")); err != nil {
			os.Symlink(h.victim, filepath.Join(h.data, "link"))
		}
	}
}

// TestJournalWithinDirectory: root ends the exchange of files that a journal in the service's directory asks for, and moves nothing
// that lies elsewhere.
func TestJournalWithinDirectory(t *testing.T) {
	h := newHostile(t, "files")
	precious, inside := filepath.Join(h.victim, "precious"), filepath.Join(h.data, "files")
	writeFile(t, precious, "root's")
	journal := fmt.Sprintf(`{"moves":[{"name":"files/precious","keep":%q}]}`, "stolen")
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		os.Mkdir(inside, 0o755)
		writeFile(t, filepath.Join(h.data, journalName), journal)
		Resume(h.data)
		if text, err := os.ReadFile(precious); err != nil || string(text) != "root's" {
			t.Fatalf("root's file: %q, %v", text, err)
		}
		if _, err := os.Lstat(filepath.Join(h.data, "stolen")); err == nil {
			t.Fatal("root's file has a name in the service's directory")
		}
		if _, err := os.Lstat(filepath.Join(h.data, "link")); err != nil {
			os.Symlink(h.victim, filepath.Join(h.data, "link"))
		}
	}
}

// TestOneOwnerForAllFiles: on a stick with FAT, and on many shares, what a user makes belongs to another one. A backup can be
// written there; what looks abandoned is left to the sweep by age.
func TestOneOwnerForAllFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of another user's")
	}
	path := filepath.Join(t.TempDir(), "file")
	for _, err := range []error{os.WriteFile(path, nil, 0o600), os.Chown(path, nobody, nobody)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	release, err := hold(path)
	if err != nil {
		t.Fatalf("it cannot be held: %v", err)
	}
	release()
	if err := removeAbandoned(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("a file of another user's was removed: %v", err)
	}
}

// TestReceiveWhereAllFilesHaveOneOwner writes a backup to file systems whose files all belong to another user than the one who
// writes: a stick with FAT, and a directory that is shown so.
func TestReceiveWhereAllFilesHaveOneOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	s := openStore(t, t.TempDir())
	fill(t, s, 0, 10)
	whole := readFile(t, made(t, Config{Store: s}))
	for name, mount := range map[string]string{
		"vfat":   "truncate -s 20M $0/image && mkfs.vfat $0/image && mount -t vfat -o loop,uid=65534,gid=65534 $0/image $0/stick",
		"bindfs": "mkdir $0/shown && bindfs --force-user=65534 --force-group=65534 $0/shown $0/stick",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			stick := filepath.Join(dir, "stick")
			if err := os.Mkdir(stick, 0o755); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("sh", "-c", mount, dir).CombinedOutput(); err != nil {
				t.Skipf("NOT RUN: this machine cannot mount %s: %v: %s", name, err, out)
			}
			t.Cleanup(func() {
				if err := unix.Unmount(stick, unix.MNT_DETACH); err != nil {
					t.Error(err)
				}
			})
			path := filepath.Join(stick, "plant.backup")
			for _, overwrite := range []bool{false, true} {
				if _, err := Receive(t.Context(), ReceiveConfig{Path: path, Overwrite: overwrite}, strings.NewReader(whole)); err != nil {
					t.Fatal(err)
				}
				expectOnly(t, stick, "plant.backup")
			}
			if info, err := os.Stat(path); err != nil || info.Sys().(*syscall.Stat_t).Uid != nobody {
				t.Errorf("the file is its maker's: this mount proves nothing: %v", err)
			}
		})
	}
}

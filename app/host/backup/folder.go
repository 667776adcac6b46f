package backup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"opsmon/kv/file"
)

// Folder is the directory with an installation's backups: scheduled ones, manual ones, and received ones. A Policy only
// removes scheduled ones.
type Folder string

// Origin says how a backup came into the folder.
type Origin string

// The origins.
const (
	Scheduled Origin = "scheduled"
	Manual    Origin = "manual"
	Upgrade   Origin = "upgrade" // made before an upgrade, to go back to
	Uploaded  Origin = "uploaded"
)

// manualPrefix begins the names of manual backups: manual-20261120T081530Z.backup.
const manualPrefix = "manual-"

// Stored is a backup in a folder. One that was made here was verified before it got its name. Of a received encrypted
// one only the checksums were compared until somebody verifies it with its passphrase.
type Stored struct {
	Header
	Name    string
	Bytes   int64 // with the parts that it shares with others
	Origin  Origin
	Problem string // why its header cannot be read; "" when it can
}

// ManualName returns the name of a manual backup made at a time.
func ManualName(at time.Time) string {
	return manualPrefix + at.UTC().Format(stampLayout) + nameSuffix
}

// NewName is a ManualName that no file in the folder has: that of a later second when it must.
func (f Folder) NewName(at time.Time) string {
	name := ManualName(at)
	for ; file.Exists(filepath.Join(string(f), name)); name = ManualName(at) {
		at = at.Add(time.Second)
	}
	return name
}

const (
	upgradePrefix = "before-upgrade-" // begins the names of the backups that upgrades take
	keepUpgrades  = 3                 // number of them that are kept
)

// UpgradeName returns the name of a backup that is made before an upgrade at a moment, which no file in the folder has.
func (f Folder) UpgradeName(at time.Time) string {
	name := upgradePrefix + at.UTC().Format(stampLayout)
	free := name + nameSuffix
	for n := 2; file.Exists(filepath.Join(string(f), free)); n++ {
		free = fmt.Sprintf("%s-%d%s", name, n, nameSuffix)
	}
	return free
}

// TrimUpgrades removes the oldest backups of upgrades and leaves the newest ones, and those of the names in keep
// whenever they were made: a clock may have been ahead.
func (f Folder) TrimUpgrades(keep ...string) error {
	root, err := os.OpenRoot(string(f)) // root trims, and the folder is the service's
	if err != nil {
		return err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	var old []fs.FileInfo
	rest := keepUpgrades - len(keep)
	for _, entry := range entries {
		name := entry.Name()
		if !entry.Type().IsRegular() || !isName(name) || originOf(name) != Upgrade || slices.Contains(keep, name) {
			continue
		}
		if info, err := entry.Info(); err == nil { // otherwise it is gone
			old = append(old, info)
		}
	}
	slices.SortFunc(old, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(b.Name(), a.Name()))
	})
	for _, info := range old[min(max(rest, 0), len(old)):] {
		if err := root.Remove(info.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// All returns the backups in the folder, newest first, with their headers. A missing folder has none.
func (f Folder) All() ([]Stored, error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Stored
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !isName(entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := Stored{Name: entry.Name(), Bytes: info.Size(), Origin: originOf(entry.Name())}
		if m, err := inspect(filepath.Join(string(f), s.Name), ""); err != nil {
			s.Problem, s.MadeAt = err.Error(), info.ModTime()
		} else {
			s.Header = m.Header
			if parts, err := sharedParts(filepath.Join(string(f), s.Name)); err == nil {
				for _, p := range parts {
					s.Bytes += p.Size
				}
			}
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Stored) int { return cmp.Or(b.MadeAt.Compare(a.MadeAt), cmp.Compare(a.Name, b.Name)) })
	return all, nil
}

// newestManual returns the newest manual backup in a folder, without those from the future, which were made while the
// clock was wrong. It returns the zero value if there is none.
func newestManual(dir string, now time.Time) (newest Kept) {
	entries, _ := os.ReadDir(dir) // the caller has just read it
	for _, entry := range entries {
		text, found := strings.CutPrefix(strings.TrimSuffix(entry.Name(), nameSuffix), manualPrefix)
		at, err := time.Parse(stampLayout, text)
		if !found || err != nil || !entry.Type().IsRegular() || at.After(now) || !at.After(newest.MadeAt) {
			continue
		}
		if info, err := entry.Info(); err == nil {
			newest = Kept{entry.Name(), at, info.Size()}
		}
	}
	return newest
}

// isName reports whether a name may be that of a backup in a folder: letters, digits, points, hyphens and underlines,
// at most 128 bytes, without a point at the start and with .backup at the end.
func isName(name string) bool {
	odd := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_", r)
	}
	return len(name) <= 128 && len(name) > len(nameSuffix) && strings.HasSuffix(name, nameSuffix) && name[0] != '.' && !strings.ContainsFunc(name, odd)
}

func originOf(name string) Origin {
	if strings.HasPrefix(name, upgradePrefix) {
		return Upgrade
	}
	stamp := strings.TrimSuffix(name, nameSuffix)
	for prefix, origin := range map[string]Origin{namePrefix: Scheduled, manualPrefix: Manual} {
		if text, found := strings.CutPrefix(stamp, prefix); found {
			if _, err := time.Parse(stampLayout, text); err == nil {
				return origin
			}
		}
	}
	return Uploaded
}

// Path returns the path of a backup in the folder. Error: ErrNotFound, also for a name that no backup can have.
func (f Folder) Path(name string) (string, error) {
	path := filepath.Join(string(f), name)
	if !isName(name) {
		return "", &Error{Op: "find backup", Kind: ErrNotFound}
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "", &Error{Op: "find backup", Kind: ErrNotFound}
	}
	return path, nil
}

// UploadPath returns the path for a backup that is brought here under a name. Error: ErrName.
func (f Folder) UploadPath(name string) (string, error) {
	if !isName(name) || originOf(name) != Uploaded {
		return "", &Error{Op: "name backup", Kind: ErrName,
			Err: errors.New("it needs letters, digits, points, hyphens and underlines, " + nameSuffix + " at the end, at most 128 characters, " +
				"and no name that scheduled backups, manual ones or those of upgrades have")}
	}
	return filepath.Join(string(f), name), nil
}

// Remove removes a backup from the folder. The newest scheduled one cannot be removed, since it is needed to restore
// the service. Errors: ErrNotFound; ErrLast; the disk's.
func (f Folder) Remove(name string) error {
	path, err := f.Path(name)
	if err != nil {
		return err
	}
	const op = "remove backup"
	list, err := List(string(f))
	if err != nil {
		return during(op, err)
	}
	if len(list) > 0 && list[0].Name == name {
		return &Error{Op: op, Kind: ErrLast, Err: errors.New("make another one first")}
	}
	return during(op, file.Remove(path))
}

// Make creates the folder if it is missing, accessible only to its owner.
func (f Folder) Make() error { return os.MkdirAll(string(f), 0o700) }

// Ready reports whether backups can be put into the folder as far as can be seen. Error: ErrNotReady.
func (f Folder) Ready() error {
	info, err := os.Stat(string(f))
	if err == nil && !info.IsDir() {
		err = errors.New("it is a file")
	}
	if err != nil {
		return &Error{Op: "back up to " + string(f), Kind: ErrNotReady, Err: err}
	}
	return nil
}

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

	"opsmon/kv/file"
)

// Policy is the retention policy of scheduled backups in a folder. Days, weeks (from Monday) and months are in UTC.
type Policy struct {
	Daily          int   // of the newest so many days that have one, the newest backup each
	Weekly         int   // of weeks likewise
	Monthly        int   // of months likewise
	MaxBytes       int64 // of all together, in bytes; 0 = no limit
	MinFreePercent int   // of the disk that must stay free; 0 = no limit
}

// Kept is a scheduled backup in a folder.
type Kept struct {
	Name   string // of the file in the folder
	MadeAt time.Time
	Bytes  int64 // with the parts that it shares with others: about as much as it has as one file
}

// Excess returns the backups to remove, oldest first: those that are not kept for a day, week or month, and then the
// oldest until the rest fits into MaxBytes and the disk has enough free space. The newest backup always stays. The
// result depends only on the arguments.
func (p Policy) Excess(all []Kept, disk file.Space) []Kept { return p.excess(all, nil, disk) }

// excess is Excess for backups that share parts, listed by the name of their file: a part takes room once, and until
// the last backup that it is in goes.
func (p Policy) excess(all []Kept, shared map[string][]part, disk file.Space) []Kept {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b Kept) int { return cmp.Or(b.MadeAt.Compare(a.MadeAt), cmp.Compare(a.Name, b.Name)) })
	uses := map[string]int{} // by part
	var bytes, freed int64
	for _, b := range sorted {
		bytes += b.Bytes
		for _, part := range shared[b.Name] {
			if uses[part.SHA256]++; uses[part.SHA256] > 1 {
				bytes -= part.Size
			}
		}
	}
	remove := func(b Kept) {
		n := b.Bytes
		for _, part := range shared[b.Name] {
			if uses[part.SHA256]--; uses[part.SHA256] > 0 {
				n -= part.Size
			}
		}
		bytes -= n
		freed += n
	}
	keep := p.byAge(sorted)
	var excess []Kept
	for i, b := range slices.Backward(sorted) {
		if i > 0 && !keep[i] {
			remove(b)
			excess = append(excess, b)
		}
	}
	for i, b := range slices.Backward(sorted) {
		tooMany := p.MaxBytes > 0 && bytes > p.MaxBytes
		tooFull := disk.Free+freed < disk.Total/100*int64(p.MinFreePercent)
		if i > 0 && keep[i] && (tooMany || tooFull) {
			remove(b)
			excess = append(excess, b)
		}
	}
	slices.SortStableFunc(excess, func(a, b Kept) int { return a.MadeAt.Compare(b.MadeAt) })
	return excess
}

// byAge reports for each backup, newest first, whether it is kept as the last of a day, week or month.
func (p Policy) byAge(sorted []Kept) []bool {
	keep := make([]bool, len(sorted))
	for _, rule := range []struct {
		n      int
		period func(time.Time) string
	}{
		{p.Daily, func(t time.Time) string { return t.Format(time.DateOnly) }},
		{p.Weekly, func(t time.Time) string { year, week := t.ISOWeek(); return fmt.Sprint(year, "/", week) }},
		{p.Monthly, func(t time.Time) string { return t.Format("2006-01") }},
	} {
		last, n := "", 0
		for i, b := range sorted {
			if period := rule.period(b.MadeAt.UTC()); period != last && n < rule.n {
				keep[i], last, n = true, period, n+1
			}
		}
	}
	return keep
}

// The names of scheduled backups: app-20261120T081530Z.backup.
const (
	namePrefix = "app-"
	nameSuffix = ".backup"
)

// fileName is the name of a scheduled backup.
func fileName(at time.Time) string { return namePrefix + at.UTC().Format(stampLayout) + nameSuffix }

// List returns the scheduled backups in a folder, newest first. It ignores files with other names. If a backup cannot
// be read, its size is that of its file.
func List(dir string) ([]Kept, error) {
	list, err := scheduled(dir)
	if err != nil {
		return nil, err
	}
	sharedBy(dir, list)
	return list, nil
}

// sharedBy returns the parts that each backup of a list shares, by the name of its file, and adds their sizes in the
// list.
func sharedBy(dir string, list []Kept) map[string][]part {
	shared := map[string][]part{}
	for i, b := range list {
		parts, err := sharedParts(filepath.Join(dir, b.Name))
		if err != nil {
			continue
		}
		shared[b.Name] = parts
		for _, p := range parts {
			list[i].Bytes += p.Size
		}
	}
	return shared
}

// added is how many bytes the newest backup of a folder has that no other shares, as far as can be found out.
func added(dir string) int64 {
	list, err := scheduled(dir)
	if err != nil || len(list) == 0 {
		return 0
	}
	shared := sharedBy(dir, list)
	others := map[string]bool{}
	for _, b := range list[1:] {
		for _, p := range shared[b.Name] {
			others[p.SHA256] = true
		}
	}
	n := list[0].Bytes
	for _, p := range shared[list[0].Name] {
		if others[p.SHA256] {
			n -= p.Size
		}
	}
	return n
}

// scheduled is List without a look into the files.
func scheduled(dir string) ([]Kept, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []Kept
	for _, entry := range entries {
		text, backup := strings.CutSuffix(entry.Name(), nameSuffix)
		at, err := time.Parse(stampLayout, strings.TrimPrefix(text, namePrefix))
		if !backup || err != nil || fileName(at) != entry.Name() || !entry.Type().IsRegular() {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, Kept{entry.Name(), at, info.Size()})
	}
	slices.SortFunc(list, func(a, b Kept) int { return b.MadeAt.Compare(a.MadeAt) })
	return list, nil
}

// Prune removes the scheduled backups of a folder that the policy does not keep, given that need bytes will be added to
// its disk, and returns the removed ones. It only removes backups that List returns. Then it removes parts that no
// backup in the folder uses, unless one of the files cannot be read.
func Prune(dir string, policy Policy, need int64, now time.Time) (removed []Kept, err error) {
	removed, err = prune(dir, policy, need, now)
	return removed, during("remove old backups from "+dir, err)
}

func prune(dir string, policy Policy, need int64, now time.Time) (removed []Kept, err error) {
	list, err := scheduled(dir)
	if err != nil {
		return nil, err
	}
	disk, err := file.SpaceOf(dir)
	if err != nil {
		return nil, err
	}
	disk.Free -= need
	shared := sharedBy(dir, list)
	for _, b := range policy.excess(list, shared, disk) {
		if err := file.Remove(filepath.Join(dir, b.Name)); err != nil {
			return removed, err
		}
		removed = append(removed, b)
	}
	if err := file.SyncDir(dir); err != nil { // a part must not go before the file that refers to it
		return removed, err
	}
	return removed, sweep(dir, now)
}

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
)

// Policy says which scheduled backups of a folder are kept. Days, weeks (from Monday) and months are those of UTC.
type Policy struct {
	Daily          int   // of the newest so many days that have one, the newest backup each
	Weekly         int   // of weeks likewise
	Monthly        int   // of months likewise
	MaxBytes       int64 // of all together, in bytes; 0 = no limit
	MinFreePercent int   // of the disk that must stay free; 0 = no limit
}

// DefaultPolicy keeps 7 daily, 4 weekly and 6 monthly backups, and the last tenth of the disk free.
func DefaultPolicy() Policy { return Policy{Daily: 7, Weekly: 4, Monthly: 6, MinFreePercent: 10} }

// Kept is a scheduled backup in a folder.
type Kept struct {
	Name   string // of the file in the folder
	MadeAt time.Time
	Bytes  int64
}

// Excess decides which backups go, oldest first: those that no day, week or month keeps, and then the oldest until the
// rest fits into MaxBytes and the disk has the room that must stay free. The newest backup always stays. It looks at
// nothing but its arguments.
func (p Policy) Excess(all []Kept, disk Disk) []Kept {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b Kept) int { return cmp.Or(b.MadeAt.Compare(a.MadeAt), cmp.Compare(a.Name, b.Name)) })
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
	var bytes, freed int64
	for i, b := range sorted {
		if keep[i] || i == 0 {
			bytes += b.Bytes
		} else {
			freed += b.Bytes
		}
	}
	var excess []Kept
	for i := len(sorted) - 1; i > 0; i-- {
		b := sorted[i]
		if keep[i] {
			tooMany := p.MaxBytes > 0 && bytes > p.MaxBytes
			tooFull := disk.Free+freed < disk.Total/100*int64(p.MinFreePercent)
			if !tooMany && !tooFull {
				continue
			}
			bytes -= b.Bytes
			freed += b.Bytes
		}
		excess = append(excess, b)
	}
	return excess
}

// The names of scheduled backups: app-20261120T081530Z.backup.
const (
	namePrefix = "app-"
	nameSuffix = ".backup"
)

// fileName is the name of a scheduled backup.
func fileName(at time.Time) string { return namePrefix + at.UTC().Format(stampLayout) + nameSuffix }

// List gives the scheduled backups in a folder, newest first. Files with other names are none of them.
func List(dir string) ([]Kept, error) {
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

// Prune removes the scheduled backups of a folder that the policy does not keep when need bytes are to be added to its
// disk, and says which it removed. It removes none that List does not give.
func Prune(dir string, policy Policy, need int64) (removed []Kept, err error) {
	removed, err = prune(dir, policy, need)
	return removed, during("remove old backups from "+dir, err)
}

func prune(dir string, policy Policy, need int64) (removed []Kept, err error) {
	list, err := List(dir)
	if err != nil {
		return nil, err
	}
	disk, err := DiskOf(dir)
	if err != nil {
		return nil, err
	}
	disk.Free -= need
	for _, b := range policy.Excess(list, disk) {
		if err := remove(filepath.Join(dir, b.Name)); err != nil {
			return removed, err
		}
		removed = append(removed, b)
	}
	return removed, nil
}

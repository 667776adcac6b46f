package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// youngest is when this program was written: a clock that shows less is wrong.
var youngest = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// jump is how far in the future a file may seem to have been written: network shares have clocks of their own.
const jump = 2 * time.Minute

// clock checks whether the time can be right, whether it was set back, and whether it is synchronised.
func (e *exam) clock(ctx context.Context) []Finding {
	set, keep := "timedatectl set-time 'YYYY-MM-DD HH:MM:SS'", "timedatectl set-ntp true; where there is no internet, name the plant's time server in /etc/systemd/timesyncd.conf (NTP=…) and systemctl restart systemd-timesyncd"
	if e.OS == "windows" {
		set, keep = "w32tm /resync, or Set-Date 'YYYY-MM-DD HH:MM:SS' in PowerShell", "net start w32time & w32tm /config /manualpeerlist:TIME-SERVER /syncfromflags:manual /update & w32tm /resync"
	}
	now := e.Clock()
	var found []Finding
	if now.Before(youngest) {
		found = append(found, wrong("the clock shows "+stamp(now)+", before this program was written; its battery may be empty", set))
	}
	if files, err := e.Files(e.DataDir); err == nil {
		newest := time.Time{}
		for _, f := range files {
			if f.Modified.After(newest) {
				newest = f.Modified
			}
		}
		if newest.After(now.Add(jump)) {
			found = append(found, wrong(fmt.Sprintf("the clock shows %s, and the data were last written at %s: it was set back, or was wrong then", stamp(now), stamp(newest)), set))
		}
	}
	known, kept := e.synchronised(ctx)
	switch {
	case !known:
		return orWell(found, stamp(now)+"; who keeps it right is not known")
	case !kept:
		found = append(found, wrong("no time server keeps the clock right, so it drifts by seconds a day", keep))
	}
	return orWell(found, stamp(now)+", kept right by a time server")
}

// synchronised reports whether a time server keeps the clock right.
func (e *exam) synchronised(ctx context.Context) (known, kept bool) {
	if e.OS == "windows" {
		out, err := e.Tool(ctx, "w32tm", "/query", "/status")
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return true, false // its service does not run
		}
		first, _, _ := strings.Cut(out, "\n")
		// "Leap Indicator: 3(not synchronized)", in the system's language
		return err == nil, !regexp.MustCompile(`:\s*3\s*\(`).MatchString(first)
	}
	out, err := e.Tool(ctx, "timedatectl", "show", "-p", "NTPSynchronized", "--value")
	switch strings.TrimSpace(out) {
	case "yes":
		return err == nil, true
	case "no":
		return err == nil, false
	}
	return false, false
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// zone looks whether the PC's clock is that of a plant: logs, and the hour of the daily backup, go by the PC's.
func (e *exam) zone(context.Context) []Finding {
	now := e.Clock()
	_, here := now.In(e.Zone).Zone()
	var told []string
	for _, name := range e.Zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			continue // the check of the store reports it
		}
		if _, there := now.In(zone).Zone(); there == here {
			return well("the machine's is that of " + name)
		}
		told = append(told, fmt.Sprintf("%s (%s)", name, now.In(zone).Format("15:04")))
	}
	if len(told) == 0 {
		return well("the machine's is " + now.In(e.Zone).Format("MST -07:00"))
	}
	fix := "timedatectl set-timezone " + e.Zones[0]
	if e.OS == "windows" {
		fix = "tzutil /s NAME (tzutil /l lists the names)"
	}
	return []Finding{wrong(fmt.Sprintf("the machine's clock shows %s and that of its plant %s: logs and the hour of backups go by the machine's; shifts and reports are right all the same", now.In(e.Zone).Format("15:04"), strings.Join(told, ", ")), fix)}
}

// The least room, in bytes, and as a part of the disk: below a tenth no scheduled backup is made.
const (
	leastRoom = 1 << 30
	leastPart = 10
)

// space looks whether the disks of the data and of the backups have room.
func (e *exam) space(context.Context) []Finding {
	dirs := []string{e.DataDir}
	if e.Backup != nil && e.Backup.Dir != "" {
		if rest, err := filepath.Rel(e.DataDir, e.Backup.Dir); err != nil || !filepath.IsLocal(rest) {
			dirs = append(dirs, e.Backup.Dir)
		}
	}
	var found []Finding
	var note []string
	for _, dir := range dirs {
		d, err := e.Disk(dir)
		if dir == e.DataDir && errors.Is(err, fs.ErrNotExist) {
			continue // the check of rights reports it
		}
		if err != nil {
			found = append(found, wrong(fmt.Sprintf("the disk of %s cannot be read: %v", dir, err), "see whether it is mounted: mount, or on Windows net use"))
			continue
		}
		if d.Free < leastRoom || d.Free < d.Total/leastPart {
			look := "du -xh --max-depth=2 / | sort -h | tail"
			if e.OS == "windows" {
				look = "cleanmgr"
			}
			found = append(found, wrong(fmt.Sprintf("the disk of %s has %s free of %s: below 10 %% no scheduled backup is made, and when it is full nothing can be saved", dir, size(d.Free), size(d.Total)), "make room: "+look))
		}
		note = append(note, fmt.Sprintf("%s free of %s for %s", size(d.Free), size(d.Total), dir))
	}
	return orWell(found, strings.Join(note, ", "))
}

// size says a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// rights checks whether the service's user can use its files, and nobody else can read the secret ones.
func (e *exam) rights(context.Context) []Finding {
	files, err := e.Files(e.DataDir)
	if err != nil {
		return []Finding{wrong(fmt.Sprintf("the data directory %s cannot be read: %v", e.DataDir, err), "ask as the administrator; where it is not there yet: "+e.Command+" install")}
	}
	var found []Finding
	var foreign []string
	dir := quote(e.OS, e.DataDir)
	for _, f := range files {
		if f.Owner != "" && f.Owner != files[0].Owner {
			foreign = append(foreign, f.Path)
		}
		if !f.Secret || !f.Others || e.OS != "windows" && !files[0].Others { // except on Windows, nobody gets past a closed directory
			continue
		}
		fix := "chmod o= " + quote(e.OS, f.Path)
		if e.OS == "windows" {
			fix = "icacls " + quote(e.OS, f.Path) + ` /inheritance:r /grant "*S-1-5-18:(OI)(CI)F" "*S-1-5-32-544:(OI)(CI)F" "NT SERVICE\app:(OI)(CI)F"`
		}
		found = append(found, wrong("every user of this machine can read "+f.Path, fix))
	}
	if len(foreign) > 0 {
		slices.Sort(foreign)
		found = append(found, wrong(fmt.Sprintf("%s belongs to another user than the data directory does (%s), so the service may not be able to use it", filepath.Base(foreign[0]), files[0].Owner), "chown -R "+files[0].Owner+": "+dir))
	}
	return orWell(found, e.DataDir)
}

// quote makes one word of a path for the shell that people use there.
func quote(system, path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:\\") == "" && (system == "windows" || !strings.Contains(path, `\`)) {
		return path
	}
	if system == "windows" {
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

package iso

import (
	"archive/zip"
	_ "embed" // for zoneinfo
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"opsmon/app/errdefs"
)

// zoneinfo is the IANA database of Go's own distribution, in the public domain. time.LoadLocation would first use the
// machine's database (ZONEINFO, /usr/share/zoneinfo), whose version and treatment of capitals vary.
//
//go:generate sh -c "cp \"$(go env GOROOT)/lib/time/zoneinfo.zip\" zoneinfo.zip && chmod 644 zoneinfo.zip"
//go:embed zoneinfo.zip
var zoneinfo string

// database is the opened zoneinfo with the zones loaded so far.
type database struct {
	files       map[string]*zip.File
	suggestions []suggestion // by name

	mu    sync.Mutex
	zones map[string]*time.Location
}

// suggestion is a name that may be suggested for an invalid one.
type suggestion struct {
	name  string
	plain string // the result of plain for name
	city  string // the last part of plain
}

// plain removes the most frequent differences: capitals, and blanks instead of underscores.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), " ", "_")
}

// zones opens the database on first use and caches it.
var zones = sync.OnceValues(openDatabase)

func openDatabase() (*database, error) {
	archive, err := zip.NewReader(strings.NewReader(zoneinfo), int64(len(zoneinfo)))
	if err != nil {
		return nil, fmt.Errorf("open embedded time zones: %w", err)
	}
	db := &database{files: make(map[string]*zip.File), zones: make(map[string]*time.Location)}
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") || f.Name == "Factory" {
			continue // Factory is the database's name for "not set yet", not a place
		}
		db.files[f.Name] = f
		// Names with digits are not suggested: their signs are inverted (Etc/GMT+1 is an hour west), or their rules
		// are not those of a place.
		if !strings.ContainsAny(f.Name, "0123456789") {
			lower := plain(f.Name)
			db.suggestions = append(db.suggestions, suggestion{f.Name, lower, lower[strings.LastIndex(lower, "/")+1:]})
		}
	}
	slices.SortFunc(db.suggestions, func(a, b suggestion) int { return strings.Compare(a.name, b.name) })
	return db, nil
}

// Zone returns the time zone with an IANA name, spelled exactly as in the embedded database and with its data only,
// independent of the machine (http-api.md section 2.3, plant, timezone; decisions.md section 3). It refuses "Local",
// the empty string and other spellings. The same name always returns the same *time.Location, and "UTC" returns
// time.UTC.
//
// The error for an unknown name is an *errdefs.Error of kind Invalid whose text completes a sentence about the field
// and suggests the nearest name: `must be an IANA time zone name; "europe/london" is not one (did you mean
// Europe/London?)`.
func Zone(name string) (*time.Location, error) {
	db, err := zones()
	if err != nil {
		return nil, err
	}
	return db.zone(name)
}

func (db *database) zone(name string) (*time.Location, error) {
	f, ok := db.files[name]
	if !ok {
		return nil, errdefs.New(errdefs.Invalid, "%s", db.unknown(name))
	}
	if name == "UTC" {
		return time.UTC, nil
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if z, ok := db.zones[name]; ok {
		return z, nil
	}
	z, err := load(f)
	if err != nil {
		return nil, fmt.Errorf("load time zone %s: %w", name, err)
	}
	db.zones[name] = z
	return z, nil
}

func load(f *zip.File) (*time.Location, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r) // the archive verifies size and checksum
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(f.Name, data)
}

// unknown returns the message for an unknown name.
func (db *database) unknown(name string) string {
	if name == "" {
		return "must be an IANA time zone name, such as Europe/London; it is empty"
	}
	const most = 40 // longer than any name
	if short := errdefs.ShortenTo(name, most); short != name {
		return "must be an IANA time zone name; " + strconv.Quote(short) + " is not one"
	}
	sentence := "must be an IANA time zone name; " + strconv.Quote(name) + " is not one"
	if near := db.nearest(name); near != "" {
		sentence += " (did you mean " + near + "?)"
	}
	return sentence
}

// nearest returns the name with the smallest edit distance to name, ignoring case and the difference of blanks and
// underscores; the distance to its last part (the city) counts too. It returns "" if more than one letter in four
// differs.
func (db *database) nearest(name string) string {
	wanted := plain(name)
	best, least := "", 2*(len(wanted)/4+1)
	for _, s := range db.suggestions {
		// If two distances are equal, a match of the whole name wins.
		cost := min(2*distance(wanted, s.plain, least/2), 2*distance(wanted, s.city, least/2)+1)
		if cost < least {
			best, least = s.name, cost
		}
	}
	return best
}

// distance returns the number of bytes to insert, delete or replace to turn a into b; any result above most means
// more than most.
func distance(a, b string, most int) int {
	if more := max(len(a)-len(b), len(b)-len(a)); more > most {
		return more
	}
	row := make([]int, len(b)+1) // distances of a's prefix so far to each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

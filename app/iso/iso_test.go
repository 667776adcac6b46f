package iso

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"opsmon/app/errdefs"
)

func TestCurrency(t *testing.T) {
	for _, code := range strings.Fields("GBP USD EUR JPY SLE VED VES XCG ZWG XAD MRU STN BYN UYW CHE CLF XAU XAG XDR XXX XTS AED ZMW") {
		if !Currency(code) {
			t.Errorf("Currency(%q) = false, want true", code)
		}
	}
	for _, code := range []string{"", "DEM", "HRK", "ANG", "BGN", "SLL", "ZWL", "CUC", "VEF", "BYR", "BTC", "gbp", "Gbp", "GB", "GBPX", "ED ", " ED", "D A", "AED AFN", "   ", "G\u0412P"} {
		if Currency(code) {
			t.Errorf("Currency(%q) = true, want false", code)
		}
	}
	codes := strings.Fields(currencies)
	if len(codes) != 178 {
		t.Errorf("the list has %d codes, want 178", len(codes))
	}
	for i, code := range codes {
		if len(code) != 3 || strings.ToUpper(code) != code || i > 0 && codes[i-1] >= code {
			t.Errorf("%q is no code, or not in order", code)
		}
	}
}

func TestZone(t *testing.T) {
	tests := []struct {
		name            string
		winter, summer  int // hours east of UTC in 2026
		minutes, minute int // in addition to the hours
	}{
		{"Europe/London", 0, 1, 0, 0},
		{"America/New_York", -5, -4, 0, 0},
		{"Asia/Kolkata", 5, 5, 30, 30},
		{"Europe/Kyiv", 2, 3, 0, 0},
		{"America/Argentina/Buenos_Aires", -3, -3, 0, 0},
		{"Australia/Lord_Howe", 11, 10, 0, 30},
		{"Etc/GMT+5", -5, -5, 0, 0},
		{"UTC", 0, 0, 0, 0},
		{"GB", 0, 1, 0, 0},
	}
	for _, tt := range tests {
		z, err := Zone(tt.name)
		if err != nil {
			t.Errorf("Zone(%q): %v", tt.name, err)
			continue
		}
		_, winter := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC).In(z).Zone()
		_, summer := time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC).In(z).Zone()
		if winter != tt.winter*3600+tt.minutes*60 || summer != tt.summer*3600+tt.minute*60 || z.String() != tt.name {
			t.Errorf("Zone(%q) = %v with offsets %d and %d s", tt.name, z, winter, summer)
		}
	}
}

func TestZoneRefuses(t *testing.T) {
	const must = "must be an IANA time zone name; "
	tests := []struct{ name, want string }{
		{"", "must be an IANA time zone name, such as Europe/London; it is empty"},
		{"Local", must + `"Local" is not one`},
		{"europe/london", must + `"europe/london" is not one (did you mean Europe/London?)`},
		{"Europe/london", must + `"Europe/london" is not one (did you mean Europe/London?)`},
		{"EUROPE/LONDON", must + `"EUROPE/LONDON" is not one (did you mean Europe/London?)`},
		{" Europe/London", must + `" Europe/London" is not one (did you mean Europe/London?)`},
		{"Europe/London ", must + `"Europe/London " is not one (did you mean Europe/London?)`},
		{"Europe/Lodnon", must + `"Europe/Lodnon" is not one (did you mean Europe/London?)`},
		{"London", must + `"London" is not one (did you mean Europe/London?)`},
		{"Europe\\London", must + `"Europe\\London" is not one (did you mean Europe/London?)`},
		{"America/New York", must + `"America/New York" is not one (did you mean America/New_York?)`},
		{"new york", must + `"new york" is not one (did you mean America/New_York?)`},
		{"utc", must + `"utc" is not one (did you mean UTC?)`},
		{"/Europe/London", must + `"/Europe/London" is not one (did you mean Europe/London?)`},
		{"./Europe/London", must + `"./Europe/London" is not one (did you mean Europe/London?)`},
		{"Europe//London", must + `"Europe//London" is not one (did you mean Europe/London?)`},
		{"../etc/passwd", must + `"../etc/passwd" is not one`},
		{"../zoneinfo/UTC", must + `"../zoneinfo/UTC" is not one`},
		{"Europe", must + `"Europe" is not one`},
		{"Europe/", must + `"Europe/" is not one`},
		{"Factory", must + `"Factory" is not one`},
		{"GMT+1", must + `"GMT+1" is not one`},
		{"PST", must + `"PST" is not one`},
		{"posixrules", must + `"posixrules" is not one`},
		{"Europe/London\x00", must + `"Europe/London\x00" is not one (did you mean Europe/London?)`},
		{"GMT Standard Time", must + `"GMT Standard Time" is not one`},
		{strings.Repeat("a", 1<<20), must + `"` + strings.Repeat("a", 40) + `…" is not one`},
	}
	for _, tt := range tests {
		z, err := Zone(tt.name)
		if err == nil {
			t.Errorf("Zone(%.40q) = %v, want an error", tt.name, z)
			continue
		}
		if err.Error() != tt.want {
			t.Errorf("Zone(%.40q)\n got %s\nwant %s", tt.name, err, tt.want)
		}
		if errdefs.KindOf(err) != errdefs.Invalid {
			t.Errorf("Zone(%.40q) gives an error of kind %v", tt.name, errdefs.KindOf(err))
		}
	}
}

// TestZoneIgnoresTheMachine checks that every zone of the database can be loaded, and that ZONEINFO has no effect.
func TestZoneIgnoresTheMachine(t *testing.T) {
	dir := t.TempDir()
	db, err := zones()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "Europe"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Europe/London", "Europe/Nowhere"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("not a zone"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("ZONEINFO", dir)
	for name := range db.files {
		if _, err := Zone(name); err != nil {
			t.Errorf("Zone(%q): %v", name, err)
		}
	}
	if _, err := Zone("Europe/Nowhere"); err == nil {
		t.Error("a zone of the machine's own was accepted")
	}
	if n := len(db.files); n < 597 {
		t.Errorf("the database has %d names, want 597 or more", n)
	}
}

func TestZoneIsKept(t *testing.T) {
	var group sync.WaitGroup
	found := make([]*time.Location, 8)
	for i := range found {
		group.Go(func() { found[i], _ = Zone("Europe/Paris") })
	}
	group.Wait()
	for _, z := range found {
		if z == nil || z != found[0] {
			t.Fatalf("Zone gives %p and %p for one name", z, found[0])
		}
	}
}

// TestZoneinfoIsCurrent checks that the embedded database is that of the Go release that builds the product.
func TestZoneinfoIsCurrent(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no Go command to ask for its database: %v", err)
	}
	want, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("this Go distribution carries no zoneinfo.zip")
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal([]byte(zoneinfo), want) {
		t.Error("zoneinfo.zip differs from the Go distribution's: run go generate ./app/iso")
	}
}

func BenchmarkZone(b *testing.B) {
	b.Run("known", func(b *testing.B) {
		for b.Loop() {
			Zone("Europe/London")
		}
	})
	b.Run("unknown", func(b *testing.B) {
		for b.Loop() {
			Zone("America/Argentina/Buenos-Ayres")
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			openDatabase()
		}
	})
}

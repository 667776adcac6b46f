package account

import (
	"archive/zip"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opsmon/app/account/manifest"
	"opsmon/app/iso"
	"opsmon/app/test/apptest"
)

// hostile are manifests of about 1 MiB each that are designed to be expensive. Valid ones are also applied and
// resolved. station is a station of the document.
var hostile = []struct {
	name  string
	valid bool
	make  func(t testing.TB, share int) string
}{
	{"45,000 stations of the same code", false, func(_ testing.TB, share int) string {
		return wrap("", `{"code":"line","name":"L","stations":[`+list(45_000/share, func(int) string { return `{"code":"a","name":"b"}` })+`]}`)
	}},
	{"35,000 stations", true, func(_ testing.TB, share int) string {
		return wrap("", `{"code":"line","name":"L","stations":[`+list(35_000/share, func(i int) string { return fmt.Sprintf(`{"code":"%d","name":"b"}`, i) })+`]}`)
	}},
	{"24,000 stations under a long code", true, func(_ testing.TB, share int) string {
		return wrap("", `{"code":"`+strings.Repeat("g", 1<<19/share)+`","name":"L","stations":[`+list(24_000/share, func(i int) string { return fmt.Sprintf(`{"code":"%d","name":"b"}`, i) })+`]}`)
	}},
	{"100,000 reasons nested as deep as may be", true, func(_ testing.TB, share int) string {
		const deep = 30
		return wrap(`"reasons":[`+list(100_000/share/deep, func(i int) string {
			var b strings.Builder
			for j := range deep {
				fmt.Fprintf(&b, `{"code":"%x","reasons":[`, i*deep+j)
			}
			return b.String() + strings.Repeat("]}", deep)
		})+`],`, "")
	}},
	{"40,000 reasons under a long code", true, func(_ testing.TB, share int) string {
		return wrap(`"reasons":[{"code":"`+strings.Repeat("r", 1<<19/share)+`","reasons":[`+list(40_000/share, func(i int) string { return fmt.Sprintf(`{"code":"%x"}`, i) })+`]}],`, "")
	}},
	{"reasons with unknown properties", true, func(_ testing.TB, share int) string {
		return wrap(`"reasons":[{"code":"R",`+list(90_000/share, func(i int) string { return fmt.Sprintf(`"%x":[]`, i) })+`}],`, "")
	}},
	{"9,000 cron patterns", true, func(_ testing.TB, share int) string {
		return wrap(tasks(9_000/share, func(i int) string { return fmt.Sprintf("%d %d %d %d *", i%60, i/60%24, 1+i/1440%28, 1+i/40320) }), "")
	}},
	{"9,000 cron patterns in every zone", false, func(t testing.TB, share int) string {
		return wrapPlants(tasks(9_000/share, func(i int) string { return fmt.Sprintf("%d %d * * %d", i%60, i/60%24, i/1440) }), everyZone(t))
	}},
	{"8,000 plants of one zone", true, func(_ testing.TB, share int) string {
		return wrapPlants(tasks(500, func(i int) string { return fmt.Sprintf("%d %d * * *", i%60, i/60) }), list(8_000/share, func(i int) string { return plantOf(i, "Europe/London") }))
	}},
	{"8,000 plants of unknown zones", false, func(_ testing.TB, share int) string {
		return wrapPlants("", list(8_000/share, func(i int) string { return plantOf(i, fmt.Sprintf("Europa/%d-nowhere-at-all-anymore", i)) }))
	}},
	{"200,000 unknown codes in include lists", true, func(_ testing.TB, share int) string {
		return wrap(`"includeReasonCodes":[`+list(100_000/share, func(int) string { return `"x"` })+`],"excludeTaskListCodes":[`+list(100_000/share, func(int) string { return `"y"` })+`],`, "")
	}},
	{"200,000 unknown stations of a SKU", false, func(_ testing.TB, share int) string {
		return wrap(`"skus":[{"code":"a","name":"a","cycleTime":1,"stationCodes":[`+list(200_000/share, func(int) string { return `"x"` })+`]}],`, "")
	}},
	{"20,000 SKUs without a rate", false, func(_ testing.TB, share int) string {
		return wrap(`"skus":[`+list(20_000/share, func(int) string { return `{"code":"a","name":"a"}` })+`],`, "")
	}},
	{"250,000 things that are none", false, func(_ testing.TB, share int) string {
		return wrap(`"skus":[`+list(250_000/share, func(int) string { return `1` })+`],`, "")
	}},
	{"a Task 70,000 times in a list", true, func(_ testing.TB, share int) string {
		return wrap(`"tasks":[{"code":"T","title":"T","taskListCodes":[`+list(70_000/share, func(int) string { return `{"code":"L"}` })+`]}],"taskLists":[{"code":"L","name":"L"}],"includeTaskListCodes":["L"],`, "")
	}},
	{"25,000 Task lists, each included everywhere", true, func(_ testing.TB, share int) string {
		return wrap(`"taskLists":[`+list(25_000/share, func(i int) string { return fmt.Sprintf(`{"code":"%d","name":"L"}`, i) })+`],"includeTaskListCodes":[`+list(25_000/share, func(i int) string { return fmt.Sprintf(`"%d"`, i) })+`],`, "")
	}},
	{"150,000 numbers in an unknown field", true, func(_ testing.TB, share int) string {
		return wrap(`"reasons":[{"code":"R","a":[`+list(150_000/share, func(i int) string { return fmt.Sprintf("%d.0e1", i%10) })+`]}],`, "")
	}},
	{"2,500 numbers of 400 digits", true, func(_ testing.TB, share int) string {
		return wrap(`"reasons":[{"code":"R","a":[`+list(2_500/share, func(i int) string { return fmt.Sprintf("1.%0390de-300", i) })+`]}],`, "")
	}},
	{"a string of escapes", true, func(_ testing.TB, share int) string {
		return wrap(`"reasons":[{"code":"`+strings.Repeat(`\\\"`, 1<<18/share)+`"}],`, "")
	}},
}

func list(n int, item func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item(i))
	}
	return b.String()
}

// wrap returns a manifest with members of the account, each followed by a comma, and one group.
func wrap(members, group string) string {
	if group == "" {
		group = `{"code":"line","name":"L","stations":[{"code":"0","name":"S"}]}`
	}
	return wrapPlants(members, `{"code":"plant","name":"P","timezone":"Europe/London","dayStartHour":0,"weekStartDay":0,"stationGroups":[`+group+`]}`)
}

func wrapPlants(members, plants string) string {
	return `{"version":"v1","account":{"id":"northfield","domain":"northfield.example",` + members + `"plants":[` + plants + `]}}`
}

func plantOf(i int, zone string) string {
	return fmt.Sprintf(`{"code":"plant-%d","name":"P","timezone":"%s","dayStartHour":0,"weekStartDay":0,"stationGroups":[{"code":"g","name":"G","stations":[{"code":"%d","name":"S"}]}]}`, i, zone, i)
}

func tasks(n int, pattern func(i int) string) string {
	return `"tasks":[` + list(n, func(i int) string {
		return fmt.Sprintf(`{"code":"%d","title":"T","trigger":{"type":"cron","pattern":"%s","availableBeforeDeadlineMinutes":1}}`, i, pattern(i))
	}) + `],`
}

// everyZone returns a plant for each accepted time zone.
func everyZone(t testing.TB) string {
	r, err := zip.OpenReader(filepath.Join("..", "iso", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var plants []string
	for i, f := range r.File {
		if _, err := iso.Zone(f.Name); err == nil {
			plants = append(plants, plantOf(i, f.Name))
		}
	}
	if len(plants) < 400 {
		t.Fatalf("%d zones", len(plants))
	}
	return strings.Join(plants, ",")
}

// TestHostile bounds the cost of expensive documents. A quadratic cost would take minutes.
func TestHostile(t *testing.T) {
	apptest.Long(t)
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			raw := []byte(h.make(t, 2))
			took := func(what string, fn func()) {
				before := time.Now()
				fn()
				d := time.Since(before)
				t.Logf("%-8s %5.2f MiB %6.0f ms", what, float64(len(raw))/(1<<20), d.Seconds()*1000)
				if d > 5*time.Second {
					t.Errorf("%s took %v of %d bytes", what, d, len(raw))
				}
			}
			var report Report
			took("validate", func() { report = Validate(raw, start) })
			if report.Valid != h.valid {
				t.Fatalf("valid is %v: %d problems, the first: %.300v", report.Valid, len(report.Details), report.Details)
			}
			if n := len(report.Details); n > 2*manifest.MaxFindings {
				t.Errorf("%d problems were collected", n)
			}
			if n := len(report.Warnings); n > manifest.MaxFindings {
				t.Errorf("%d warnings were collected", n)
			}
			if !h.valid {
				return
			}
			house := newHouse(t)
			house.create(CreateInput{Manifest: []byte(wrap("", ""))})
			took("apply", func() { house.apply(raw) })
			took("again", func() {
				if r := house.apply(raw); r.Changed {
					t.Errorf("the same again changes %d things: %.300v", r.TotalChanges, r.Changes)
				}
			})
			took("resolve", func() {
				if _, err := house.now().Resolve("0"); err != nil {
					t.Error(err)
				}
			})
			took("back", func() { house.apply([]byte(wrap("", ""))) })
		})
	}
}

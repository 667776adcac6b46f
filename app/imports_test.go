package app_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// who says what each room may import: its own module's rooms by their path below opsmon/, and the libraries that
// live in named rooms only. A room that is missing here fails the test, so that a new one is thought about.
var who = map[string][]string{
	"":                     {"app/cli"},
	"kv":                   {},
	"kv/kvtest":            {"kv"},
	"kv/powercut":          {},
	"schema":               {"schema/strictjson"},
	"schema/strictjson":    {},
	"schema/schematest":    {},
	"assets":               {},
	"assets/vendoring":     {},
	"app/errdefs":          {},
	"app/iso":              {"app/errdefs"},
	"app/cron":             {"app/errdefs"},
	"app/transform":        {"app/errdefs"},
	"app/demo":             {},
	"app/calendar":         {},
	"app/simulate":         {"schema/strictjson", "app/calendar"},
	"app/monitor":          {"app/calendar"},
	"app/oee":              {"app/monitor", "app/calendar"},
	"app/energy":           {"app/monitor", "app/calendar"},
	"app/event":            {},
	"app/growth":           {},
	"app/apptest":          {}, // for tests alone
	"app/installtest":      {}, // tests alone
	"app/killtest":         {}, // tests alone
	"app/windowstest":      {}, // tests alone
	"app/audit":            {"kv", "app/errdefs"},
	"app/auth":             {"kv", "schema", "app/errdefs", "app/audit"},
	"app/account":          {"kv", "schema", "schema/strictjson", "app/errdefs", "app/audit", "app/auth", "app/cron", "app/iso", "app/transform"},
	"app/station":          {"kv", "schema/strictjson", "app/errdefs", "app/iso", "app/account", "app/audit", "app/auth", "app/calendar", "app/monitor", "app/oee", "app/energy"},
	"app/httpapi":          {"app/origin", "schema", "schema/strictjson", "app/errdefs", "app/audit", "app/auth", "app/account", "app/backup", "app/control", "app/signal", "app/event", "app/calendar", "app/cron", "app/iso", "app/monitor", "app/oee", "app/energy", "app/station", "app/floor", "app/schedule", "app/issue", "app/task", "app/message", "app/history", "app/mqtt", "app/correction", "app/logbook"},
	"app/upgrade":          {"kv", "app/backup", "app/control", "app/namedfile"}, // control to watch the new version
	"app/web":              {"assets", "app/origin"},
	"app/origin":           {},
	"app/web/accesstest":   {},                                                                                 // tests alone
	"app/web/analysistest": {},                                                                                 // tests alone
	"app/web/configtest":   {},                                                                                 // tests alone
	"app/web/offlinetest":  {},                                                                                 // tests alone
	"app/web/consoletest":  {},                                                                                 // tests alone
	"app/web/entrytest":    {},                                                                                 // tests alone
	"app/web/gantttest":    {},                                                                                 // tests alone
	"app/web/floortest":    {},                                                                                 // tests alone
	"app/web/liststest":    {},                                                                                 // tests alone
	"app/web/plantstest":   {},                                                                                 // tests alone
	"app/web/tablettest":   {},                                                                                 // tests alone
	"app/web/stationtest":  {},                                                                                 // tests alone
	"app/web/stopstest":    {},                                                                                 // tests alone
	"app/web/webtest":      {"app", "app/control", "app/demo", "app/service", "app/simulate", "app/transform"}, // for tests alone
	"app/control":          {},
	"app/failpoint":        {},
	"app/logbook":          {},
	"app/signal":           {"kv"},
	"app/history":          {"kv", "app/calendar", "app/monitor", "app/oee", "app/energy"},
	"app/mqtt":             {"schema/strictjson", "app/auth", "app/signal", "app/transform"},
	"app/issue":            {"kv", "app/errdefs", "app/account", "app/audit", "app/auth", "app/event", "app/floor", "app/monitor", "app/station"},
	"app/backup":           {"kv", "app/failpoint", "app/namedfile"},
	"app/certs":            {"kv", "app/namedfile"}, // kv for kv.SyncDir alone
	"app/mdns":             {},
	"app/namedfile":        {},
	"app/doctor":           {"kv", "app/backup", "app/certs", "app/mdns", "app/service"},
	"app/service":          {"app/control"},
	"app/service/boottest": {},
	"app/service/winetest": {},
	"app/floor":            {"kv", "app/errdefs", "app/account", "app/audit", "app/calendar", "app/energy", "app/event", "app/history", "app/monitor", "app/oee", "app/signal", "app/station"},
	"app/task":             {"kv", "app/errdefs", "app/account", "app/audit", "app/auth", "app/cron", "app/event", "app/floor", "app/monitor", "app/station"},
	"app/message":          {"kv", "app/errdefs", "app/audit", "app/auth", "app/event", "app/floor"},
	"app/correction":       {"kv", "app/errdefs", "app/account", "app/audit", "app/auth", "app/calendar", "app/monitor", "app/oee", "app/station", "app/floor"},
	"app/floor/floortest":  {"kv", "kv/kvtest", "app/account", "app/auth", "app/audit", "app/event", "app/floor", "app/history", "app/signal", "app/station"},
	"app/schedule":         {"kv", "app/errdefs", "app/audit", "app/auth", "app/calendar", "app/event", "app/floor", "app/monitor", "app/station"},
	"app":                  {"kv", "schema", "assets", "app/errdefs", "app/audit", "app/auth", "app/account", "app/event", "app/station", "app/floor", "app/correction", "app/schedule", "app/task", "app/message", "app/mqtt", "app/transform", "app/signal", "app/issue", "app/history", "app/httpapi", "app/web", "app/control", "app/backup", "app/failpoint", "app/certs", "app/mdns", "app/upgrade", "app/doctor", "app/logbook", "app/namedfile"},
	"packaging/build":      {"app/service"},
	"app/cli":              {"kv", "app", "app/errdefs", "app/audit", "app/account", "app/control", "app/demo", "app/web", "app/backup", "app/auth", "app/certs", "app/doctor", "app/service", "app/simulate", "app/transform", "app/upgrade"},
}

// homes are the rooms that a library lives in.
var homes = map[string][]string{
	"go.etcd.io/bbolt":                       {"kv", "kv/kvtest"},
	"github.com/santhosh-tekuri/jsonschema/": {"schema"},
	"github.com/julienschmidt/httprouter":    {"app/httpapi", "app/web"},
	"github.com/spf13/cobra":                 {"app/cli"},
	"github.com/kardianos/service":           {"app/service"},
	"github.com/robfig/cron/":                {"app/cron"},
	"github.com/blues/jsonata-go":            {"app/transform"},
	"github.com/wneessen/go-mail":            {"app/auth"},
	"github.com/mochi-mqtt/":                 {"app/mqtt"},
	"github.com/eclipse/":                    {"app/mqtt"},
	"github.com/pion/":                       {"app/mdns"},
	"aead.dev/minisign":                      {"app/upgrade", "packaging/build"},
	"filippo.io/age":                         {"app/backup"},
	"net/http":                               {"app/web/webtest", "app/apptest", "app", "app/httpapi", "app/web", "app/control", "app/cli", "app/certs", "app/service", "app/origin", "app/upgrade"},
}

func TestRoomsImportOnlyWhatTheyMay(t *testing.T) {
	for _, goos := range []string{"linux", "windows"} {
		cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "opsmon/...")
		cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) < len(who)-2 {
			t.Fatalf("go list names %d packages; are they all there?\n%s", len(lines), out)
		}
		for _, line := range lines {
			imports := strings.Fields(line)
			room := strings.TrimPrefix(strings.TrimPrefix(imports[0], "opsmon"), "/")
			may, known := who[room]
			if !known {
				t.Errorf("the room %q is not in the table of who may import whom", room)
			}
			for _, path := range imports[1:] {
				if own, ours := strings.CutPrefix(path, "opsmon/"); ours && !slices.Contains(may, own) {
					t.Errorf("%s (%s) must not import %s", room, goos, own)
				}
				for library, rooms := range homes {
					if (path == library || strings.HasPrefix(path, library) && strings.HasSuffix(library, "/")) && !slices.Contains(rooms, room) {
						t.Errorf("%s (%s) must not import %s, which lives in %v", room, goos, path, rooms)
					}
				}
			}
		}
	}
}

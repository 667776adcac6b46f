package app_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// group is rooms that stand at one place on the way of the data. Each may import the others of it and those of the groups that it
// names; the compiler refuses circles.
type group struct {
	name  string
	rooms []string // paths below opsmon/; those that end with a slash stand for all below them
	may   []string
}

// groups states who may import whom. A room that is in none fails the test, so that a new one is thought about.
var groups = []group{
	{"base", []string{"kv/file", "kv", "schema", "schema/strictjson", "assets", "app/column", "app/errdefs", "app/iso", "app/cron",
		"app/origin", "app/negotiate", "app/instant"}, nil},
	{"configuration", []string{"app/account", "app/account/manifest", "app/audit", "app/auth", "app/idempotency"}, []string{"base"}},
	{"engine", []string{"app/engine/"}, []string{"base", "configuration"}},
	{"ingest", []string{"app/ingest/"}, []string{"base", "configuration", "engine"}},
	{"work", []string{"app/work/"}, []string{"base", "configuration", "engine", "ingest"}},
	{"deliver", []string{"app/deliver/"}, []string{"base", "configuration", "engine", "ingest", "work"}},
	{"services", []string{"app/services"}, []string{"base", "configuration", "engine", "ingest", "work", "deliver"}},
	{"host", []string{"app/host/"}, []string{"base"}},
	{"edges", []string{"app/httpapi", "app/httpapi/", "app/web"}, []string{"base", "configuration", "engine", "ingest", "work", "deliver", "host"}},
	{"play", []string{"app/simulate", "app/demo"}, []string{"base", "engine"}},
	{"app", []string{"app"},
		[]string{"base", "configuration", "engine", "ingest", "work", "deliver", "services", "host", "edges"}},
	{"cli", []string{"", "app/cli"}, []string{"base", "configuration", "engine", "ingest", "host", "edges", "play", "app"}},
	// Programs that make releases and generated files; no part of the product.
	{"releases", []string{"packaging/", "assets/vendoring", "app/httpapi/internal/schemagen"}, []string{"host"}},
	// Rigs are imported by tests, which are not looked at here, and by each other.
	{"rigs", []string{"app/test/", "kv/kvtest", "kv/powercut", "schema/schematest", "app/engine/floor/floortest", "app/host/service/boottest", "app/host/service/winetest"},
		[]string{"base", "configuration", "engine", "ingest", "work", "deliver", "services", "host", "edges", "play", "app", "cli"}},
}

// beyond are imports that the groups do not allow, each for a reason.
var beyond = map[string][]string{
	"app/account": {"app/ingest/transform"}, // a manifest's expressions are checked when it is applied
	// Topics, brokers' addresses and expressions in settings are checked before anything is opened, by the rooms that use
	// them, which also state the default limits.
	"app/host/config":   {"app/ingest/mqtt", "app/ingest/signal", "app/ingest/transform"},
	"app/engine/floor":  {"app/ingest/signal", "app/deliver/event"}, // it takes in the one and gives out the other, within its transactions
	"app/engine/report": {"app/ingest/signal"},                      // cycle times are measured from signal to signal
	"app/work/issue":    {"app/deliver/event"},                      // what people do is told as it is stored
	"app/work/message":  {"app/deliver/event"},
	"app/work/schedule": {"app/deliver/event"},
	"app/work/task":     {"app/deliver/event"},
}

// narrow are rooms that may import less than their group: these rooms of ours and no other.
var narrow = map[string][]string{
	"app/httpapi/openapi":  {"app/auth", "schema"},
	"kv/file":              {},
	"kv":                   {"kv/file"},
	"assets":               {},
	"schema":               {"schema/strictjson"},
	"app/column":           {},
	"app/errdefs":          {},
	"app/instant":          {},
	"app/negotiate":        {},
	"app/web":              {"assets", "app/negotiate", "app/origin"},
	"app/engine/calendar":  {"app/instant"},
	"app/engine/monitor":   {"app/engine/calendar", "app/instant"},
	"app/engine/oee":       {"app/engine/monitor", "app/engine/calendar", "app/instant"},
	"app/engine/energy":    {"app/engine/monitor", "app/engine/calendar", "app/instant"},
	"app/ingest/signal":    {"kv", "app/column", "app/errdefs", "app/instant"},
	"app/ingest/transform": {"app/errdefs"},
	"app/deliver/event":    {},
	"app/host/service":     {"app/host/control", "kv/file"},
	"":                     {"app/cli"},
}

// without are rooms that must not import one that their group may. A name that ends with a slash stands for all rooms below.
var without = map[string]string{"app/httpapi": "kv", "app/httpapi/": "kv", "app/ingest/mqtt": "kv"}

// operations are the rooms of the API's operations. They share these and do not import each other.
const operations = "app/httpapi/"

var sharedByOperations = []string{"app/httpapi/rest", "app/httpapi/openapi"}

// homes are the rooms that a library lives in.
var homes = map[string][]string{
	"go.etcd.io/bbolt":                       {"kv", "kv/kvtest"},
	"github.com/santhosh-tekuri/jsonschema/": {"schema"},
	"github.com/julienschmidt/httprouter":    {"app/httpapi/rest", "app/web"},
	"github.com/spf13/cobra":                 {"app/cli"},
	"github.com/kardianos/service":           {"app/host/service"},
	"github.com/robfig/cron/":                {"app/cron"},
	"github.com/blues/jsonata-go":            {"app/ingest/transform"},
	"github.com/wneessen/go-mail":            {"app/auth"},
	"github.com/mochi-mqtt/":                 {"app/ingest/mqtt"},
	"github.com/eclipse/":                    {"app/ingest/mqtt"},
	"github.com/pion/":                       {"app/host/mdns"},
	"aead.dev/minisign":                      {"app/host/upgrade", "packaging/build"},
	"filippo.io/age":                         {"app/host/backup"},
	"golang.org/x/tools/":                    {"app/httpapi/internal/schemagen"},
	"net/http": {"app/test/browser/webtest", "app/test/apptest", "app", "app/httpapi", "app/httpapi/access", "app/httpapi/appliance", "app/httpapi/configuration",
		"app/httpapi/figures", "app/httpapi/openapi", "app/httpapi/rest", "app/httpapi/signals", "app/httpapi/work",
		"app/web", "app/cli", "app/origin",
		"app/host/control", "app/host/certs", "app/host/service", "app/host/upgrade"},
}

// groupOf returns the group of a room; nil when it is in none. A room that is named goes before those that stand for all below them.
func groupOf(room string) *group {
	var found *group
	for i := range groups {
		for _, r := range groups[i].rooms {
			if r == room {
				return &groups[i]
			}
			if strings.HasSuffix(r, "/") && strings.HasPrefix(room, r) {
				found = &groups[i]
			}
		}
	}
	return found
}

// mayImport reports whether a room may import another one of ours.
func mayImport(room, other string) bool {
	if slices.Contains(beyond[room], other) {
		return true
	}
	if only, few := narrow[room]; few {
		return slices.Contains(only, other)
	}
	if strings.HasPrefix(room, operations) && strings.HasPrefix(other, operations) {
		return slices.Contains(sharedByOperations, other)
	}
	for name, one := range without {
		if one == other && (name == room || strings.HasSuffix(name, "/") && strings.HasPrefix(room, name)) {
			return false
		}
	}
	mine, its := groupOf(room), groupOf(other)
	return mine != nil && its != nil && (mine == its || slices.Contains(mine.may, its.name))
}

func TestRoomsImportOnlyWhatTheyMay(t *testing.T) {
	rooms := map[string]bool{}
	for _, goos := range []string{"linux", "windows"} {
		cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "opsmon/...")
		cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for line := range strings.Lines(string(out)) {
			imports := strings.Fields(line)
			room := strings.TrimPrefix(strings.TrimPrefix(imports[0], "opsmon"), "/")
			if rooms[room] = true; groupOf(room) == nil {
				t.Errorf("the room %q is in no group", room)
			}
			for _, path := range imports[1:] {
				if own, ours := strings.CutPrefix(path, "opsmon/"); ours && !mayImport(room, own) {
					t.Errorf("%s (%s) must not import %s", room, goos, own)
				}
				for library, homes := range homes {
					if (path == library || strings.HasPrefix(path, library) && strings.HasSuffix(library, "/")) && !slices.Contains(homes, room) {
						t.Errorf("%s (%s) must not import %s, which lives in %v", room, goos, path, homes)
					}
				}
			}
		}
	}
	named := func(table, room string) {
		if !rooms[room] {
			t.Errorf("%s names %q, which is no room", table, room)
		}
	}
	for _, g := range groups {
		for _, r := range g.rooms {
			if !strings.HasSuffix(r, "/") {
				named(g.name, r)
			}
		}
	}
	for room, list := range beyond {
		named("beyond", room)
		for _, other := range list {
			if named("beyond", other); slices.Contains(groupOf(room).may, groupOf(other).name) {
				t.Errorf("beyond allows %s to import %s, which its group does", room, other)
			}
		}
	}
	for room := range narrow {
		named("narrow", room)
	}
	for _, list := range homes {
		for _, room := range list {
			named("homes", room)
		}
	}
}

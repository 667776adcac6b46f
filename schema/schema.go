// Package schema defines the documents that the service accepts, as JSON Schema (draft 2020-12), and validates
// documents against them. The embedded files are the only place of these rules: the manifest (http-api.md, section
// 2.3) and one file per request body. The domain packages check rules that concern more than one value (unique codes,
// references, zones, cron patterns).
package schema

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Name is the name of a schema file.
type Name string

// The schemas: the manifest and the request bodies.
const (
	Manifest       Name = "manifest"        // the whole document of section 2.3
	AccountUpdate  Name = "account-update"  // POST /account, section 4.1
	Login          Name = "login"           // POST /auth/login
	Approve        Name = "approve"         // POST /auth/approve
	AccountSwitch  Name = "account-switch"  // POST /auth/account
	KeyCreate      Name = "key-create"      // POST /key
	UserCreate     Name = "user-create"     // POST /user
	UserUpdate     Name = "user-update"     // PUT /user/{email}
	TabletCreate   Name = "tablet-create"   // POST /tablet
	BackupVerify   Name = "backup-verify"   // POST /backup/{name}/verify
	BackupRestore  Name = "backup-restore"  // POST /backup/{name}/restore
	BackupSettings Name = "backup-settings" // PUT /appliance/backup-settings
	DeviceCreate   Name = "device-create"   // POST /device
	SignalBatch    Name = "signal-batch"    // POST /signal

	IssueCreate      Name = "issue-create"      // POST /issue
	IssueAcknowledge Name = "issue-acknowledge" // POST /issue/{id}/acknowledge
	IssueEstimate    Name = "issue-estimate"    // POST /issue/{id}/estimate
	IssueEscalate    Name = "issue-escalate"    // POST /issue/{id}/escalate
	IssueCause       Name = "issue-cause"       // POST /issue/{id}/cause
	IssueSplit       Name = "issue-split"       // POST /issue/{id}/split
	IssueExclude     Name = "issue-exclude"     // POST /issue/{id}/exclude

	StationOperator  Name = "station-operator"  // POST /station/{stationCode}/operator
	StationAlert     Name = "station-alert"     // POST /station/{stationCode}/alert
	ScheduleWrite    Name = "schedule-write"    // POST /schedule
	ScheduleStart    Name = "schedule-start"    // POST /schedule/{scheduleId}/start
	ScheduleEnd      Name = "schedule-end"      // POST /schedule/{scheduleId}/end
	ScheduleMove     Name = "schedule-move"     // POST /schedule/{scheduleId}/move
	ScheduleQuick    Name = "schedule-quick"    // POST /quick-schedule
	ProductionCreate Name = "production-create" // POST /production
	ProductionUndo   Name = "production-undo"   // POST /production/{entryId}/undo

	TaskComplete  Name = "task-complete"   // POST /task/{id}/complete
	TaskListStart Name = "task-list-start" // POST /task-list/{code}/start

	MessageCreate Name = "message-create" // POST /message
	MessageDone   Name = "message-done"   // POST /message/{messageId}/done

	CorrectionCreate Name = "correction-create" // POST /correction

	Setup         Name = "setup"          // POST /setup
	AccountCreate Name = "account-create" // an additional account on the appliance
)

// base is the start of every $id, and extension its end. Nothing is ever downloaded from there.
const (
	base      = "https://opsmon.example/schema/"
	extension = ".schema.json"
)

//go:embed *.schema.json
var files embed.FS

// Names returns the names of all schemas, the manifest first. The caller may change the slice.
func Names() []Name {
	return []Name{Manifest, AccountUpdate, Login, Approve, AccountSwitch, KeyCreate, UserCreate, UserUpdate,
		TabletCreate, DeviceCreate, SignalBatch,
		ScheduleWrite, ScheduleStart, ScheduleEnd, ScheduleMove, ScheduleQuick, ProductionCreate, ProductionUndo,
		IssueCreate, IssueAcknowledge, IssueEstimate, IssueEscalate, IssueCause, IssueSplit, IssueExclude, StationOperator, StationAlert, CorrectionCreate,
		TaskComplete, TaskListStart, MessageCreate, MessageDone,
		BackupVerify, BackupRestore, BackupSettings, Setup, AccountCreate}
}

// JSON returns an embedded schema file. It panics on a name that is not in Names.
func JSON(name Name) []byte {
	b, err := files.ReadFile(string(name) + extension)
	if err != nil {
		panic(fmt.Sprintf("schema: no schema is named %q", name))
	}
	return b
}

// MaxViolations is the maximum number of violations that Validate returns. A document with that many may have more.
const MaxViolations = 4096

// Violation is one problem with a document (decisions.md section 1).
type Violation struct {
	Path  string // dotted path from the root, "account.plants[2].code"; "" is the document itself
	Issue string // a sentence without its subject, "must be 32 characters or fewer; it has 41"
}

// Validate validates a document as returned by strictjson.Decode. It returns all violations in the natural order of
// their paths, at most MaxViolations; none if the document is valid. A big document is validated on all processors.
// It panics on a name that is not in Names and on Go types that strictjson.Decode never returns.
func Validate(name Name, v any) []Violation {
	root := compiled(name)
	found := newWalker().value(root, v, make([]step, 0, 16))
	slices.SortFunc(found, func(a, b Violation) int {
		if c := comparePaths(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Issue, b.Issue)
	})
	return slices.Compact(found)
}

var lazy = func() map[Name]func() *section {
	m := make(map[Name]func() *section)
	for _, name := range Names() {
		m[name] = sync.OnceValue(func() *section {
			s, err := compile(name)
			if err != nil {
				panic(err) // the files are embedded, and tests compile each of them
			}
			return s
		})
	}
	return m
}()

// compiled returns the root section of a schema, compiled on first use.
func compiled(name Name) *section {
	get := lazy[name]
	if get == nil {
		panic(fmt.Sprintf("schema: no schema is named %q", name))
	}
	return get()
}

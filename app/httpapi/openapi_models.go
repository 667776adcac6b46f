package httpapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"opsmon/schema"
)

// componentPrefix is where the document keeps its schemas.
const componentPrefix = "#/components/schemas/"

func ref(name string) object { return obj("$ref", componentPrefix+name) }

// renamed are definitions whose name in a schema file is taken by something else here.
var renamed = map[schema.Name]map[string]string{
	schema.Manifest: {"Account": "ManifestAccount"},
}

// components makes the document's schemas: those that requests are checked against, and those of answers. What
// answers share with the manifest is taken from it, so that there is one place for each field.
func components() object {
	out := object{}
	for _, name := range schema.Names() {
		if name == schema.AccountCreate {
			continue // of the local command line only
		}
		out = embedded(out, name)
	}
	account := accountFields(out.object("ManifestAccount"))
	out = append(out,
		member{"Account", accountAnswer(account)},
		member{"UpdatedAccount", strict("The account without its manifest and cursors.", account, []any{"id", "domain"})},
	)
	out = append(out, parse(answerModels).(object)...)
	pattern := out.object("ShiftPattern").object("properties")
	out = append(out,
		member{"StationShiftPattern", strict("The shift pattern in force and the level that names it.",
			pattern.with("from", parse(`{"description":"The level that names the pattern.","type":"string","enum":["station","group"]}`)), nil)},
		member{"StationFlags", stationFlags(out)},
		member{"StationSettings", strict("The station's own fields with their defaults filled in.", stationSettings(out.object("Station")), nil)},
	)
	return out
}

// strict makes a closed object schema; required nil = every property.
func strict(description string, properties object, required []any) object {
	if required == nil {
		required = properties.names()
	}
	return obj("description", description, "type", "object", "required", required, "additionalProperties", false, "properties", properties)
}

// embedded adds a schema file and its definitions to the components. Files may share a definition that says the same.
func embedded(out object, name schema.Name) object {
	file := parse(string(schema.JSON(name))).(object)
	title := file.get("title").(string)
	names := map[string]string{}
	for _, d := range file.object("$defs") {
		names[d.name] = d.name
		if other := renamed[name][d.name]; other != "" {
			names[d.name] = other
		}
	}
	add := func(as string, s object) {
		s = publish(s, names).(object)
		if was := out.object(as); was == nil {
			out = append(out, member{as, s})
		} else if !reflect.DeepEqual(was.without(isDescription), s.without(isDescription)) {
			panic(fmt.Sprintf("httpapi: two schemas are called %s", as))
		}
	}
	add(title, file)
	for _, d := range file.object("$defs") {
		add(names[d.name], d.value.(object))
	}
	return out
}

func isDescription(name string) bool { return name == "description" }

// publish turns a schema of a file into one of the document: references lead to the components, what only the
// validator reads is left out. readOnly goes too: a document that was read may be sent back as it is, and `id` and
// `domain` must be.
func publish(v any, names map[string]string) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = publish(v[i], names)
		}
		return out
	case object:
		out := make(object, 0, len(v)+1)
		for _, m := range v {
			switch m.name {
			case "$schema", "$id", "$defs", "examples", "title", "x-sentence":
				if _, property := m.value.(object); !property || m.name == "$defs" {
					continue
				}
			case "readOnly":
				continue
			case "$ref":
				name := strings.TrimPrefix(m.value.(string), "#/$defs/")
				out = append(out, member{"$ref", componentPrefix + names[name]})
				continue
			case "enum", "const":
				if v.get("type") == nil {
					out = append(out, member{"type", typesOf(m.value)})
				}
			case "allOf":
				if choice, discriminator := chosen(publish(m.value, names).([]any)); choice != nil {
					out = append(out, member{"oneOf", choice}, member{"discriminator", discriminator})
					continue
				}
			}
			out = append(out, member{m.name, publish(m.value, names)})
		}
		return out
	}
	return v
}

// typesOf names the types of a constant or of an enumeration's values, which are all text or null: generators of
// clients ask for them.
func typesOf(value any) any {
	if values, _ := value.([]any); slices.Contains(values, nil) {
		return []any{"string", "null"}
	}
	return "string"
}

// chosen reads a list of {if: property is a constant, then: $ref} as a choice between what the $refs lead to, which
// every OpenAPI tool understands; nil when it is something else.
func chosen(list []any) (choice []any, discriminator object) {
	var property string
	mapping := object{}
	for _, one := range list {
		then := one.(object).object("then")
		for _, p := range one.(object).object("if").object("properties") {
			property = p.name
			mapping = append(mapping, member{p.value.(object).get("const").(string), then.get("$ref")})
		}
		choice = append(choice, then)
	}
	if len(mapping) != len(list) {
		return nil, nil
	}
	return choice, obj("propertyName", property, "mapping", mapping)
}

// accountFields are the fields of http-api.md section 2.1 that an answer carries, from id to enableAlwaysConnected.
func accountFields(manifest object) object {
	return manifest.object("properties").without(func(name string) bool {
		return slices.Contains([]string{"shiftPatterns", "reasons", "tasks", "taskLists", "skus", "plants"}, name)
	})
}

// accountAnswer is the result of GET /account.
func accountAnswer(account object) object {
	account = append(account, parse(`{
		"cursors": {"description": "How far each stage of the monitoring has got.", "type": "array", "items": {"$ref": "#/components/schemas/Cursor"}},
		"warehouseConfig": {"$ref": "#/components/schemas/WarehouseConfig", "description": "Access to the data warehouse; only there when one is attached."},
		"manifest": {"$ref": "#/components/schemas/Manifest"}
	}`).(object)...)
	return strict("The account with its whole configuration. Fields that are not set are null.", account, []any{"id", "domain", "manifest"})
}

// stationFlags has every feature flag of section 2.2 with its resolved value.
func stationFlags(all object) object {
	flags := object{}
	for _, level := range []string{"ManifestAccount", "Station"} {
		for _, p := range all.object(level).object("properties") {
			if strings.HasPrefix(p.name, "enable") && flags.get(p.name) == nil {
				flags = append(flags, member{p.name, obj("$ref", componentPrefix+"FlagDecision", "description", p.value.(object).get("description"))})
			}
		}
	}
	return strict("Every feature flag as it is at the station.", flags, nil)
}

// stationSettings are a station's own fields without what is shown resolved and what the system keeps.
func stationSettings(station object) object {
	return station.object("properties").without(func(name string) bool {
		switch name {
		case "code", "name", "currentOperatorInitials", "statusCode", "statusCodeUpdatedAt", "alertMessage", "alertExpiresAt",
			"createdAt", "updatedAt", "archivedAt":
			return true
		}
		return strings.HasPrefix(name, "enable") || strings.HasPrefix(name, "include") || strings.HasPrefix(name, "exclude")
	})
}

// answerModels are the objects that only answers are made of: http-api.md sections 2.1, 2.4 and 7, and decisions.md
// sections 3 to 6.
const answerModels = `{
"Moment": {"description": "A time: RFC 3339, in UTC, with milliseconds.", "type": "string", "format": "date-time", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"},
"Role": {"description": "What somebody may do in an account, highest first.", "type": "string", "enum": ["admin", "member", "supervisor", "operator", "readonly"]},
"Done": {"description": "It is done; there is nothing else to say.", "type": "object", "required": ["isSuccess"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": true}}},
"Paging": {"description": "Where a page of a list belongs.", "type": "object", "required": ["totalElements"], "additionalProperties": false, "properties": {
	"totalElements": {"description": "How many there are in all.", "type": "integer", "minimum": 0},
	"before": {"description": "Of the audit alone, and only where a search did not come to the end: the same search with this for before goes on. The total is of what was looked at.", "type": "integer", "minimum": 2}}},
"Ref": {"description": "Names a thing.", "type": "object", "required": ["code", "name"], "additionalProperties": false, "properties": {
	"code": {"description": "Its code.", "type": "string"},
	"name": {"description": "Its name.", "type": "string"}}},
"StationSku": {"description": "A SKU that a station can run.", "type": "object", "required": ["code", "name", "allowUseInQuickSchedule"], "additionalProperties": false, "properties": {
	"code": {"description": "Its code.", "type": "string"},
	"name": {"description": "Its name.", "type": "string"},
	"allowUseInQuickSchedule": {"description": "Whether it can be started without having been planned.", "type": "boolean"}}},
"Cursor": {"description": "How far one stage of the monitoring has got: signals that arrived, windows that are made of them, tasks and schedules that fall due by themselves.", "type": "object", "required": ["type", "timestamp", "value", "valueAgo"], "additionalProperties": false, "properties": {
	"type": {"type": "string"}, "timestamp": {"description": "Unix time, milliseconds.", "type": "number"}, "value": {"description": "The same as a time.", "type": "string"}, "valueAgo": {"description": "How long ago that is, such as 4 s.", "type": "string"}}},
"WarehouseConfig": {"description": "Access to the data warehouse.", "type": "object", "required": ["host", "port", "username"], "additionalProperties": false, "properties": {
	"host": {"type": "string"}, "port": {"type": "number"}, "username": {"type": "string"}}},
"Membership": {"description": "An account that a person belongs to.", "type": "object", "required": ["role", "accountId", "domain"], "additionalProperties": false, "properties": {
	"role": {"$ref": "#/components/schemas/Role"},
	"accountId": {"description": "Identifier of the account.", "type": "string"},
	"domain": {"description": "E-mail domain of the account.", "type": "string"}}},
"Session": {"description": "A person who asked to sign in and has proven nothing yet.", "type": "object", "required": ["email", "exp", "userRole", "accountId", "role", "featureFlags", "type"], "additionalProperties": false, "properties": {
	"email": {"description": "The address that the link is for.", "type": "string"},
	"exp": {"$ref": "#/components/schemas/Moment", "description": "When the link expires."},
	"userRole": {"type": "string", "const": "customer"},
	"accountId": {"description": "The account to be entered.", "type": "string"},
	"role": {"description": "Always the lowest: the real one comes with the profile.", "type": "string", "const": "readonly"},
	"featureFlags": {"description": "Always empty: the real ones come with the profile.", "type": "array", "maxItems": 0, "items": {"type": "string"}},
	"type": {"type": "string", "const": "login"}}},
"Profile": {"description": "Who is behind the request.", "type": "object", "required": ["email", "exp", "userRole", "accountId", "role", "featureFlags", "type", "accounts", "apiKey", "account"], "additionalProperties": false, "properties": {
	"email": {"description": "The person's address, or a tablet's identity.", "type": "string"},
	"exp": {"$ref": "#/components/schemas/Moment", "description": "When the session or the key ends; 9999-12-31T23:59:59.000Z for a key without an end."},
	"userRole": {"description": "system is the appliance's own operator; everybody else is a customer.", "type": "string", "enum": ["customer", "system"]},
	"accountId": {"description": "The account that the request works on.", "type": "string"},
	"role": {"$ref": "#/components/schemas/Role", "description": "The role in that account."},
	"featureFlags": {"description": "Names of the account's flags that are on.", "type": "array", "items": {"type": "string"}},
	"type": {"description": "How the caller proved who it is.", "type": "string", "enum": ["session", "apiKey", "login", "device"]},
	"accounts": {"description": "The accounts that the person belongs to.", "type": "array", "items": {"$ref": "#/components/schemas/Membership"}},
	"apiKey": {"description": "The API key that the request came with; empty for a session.", "type": "string"},
	"account": {"$ref": "#/components/schemas/ProfileAccount"},
	"tabletName": {"description": "Of a tablet alone: the name that it was paired with.", "type": "string"},
	"stationCodes": {"description": "Of a tablet alone: the stations that it is bound to.", "type": "array", "items": {"type": "string"}}}},
"ProfileAccount": {"description": "The account in short.", "type": "object", "required": ["id", "domain", "enableLostProductionCost", "dashboardConfig"], "additionalProperties": false, "properties": {
	"id": {"type": "string"}, "domain": {"type": "string"},
	"enableLostProductionCost": {"description": "Whether the flag is on.", "type": "boolean"},
	"dashboardConfig": {"description": "Settings of the dashboard; empty when none are set.", "type": "object"}}},
"Key": {"description": "An API key as lists show it: never the key itself.", "type": "object", "required": ["id", "name", "email", "role", "createdAt", "lastUsedAt", "expiresAt"], "additionalProperties": false, "properties": {
	"id": {"description": "Public id; good for DELETE /key/{key}.", "type": "string"},
	"name": {"description": "What the key is for; may be empty.", "type": "string"},
	"email": {"description": "Whose key it is.", "type": "string"},
	"role": {"$ref": "#/components/schemas/Role", "description": "The highest role that the key has; its user's own limits it further."},
	"createdAt": {"$ref": "#/components/schemas/Moment"},
	"lastUsedAt": {"description": "Null: never.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"expiresAt": {"description": "Null: never.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]}}},
"Revision": {"description": "One state of the configuration. None is ever overwritten.", "type": "object", "required": ["revision", "createdAt", "author", "note"], "additionalProperties": false, "properties": {
	"revision": {"description": "Number of the revision, from 1.", "type": "integer", "minimum": 1},
	"createdAt": {"$ref": "#/components/schemas/Moment"},
	"author": {"description": "Who made it.", "type": "string"},
	"note": {"description": "Why; may be empty.", "type": "string"}}},
"Change": {"description": "One difference between two configurations.", "type": "object", "required": ["path", "kind", "from", "to"], "additionalProperties": false, "properties": {
	"path": {"description": "What differs, by its code and not its place: stations[OVEN-1].name.", "type": "string"},
	"kind": {"type": "string", "enum": ["added", "removed", "changed"]},
	"from": {"description": "The value before; null when it was not there."},
	"to": {"description": "The value after; null when it is gone."}}},
"Detail": {"description": "One problem, and where it is.", "type": "object", "required": ["field", "issue"], "additionalProperties": false, "properties": {
	"field": {"description": "Dotted path from the root of what was sent, such as account.plants[2].code.", "type": "string"},
	"issue": {"description": "What is wrong, with the limit in it.", "type": "string"}}},
"ApplyResult": {"description": "What applying a manifest changed, or would change.", "type": "object", "required": ["revision", "changed", "totalChanges", "changes", "warnings"], "additionalProperties": false, "properties": {
	"revision": {"description": "Number of the revision that is in force now.", "type": "integer", "minimum": 1},
	"changed": {"description": "Whether the content differs. Equal content makes no revision.", "type": "boolean"},
	"totalChanges": {"description": "How many changes there are in all.", "type": "integer", "minimum": 0},
	"changes": {"description": "The first 1,000 changes.", "type": "array", "maxItems": 1000, "items": {"$ref": "#/components/schemas/Change"}},
	"warnings": {"description": "What looks like a mistake and was accepted.", "type": "array", "items": {"$ref": "#/components/schemas/Detail"}}}},
"Difference": {"description": "What makes one revision into another.", "type": "object", "required": ["from", "to", "totalChanges", "changes"], "additionalProperties": false, "properties": {
	"from": {"type": "integer", "minimum": 1}, "to": {"type": "integer", "minimum": 1},
	"totalChanges": {"description": "How many changes there are in all.", "type": "integer", "minimum": 0},
	"changes": {"description": "The first 1,000 changes.", "type": "array", "maxItems": 1000, "items": {"$ref": "#/components/schemas/Change"}}}},
"StationStatus": {"description": "A station as it is now.", "type": "object", "required": ["stationCode", "name", "plantCode", "groupCode", "statusCode", "statusCodeUpdatedAt", "isAlive", "currentOperatorInitials", "currentOperatorSince", "alertMessage", "alertExpiresAt", "lineSpeed", "lineSpeedTarget", "schedule", "nonProductionSchedule", "issues", "shift", "archived", "sequence"], "additionalProperties": false, "properties": {
 "stationCode": {"type": "string"}, "name": {"type": "string"}, "plantCode": {"type": "string"}, "groupCode": {"type": "string"},
 "statusCode": {"description": "The first of these that fits.", "type": "string", "enum": ["disconnected", "manualDowntime", "downtime", "nonProduction", "slow", "productive", "idle", "unscheduled", "outOfShift"]},
 "statusCodeUpdatedAt": {"description": "Since when.", "type": "string", "format": "date-time"},
 "isAlive": {"description": "There was a sign of life lately.", "type": "boolean"},
 "currentOperatorInitials": {"description": "Who works there; null: nobody.", "type": ["string", "null"]},
 "currentOperatorSince": {"description": "When that was said last; null: nobody.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
 "alertMessage": {"description": "What all should see; null: nothing.", "type": ["string", "null"]},
 "alertExpiresAt": {"description": "Until when it is shown; null: until it is taken down.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
 "lineSpeed": {"description": "The shown speed; null: not known.", "type": ["number", "null"]},
 "lineSpeedTarget": {"description": "The schedule's, else the SKU's, else the station's.", "type": ["number", "null"]},
 "schedule": {"description": "The production schedule that runs.", "anyOf": [{"$ref": "#/components/schemas/RunningSchedule"}, {"type": "null"}]},
 "nonProductionSchedule": {"description": "The non-production schedule that runs, and pauses the other.", "anyOf": [{"$ref": "#/components/schemas/RunningSchedule"}, {"type": "null"}]},
 "issues": {"description": "The stops and slow periods that go on.", "type": "array", "items": {"$ref": "#/components/schemas/OpenIssue"}},
 "shift": {"description": "The shift that goes on, so far; null: out of shift, or nothing is captured there.", "anyOf": [{"$ref": "#/components/schemas/ShiftSoFar"}, {"type": "null"}]},
 "archived": {"description": "It has left the manifest, and this is how it was last.", "type": "boolean"},
 "sequence": {"description": "Grows with each change; the same one shows the same everywhere.", "type": "integer", "minimum": 0}}},
"ShiftSoFar": {"description": "The shift that goes on, or the production day of a station without a pattern, up to the last whole minute: the figures that GET /oee gives by station and the default profile from startAt to until.", "type": "object", "required": ["name", "startAt", "endAt", "until", "availability", "performance", "quality", "oee", "coverage", "goodCount", "badCount", "idealCount", "targetCount", "scheduledProductionMs", "downtimeMs", "productiveMs"], "additionalProperties": false, "properties": {
 "name": {"description": "Null: it has none.", "type": ["string", "null"]},
 "startAt": {"$ref": "#/components/schemas/Moment"},
 "endAt": {"description": "Null: its time is over, and a schedule extends it.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
 "until": {"description": "The end of the last whole minute in it.", "$ref": "#/components/schemas/Moment"},
 "availability": {"$ref": "#/components/schemas/Ratio"},
 "performance": {"$ref": "#/components/schemas/Ratio"},
 "quality": {"$ref": "#/components/schemas/Ratio"},
 "oee": {"$ref": "#/components/schemas/Ratio"},
 "coverage": {"$ref": "#/components/schemas/Ratio"},
 "goodCount": {"type": "number"}, "badCount": {"type": "number"},
 "idealCount": {"description": "Units due by the rate in known scheduled production; null: there is no rate.", "type": ["number", "null"]},
 "targetCount": {"description": "The same without downtime.", "type": ["number", "null"]},
 "scheduledProductionMs": {"type": "integer"}, "downtimeMs": {"type": "integer"}, "productiveMs": {"type": "integer"}}},
"Schedule": {"description": "A schedule, and how far it has got.", "type": "object", "required": ["id", "stationCode", "kind", "type", "state", "paused", "skuCode", "reasonCode", "workOrderReference", "plannedStartAt", "plannedEndAt", "plannedQuantity", "cycleTime", "unitsPerMinute", "unitsPerHour", "lineSpeedTarget", "partsPerCycle", "autoStart", "autoEnd", "autoEndOnQuantityComplete", "extendShift", "note", "expectedEndAt", "expectedQuantity", "rate", "actualStartAt", "actualEndAt", "goodCount", "badCount", "otherCount", "unappliedEntries", "events", "createdAt", "updatedAt"], "additionalProperties": false, "properties": {
 "id": {"description": "Empty of one that dryrun did not make.", "type": "string"},
 "stationCode": {"type": "string"},
 "kind": {"type": "string", "enum": ["production", "nonProduction"]},
 "type": {"description": "Which of quantity and end were given.", "type": "string", "enum": ["continuous", "fixedQuantity", "fixedEnd", "fixedQuantityAndEnd"]},
 "state": {"type": "string", "enum": ["planned", "running", "completed", "deleted"]},
 "paused": {"description": "A non-production schedule runs above it.", "type": "boolean"},
 "skuCode": {"type": ["string", "null"]},
 "reasonCode": {"type": ["string", "null"]},
 "workOrderReference": {"type": ["string", "null"]},
 "plannedStartAt": {"$ref": "#/components/schemas/Moment"},
 "plannedEndAt": {"anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}], "description": "As it was given."},
 "plannedQuantity": {"description": "As it was given.", "type": ["number", "null"]},
 "cycleTime": {"description": "As it was given.", "type": ["number", "null"]},
 "unitsPerMinute": {"description": "As it was given.", "type": ["number", "null"]},
 "unitsPerHour": {"description": "As it was given.", "type": ["number", "null"]},
 "lineSpeedTarget": {"description": "As it was given.", "type": ["number", "null"]},
 "partsPerCycle": {"description": "As it was given.", "type": ["number", "null"]},
 "autoStart": {"type": "boolean"},
 "autoEnd": {"type": "boolean"},
 "autoEndOnQuantityComplete": {"description": "Null: as the account says.", "type": ["boolean", "null"]},
 "extendShift": {"type": "boolean"},
 "note": {"type": ["string", "null"]},
 "expectedEndAt": {"anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}], "description": "Given, or as quantity and rate imply over shift time."},
 "expectedQuantity": {"description": "Given, or as end and rate imply over shift time.", "type": ["number", "null"]},
 "rate": {"description": "The effective rate.", "type": "object", "required": ["unitsPerMinute", "from"], "additionalProperties": false, "properties": {"unitsPerMinute": {"type": ["number", "null"]}, "from": {"description": "implied: by quantity and end.", "type": ["string", "null"], "enum": ["implied", "schedule", "sku", "station", null]}}},
 "actualStartAt": {"anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
 "actualEndAt": {"anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
 "goodCount": {"description": "Units recorded; null: not known yet.", "type": ["number", "null"]},
 "badCount": {"type": ["number", "null"]},
 "otherCount": {"description": "Good units of the source that is not the schedule's: shown, not added.", "type": ["number", "null"]},
 "unappliedEntries": {"description": "Operators' entries that do not count in full, as later facts left no room for them; GET /production shows which.", "type": ["integer", "null"], "minimum": 0},
 "events": {"description": "Its moves, in order.", "type": "array", "items": {"$ref": "#/components/schemas/ScheduleEvent"}},
 "createdAt": {"$ref": "#/components/schemas/Moment"},
 "updatedAt": {"$ref": "#/components/schemas/Moment"}}},
"ScheduleEvent": {"description": "A move of a schedule.", "type": "object", "required": ["move", "at", "recordedAt", "by", "initials", "note"], "additionalProperties": false, "properties": {
 "move": {"type": "string", "enum": ["create", "change", "start", "autoStart", "end", "cutShort", "autoEnd", "quantityReached", "replaced", "stationLeft", "delete", "correction", "move", "notStarted", "maximumReached"]},
 "at": {"$ref": "#/components/schemas/Moment", "description": "When it took effect."},
 "recordedAt": {"$ref": "#/components/schemas/Moment"},
 "by": {"description": "E-mail address, or the credential; service for what went by itself.", "type": "string"},
 "initials": {"type": ["string", "null"]},
 "note": {"type": ["string", "null"]}}},
"ProductionEntry": {"description": "What an operator entered.", "type": "object", "required": ["id", "stationCode", "scheduleId", "at", "effectiveAt", "good", "bad", "reject", "correction", "initials", "note", "undoes", "undoneBy", "unapplied", "recordedAt", "by"], "additionalProperties": false, "properties": {
 "id": {"type": "string"},
 "stationCode": {"type": "string"},
 "scheduleId": {"type": "string"},
 "at": {"$ref": "#/components/schemas/Moment"},
 "effectiveAt": {"$ref": "#/components/schemas/Moment", "description": "Where it counts: before a pause, or the end of the schedule."},
 "good": {"type": "number"},
 "bad": {"type": "number"},
 "reject": {"description": "Good units that turned out bad.", "type": "number"},
 "correction": {"type": "boolean"},
 "initials": {"type": "string"},
 "note": {"type": ["string", "null"]},
 "undoes": {"description": "The entry that it takes back.", "type": ["string", "null"]},
 "undoneBy": {"description": "The entry that took it back.", "type": ["string", "null"]},
 "unapplied": {"description": "What of it is missing from the counts, in units and signed as the entry is, as later facts left no room for it: no total falls below zero. Null: it counts in full.", "type": ["object", "null"], "required": ["good", "bad"], "additionalProperties": false, "properties": {"good": {"type": "number"}, "bad": {"type": "number"}}},
 "recordedAt": {"$ref": "#/components/schemas/Moment"},
 "by": {"type": "string"}}},
"RefusedRequest": {"description": "A write of the floor that was refused.", "type": "object", "required": ["key", "firstAt", "lastAt", "times", "method", "path", "body", "status", "errorMessage", "details", "by", "from"], "additionalProperties": false, "properties": {
 "key": {"description": "Its idempotency key.", "type": "string"},
 "firstAt": {"$ref": "#/components/schemas/Moment"},
 "lastAt": {"$ref": "#/components/schemas/Moment"},
 "times": {"description": "How often it came.", "type": "integer", "minimum": 1},
 "method": {"type": "string"},
 "path": {"type": "string"},
 "body": {"description": "The first 4 KiB.", "type": "string"},
 "status": {"type": "integer"},
 "errorMessage": {"type": "string"},
 "details": {"type": "array", "items": {"$ref": "#/components/schemas/Detail"}},
 "by": {"description": "E-mail address, or the credential.", "type": "string"},
 "from": {"description": "The network address.", "type": "string"}}},
"RunningSchedule": {"description": "A schedule that runs.", "type": "object", "required": ["id", "skuCode", "reasonCode", "workOrderReference", "plannedQuantity", "goodCount", "badCount", "idealCount", "targetCount", "countedByHand"], "additionalProperties": false, "properties": {
 "id": {"type": "string"}, "skuCode": {"type": ["string", "null"]}, "reasonCode": {"type": ["string", "null"]}, "workOrderReference": {"type": ["string", "null"]}, "plannedQuantity": {"description": "Units; null: none planned.", "type": ["number", "null"]},
 "goodCount": {"description": "Units recorded so far.", "type": "number"}, "badCount": {"type": "number"},
 "idealCount": {"description": "Units due by the last full minute, by the rate in the schedule's known time; null: there is no rate.", "type": ["number", "null"]},
 "targetCount": {"description": "The same without downtime.", "type": ["number", "null"]},
 "countedByHand": {"description": "Good units that operators enter are counted; otherwise the machine counts, and what they enter is kept and not added.", "type": "boolean"}}},
"OpenIssue": {"description": "A stop, slow period or manual downtime that goes on.", "type": "object", "required": ["id", "type", "startAt", "causeCode"], "additionalProperties": false, "properties": {
 "id": {"type": "string"}, "type": {"type": "string", "enum": ["stop", "slow", "manual"]}, "startAt": {"type": "string", "format": "date-time"}, "causeCode": {"description": "Null: not known.", "type": ["string", "null"]}}},
"Correction": {"description": "A change of what held at stations for a stretch of the past.", "type": "object", "required": ["id", "createdAt", "author", "note", "stationCodes", "from", "to", "changes", "undoneAt", "undoneBy"], "additionalProperties": false, "properties": {
	"id": {"type": "string"}, "createdAt": {"$ref": "#/components/schemas/Moment"},
	"author": {"description": "Who made it.", "type": "string"}, "note": {"type": "string"},
	"stationCodes": {"type": "array", "items": {"type": "string"}},
	"from": {"$ref": "#/components/schemas/Moment"}, "to": {"$ref": "#/components/schemas/Moment"},
	"changes": {"description": "As they were sent.", "type": "object"},
	"undoneAt": {"description": "Null: it counts.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"undoneBy": {"description": "Who undid it.", "type": ["string", "null"]}}},
"CorrectionResult": {"description": "A correction that is stored, or what one would do.", "type": "object", "required": ["correction", "effects", "complete", "computing"], "additionalProperties": false, "properties": {
	"correction": {"description": "Null: it was only looked at.", "anyOf": [{"$ref": "#/components/schemas/Correction"}, {"type": "null"}]},
	"effects": {"description": "What it would do to each station and production day.", "type": "array", "items": {"$ref": "#/components/schemas/CorrectionEffect"}},
	"complete": {"description": "Whether these are all of its effects.", "type": "boolean"},
	"computing": {"description": "Codes of the stations whose figures do not follow the correction yet; none: all do.", "type": "array", "items": {"type": "string"}}}},
"CorrectionEffect": {"description": "What a correction would do to a production day of a station.", "type": "object", "required": ["stationCode", "day", "before", "after"], "additionalProperties": false, "properties": {
	"stationCode": {"type": "string"}, "day": {"description": "The date on which the production day starts.", "type": "string", "format": "date"},
	"before": {"$ref": "#/components/schemas/CorrectionFigures"}, "after": {"$ref": "#/components/schemas/CorrectionFigures"}}},
"CorrectionFigures": {"description": "OEE by the default profile, with its terms. Null: not known.", "type": "object", "required": ["scheduledProductionMs", "downtimeMs", "goodCount", "badCount", "targetCount", "availability", "performance", "quality", "oee", "coverage"], "additionalProperties": false, "properties": {
	"scheduledProductionMs": {"description": "Time scheduled for production, in milliseconds, of which there is data.", "type": "number"},
	"downtimeMs": {"description": "Of which downtime.", "type": "number"}, "goodCount": {"type": "number"}, "badCount": {"type": "number"},
	"targetCount": {"description": "Units due, downtime subtracted.", "type": ["number", "null"]},
	"availability": {"type": ["number", "null"]}, "performance": {"type": ["number", "null"]}, "quality": {"type": ["number", "null"]}, "oee": {"type": ["number", "null"]},
	"coverage": {"description": "How much of the scheduled time there is data of.", "type": ["number", "null"]}}},
"Tuning": {"description": "What was in force made of a stretch of time, and what other settings would have.", "type": "object", "required": ["before", "after"], "additionalProperties": false, "properties": {
	"before": {"$ref": "#/components/schemas/Tuned"}, "after": {"$ref": "#/components/schemas/Tuned"}}},
"Tuned": {"description": "Figures and stops of a stretch of time.", "type": "object", "required": ["figures", "stops"], "additionalProperties": false, "properties": {
	"figures": {"$ref": "#/components/schemas/CorrectionFigures"}, "stops": {"$ref": "#/components/schemas/Lengths"}}},
"Lengths": {"description": "Stretches of time by how long they are, as far as they lie in the range.", "type": "object", "required": ["count", "totalMs", "histogram"], "additionalProperties": false, "properties": {
	"count": {"type": "integer", "minimum": 0}, "totalMs": {"type": "integer", "minimum": 0},
	"histogram": {"description": "In order; each begins where the one before it ends.", "type": "array", "items": {"$ref": "#/components/schemas/LengthBin"}}}},
"LengthBin": {"description": "Stretches of at least fromMs, and shorter than toMs.", "type": "object", "required": ["fromMs", "toMs", "count", "totalMs"], "additionalProperties": false, "properties": {
	"fromMs": {"type": "integer", "minimum": 0}, "toMs": {"description": "null: and longer.", "type": ["integer", "null"]}, "count": {"type": "integer", "minimum": 0}, "totalMs": {"type": "integer", "minimum": 0}}},
"Standstill": {"description": "How long a station stood in scheduled production.", "type": "object", "required": ["stationCode", "from", "to", "lengths", "complete", "stretches"], "additionalProperties": false, "properties": {
	"stationCode": {"type": "string"}, "from": {"$ref": "#/components/schemas/Moment"}, "to": {"$ref": "#/components/schemas/Moment"},
	"lengths": {"$ref": "#/components/schemas/Lengths"},
	"complete": {"description": "Stretches are all, and not the longest alone.", "type": "boolean"},
	"stretches": {"description": "In order of time.", "type": "array", "items": {"type": "object", "required": ["startAt", "endAt", "durationMs"], "additionalProperties": false, "properties": {
		"startAt": {"$ref": "#/components/schemas/Moment"}, "endAt": {"$ref": "#/components/schemas/Moment"}, "durationMs": {"type": "integer", "minimum": 1}}}}}},
"StationNote": {"description": "What is put up at a station.", "type": "object", "required": ["stationCode", "currentOperatorInitials", "currentOperatorSince", "alertMessage", "alertExpiresAt"], "additionalProperties": false, "properties": {
	"stationCode": {"type": "string"},
	"currentOperatorInitials": {"description": "Who works there; null: nobody.", "type": ["string", "null"]},
	"currentOperatorSince": {"description": "When that was said last; null: nobody.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"alertMessage": {"description": "What all should see; null: nothing.", "type": ["string", "null"]},
	"alertExpiresAt": {"description": "Until when it is shown; null: until it is taken down.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]}}},
"StationWindow": {"description": "What a station did in a stretch of time.", "type": "object", "required": ["stationCode", "windowStartAt", "windowEndAt", "totalMs", "shiftMs", "scheduledProductionMs", "scheduledNonProductionMs", "outOfShiftMs", "noDataMs", "downtimeMs", "slowMs", "productiveMs", "idleMs", "downtimeSince", "productionGoodCount", "productionBadCount", "productionIdealCount", "productionTargetCount", "lineSpeedAvg", "lineSpeedTarget", "electricalKwh", "electricalKnownMs", "rssiAvg", "isAlive", "scheduleIds", "issueIds", "reasonCodes", "errorCodes", "skuCode", "manifestRevision", "shiftName"], "additionalProperties": false, "properties": {
 "stationCode": {"type": "string"},
 "windowStartAt": {"$ref": "#/components/schemas/Moment"},
 "windowEndAt": {"$ref": "#/components/schemas/Moment"},
 "totalMs": {"description": "All of the time, ms.", "type": "integer", "minimum": 0},
 "shiftMs": {"description": "Time in shift.", "type": "integer"},
 "scheduledProductionMs": {"description": "Of it for which a production schedule ran.", "type": "integer"},
 "scheduledNonProductionMs": {"description": "Of it for which a non-production schedule ran.", "type": "integer"},
 "outOfShiftMs": {"description": "Each millisecond is of one class, of which this is the first.", "type": "integer"},
 "noDataMs": {"description": "Nothing was heard of the station.", "type": "integer"},
 "downtimeMs": {"description": "Stopped in scheduled production, or by hand.", "type": "integer"},
 "slowMs": {"description": "Slower than 80 % of the line speed target.", "type": "integer"},
 "productiveMs": {"type": "integer"},
 "idleMs": {"description": "None of these.", "type": "integer"},
 "downtimeSince": {"description": "The start of the last downtime that has time in the window; null: none has.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
 "productionGoodCount": {"description": "Good units that were told of in the window: made, entered, corrected, less those rejected. Below zero where more was rejected or taken away in it than was made, as those units were made before: an entry counts at its own moment and changes no earlier window, and windows add up. Of a whole schedule it is never below zero. An entry whose at is the moment at which the units were made counts there.", "type": "number"},
 "productionBadCount": {"description": "Bad units, likewise.", "type": "number"},
 "productionIdealCount": {"description": "Units due by the rate in scheduled production; null: there is no rate.", "type": ["number", "null"]},
 "productionTargetCount": {"description": "The same without downtime.", "type": ["number", "null"]},
 "lineSpeedAvg": {"description": "The shown speed, over the time in which it was known; null: it was not.", "type": ["number", "null"]},
 "lineSpeedTarget": {"description": "At the end of the window.", "type": ["number", "null"]},
 "electricalKwh": {"description": "By what was measured; null: nothing was.", "type": ["number", "null"]},
 "electricalKnownMs": {"description": "The time that the energy is of: less than all where nobody measured, more where a meter's reading tells of time before the window.", "type": "integer", "minimum": 0},
 "rssiAvg": {"description": "dBm; null: not known.", "type": ["number", "null"]},
 "isAlive": {"description": "Something was heard of the station.", "type": "boolean"},
 "scheduleIds": {"description": "Schedules that ran.", "type": "array", "items": {"type": "string"}},
 "issueIds": {"description": "Stops, slow periods and manual downtimes.", "type": "array", "items": {"type": "string"}},
 "reasonCodes": {"description": "Reasons of stops and of non-production schedules.", "type": "array", "items": {"type": "string"}},
 "errorCodes": {"description": "What the machine itself reported.", "type": "array", "items": {"type": "string"}},
 "skuCode": {"description": "At the end of the window; UNKNOWN without a production schedule.", "type": ["string", "null"]},
 "manifestRevision": {"description": "In force at the end of the window.", "type": "integer", "minimum": 0},
 "shiftName": {"description": "With resolution=shift, the shift; null for a day where there are no shifts.", "type": ["string", "null"]}}},
"OEE": {"description": "The figures of some stations and some time, each with its terms.", "type": "object", "required": ["plantCode", "groupCode", "stationCode", "skuCode", "shiftName", "startAt", "endAt", "profile", "availability", "performance", "quality", "oee", "coverage", "totalMs", "shiftMs", "scheduledProductionMs", "scheduledNonProductionMs", "outOfShiftMs", "noDataMs", "downtimeMs", "slowMs", "productiveMs", "idleMs", "excludedMs", "productionGoodCount", "productionBadCount", "productionOtherCount", "productionIdealCount", "productionTargetCount", "losses"], "additionalProperties": false, "properties": {
 "plantCode": {"description": "Null where it is not asked by plant.", "type": ["string", "null"]},
 "groupCode": {"type": ["string", "null"]},
 "stationCode": {"type": ["string", "null"]},
 "skuCode": {"type": ["string", "null"]},
 "shiftName": {"type": ["string", "null"]},
 "startAt": {"description": "The beginning of the time that this is of.", "$ref": "#/components/schemas/Moment"},
 "endAt": {"$ref": "#/components/schemas/Moment"},
 "profile": {"description": "How the ratios are made.", "type": "string", "enum": ["default", "iso22400", "vorne", "evocon"]},
 "availability": {"$ref": "#/components/schemas/Ratio"},
 "performance": {"$ref": "#/components/schemas/Ratio"},
 "quality": {"$ref": "#/components/schemas/Ratio"},
 "oee": {"description": "The product of the three.", "$ref": "#/components/schemas/Ratio"},
 "coverage": {"description": "Known of scheduled production: the rest is in no figure.", "$ref": "#/components/schemas/Ratio"},
 "totalMs": {"description": "All of the time, ms.", "type": "integer", "minimum": 0},
 "shiftMs": {"description": "Time in shift.", "type": "integer"},
 "scheduledProductionMs": {"description": "Of it for which a production schedule ran.", "type": "integer"},
 "scheduledNonProductionMs": {"description": "Of it for which a non-production schedule ran.", "type": "integer"},
 "outOfShiftMs": {"description": "Each millisecond is of one class, of which this is the first.", "type": "integer"},
 "noDataMs": {"description": "Nothing was heard of the station.", "type": "integer"},
 "downtimeMs": {"description": "Stopped in scheduled production, or by hand.", "type": "integer"},
 "slowMs": {"description": "Slower than 80 % of the line speed target.", "type": "integer"},
 "productiveMs": {"type": "integer"},
 "idleMs": {"description": "None of these.", "type": "integer"},
 "excludedMs": {"description": "Stops that people took out of the figures; part of noDataMs, and yet known to coverage.", "type": "integer"},
 "productionGoodCount": {"description": "Good units that were told of in this time. Below zero where more of what was made before was rejected or taken away in it (see StationWindow); a ratio that is above 1 by that has the cause negativeCount.", "type": "number"},
 "productionBadCount": {"description": "Bad units, likewise.", "type": "number"},
 "productionOtherCount": {"description": "Counted by a source that is not the schedule's: shown, not added.", "type": "number"},
 "productionIdealCount": {"description": "Units due in known scheduled production; null: there is no rate.", "type": ["number", "null"]},
 "productionTargetCount": {"description": "The same without downtime.", "type": ["number", "null"]},
 "losses": {"description": "Where time and units went.", "$ref": "#/components/schemas/Losses"}}},
"Ratio": {"description": "A figure with its terms, ms or units.", "type": "object", "required": ["value", "numerator", "denominator"], "additionalProperties": false, "properties": {
 "value": {"description": "Never cut off; null: not known.", "type": ["number", "null"]},
 "numerator": {"type": "number"},
 "denominator": {"type": "number"},
 "aboveOne": {"description": "The value is above 1.", "type": "boolean"},
 "cause": {"description": "What most likely puts it there.", "type": "string", "enum": ["rateTooLow", "negativeCount", "readingFromBefore"]}}},
"Losses": {"description": "Losses by name.", "type": "object", "required": ["schedule", "plannedNonProduction", "downtime", "speed", "quality"], "additionalProperties": false, "properties": {
 "schedule": {"description": "Shift time for which nothing was scheduled.", "$ref": "#/components/schemas/Loss"},
 "plannedNonProduction": {"description": "Time of non-production schedules.", "$ref": "#/components/schemas/Loss"},
 "downtime": {"description": "Ideal less target.", "$ref": "#/components/schemas/Loss"},
 "speed": {"description": "Target less good and bad.", "$ref": "#/components/schemas/Loss"},
 "quality": {"description": "Bad units.", "$ref": "#/components/schemas/Loss"}}},
"Loss": {"description": "A loss; what is not known is null.", "type": "object", "required": ["ms", "units", "money", "moneyPartial"], "additionalProperties": false, "properties": {
 "ms": {"type": ["number", "null"]},
 "units": {"type": ["number", "null"]},
 "money": {"description": "In the account's currency; null where enableLostProductionCost is off or nothing has a price.", "type": ["number", "null"]},
 "moneyPartial": {"description": "The money is that of a part: something else was lost, or may have been, at a station and with a SKU that have no price.", "type": "boolean"}}},
"Energy": {"description": "The energy of some stations and some time.", "type": "object", "required": ["plantCode", "groupCode", "stationCode", "startAt", "endAt", "electricalKwh", "outsideProductionKwh", "cost", "co2", "productionCount", "productiveMs", "kwhPerUnit", "kwhPerProductiveHour", "coverage"], "additionalProperties": false, "properties": {
 "plantCode": {"description": "Null where it is not asked by plant.", "type": ["string", "null"]},
 "groupCode": {"type": ["string", "null"]},
 "stationCode": {"type": ["string", "null"]},
 "startAt": {"description": "The beginning of the time that this is of.", "$ref": "#/components/schemas/Moment"},
 "endAt": {"$ref": "#/components/schemas/Moment"},
 "electricalKwh": {"description": "Of what was measured; null: nothing was. How much that is, coverage tells.", "type": ["number", "null"]},
 "outsideProductionKwh": {"description": "Used while no production was scheduled; null where nothing is known, or some of it was measured by a meter, which has no schedules.", "type": ["number", "null"]},
 "cost": {"description": "Of the energy that is known, by the prices of that time; null: not known for all of it.", "type": ["number", "null"]},
 "co2": {"description": "Of the energy that is known, by the factors of that time; null: not known for all of it.", "type": ["number", "null"]},
 "productionCount": {"description": "Good and bad units.", "type": "number"},
 "productiveMs": {"type": "integer"},
 "kwhPerUnit": {"description": "Null: nothing was made, or nothing is known of energy.", "type": ["number", "null"]},
 "kwhPerProductiveHour": {"description": "Null: nothing was productive, or nothing is known of energy.", "type": ["number", "null"]},
 "coverage": {"description": "How much of the stations' time the energy is of, ms.", "$ref": "#/components/schemas/Ratio"}}},
"ParetoLine": {"description": "Downtime of one cause.", "type": "object", "required": ["causeCode", "name", "downtimeMs", "count", "share", "cumulative"], "additionalProperties": false, "properties": {
 "causeCode": {"description": "Code of the reason; null: nobody has said why.", "type": ["string", "null"]},
 "name": {"type": ["string", "null"]},
 "downtimeMs": {"type": "integer"},
 "count": {"description": "Stops that have time in the range.", "type": "integer"},
 "share": {"description": "Of all downtime.", "type": "number"},
 "cumulative": {"description": "The share of this and all lines before.", "type": "number"}}},
"Directory": {"description": "The names of what there is.", "type": "object", "required": ["revision", "currency", "durationFormat", "plants", "shiftPatterns", "skus", "reasons"], "additionalProperties": false, "properties": {
 "revision": {"description": "Of the configuration.", "type": "integer"},
 "currency": {"description": "ISO 4217.", "type": ["string", "null"]},
 "durationFormat": {"type": ["string", "null"]},
 "plants": {"type": "array", "items": {"type": "object", "required": ["code", "name", "timezone", "dayStartHour", "weekStartDay", "groups"], "additionalProperties": false, "properties": {
  "code": {"type": "string"}, "name": {"type": "string"}, "timezone": {"type": "string"}, "dayStartHour": {"type": ["number", "null"]}, "weekStartDay": {"description": "0 = Monday.", "type": ["number", "null"]},
  "groups": {"type": "array", "items": {"type": "object", "required": ["code", "name", "stations"], "additionalProperties": false, "properties": {
   "code": {"type": "string"}, "name": {"type": "string"},
   "stations": {"type": "array", "items": {"type": "object", "required": ["code", "name", "shiftPatternCode"], "additionalProperties": false, "properties": {"code": {"type": "string"}, "name": {"type": "string"},
    "shiftPatternCode": {"description": "The pattern in force, its own or the group's; null: all time is shift time.", "type": ["string", "null"]}}}}}}}}}},
 "shiftPatterns": {"type": "array", "items": {"$ref": "#/components/schemas/ShiftPattern"}},
 "skus": {"type": "array", "items": {"type": "object", "required": ["code", "name"], "additionalProperties": false, "properties": {"code": {"type": "string"}, "name": {"type": "string"}}}},
 "reasons": {"description": "Each before those below it.", "type": "array", "items": {"type": "object", "required": ["code", "name", "parent"], "additionalProperties": false, "properties": {
  "code": {"type": "string"}, "name": {"type": ["string", "null"]}, "parent": {"description": "The code of the reason above; null: it is at the top.", "type": ["string", "null"]}}}}}},
"CronFires": {"description": "What a cron pattern means.", "type": "object", "required": ["words", "fires", "smallestGapMinutes"], "additionalProperties": false, "properties": {
 "words": {"description": "In English.", "type": "string"},
 "fires": {"description": "The next ones.", "type": "array", "items": {"$ref": "#/components/schemas/Moment"}},
 "smallestGapMinutes": {"description": "The smallest elapsed time between two fires. Null: it does not fire twice.", "type": ["integer", "null"]}}},
"CycleTimes": {"description": "How long cycles of a SKU took at a station, ms.", "type": "object", "required": ["stationCode", "skuCode", "specifiedCycleMs", "count", "medianMs", "best10PercentMs", "spreadMs"], "additionalProperties": false, "properties": {
 "stationCode": {"type": "string"},
 "skuCode": {"type": "string"},
 "specifiedCycleMs": {"description": "By the rate that holds now; null: there is none.", "type": ["number", "null"]},
 "count": {"description": "Cycles that were measured.", "type": "integer"},
 "medianMs": {"type": "number"},
 "best10PercentMs": {"description": "A tenth of the cycles took at most this long.", "type": "number"},
 "spreadMs": {"description": "From the first to the third quartile.", "type": "number"}}},
"StationConfiguration": {"description": "What holds at a station, and which level decided it.", "type": "object", "required": ["code", "name", "plant", "group", "flags", "reasons", "taskLists", "shiftPattern", "skus", "settings", "currentOperatorInitials", "statusCode", "statusCodeUpdatedAt", "alertMessage", "alertExpiresAt"], "additionalProperties": false, "properties": {
	"currentOperatorInitials": {"description": "Who works there; null: nobody.", "type": ["string", "null"]},
	"alertMessage": {"description": "What all should see; null: nothing.", "type": ["string", "null"]},
	"alertExpiresAt": {"description": "Until when it is shown; null: until it is taken down.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"statusCode": {"description": "What it does, as the list of stations tells; null: not known yet.", "type": ["string", "null"]},
	"statusCodeUpdatedAt": {"description": "Since when.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"code": {"description": "Code of the station.", "type": "string"},
	"name": {"description": "Name of the station.", "type": "string"},
	"plant": {"$ref": "#/components/schemas/StationPlant"},
	"group": {"$ref": "#/components/schemas/Ref", "description": "The station's group."},
	"flags": {"$ref": "#/components/schemas/StationFlags"},
	"reasons": {"description": "The reasons that may be used here, as a tree.", "type": "array", "items": {"$ref": "#/components/schemas/StationReason"}},
	"taskLists": {"description": "The Task lists that are available here.", "type": "array", "items": {"$ref": "#/components/schemas/StationTaskList"}},
	"shiftPattern": {"description": "The shift pattern in force; null when there is none.", "anyOf": [{"$ref": "#/components/schemas/StationShiftPattern"}, {"type": "null"}]},
	"skus": {"description": "The SKUs that the station can run.", "type": "array", "items": {"$ref": "#/components/schemas/StationSku"}},
	"settings": {"$ref": "#/components/schemas/StationSettings"}}},
"StationPlant": {"description": "The plant of a station.", "type": "object", "required": ["code", "name", "timezone"], "additionalProperties": false, "properties": {
	"code": {"type": "string"}, "name": {"type": "string"},
	"timezone": {"description": "IANA name of the time zone.", "type": "string"}}},
"FlagDecision": {"description": "A resolved flag and the level that decided it.", "type": "object", "required": ["value", "from"], "additionalProperties": false, "properties": {
	"value": {"type": "string", "enum": ["on", "off"]},
	"from": {"description": "default: no level said anything.", "type": "string", "enum": ["station", "group", "plant", "account", "default"]}}},
"StationReason": {"description": "A reason that may be used at a station, or the heading of some that may.", "type": "object", "required": ["code", "name", "description", "type", "oee", "heading", "reasons"], "additionalProperties": false, "properties": {
	"code": {"type": "string"}, "name": {"type": ["string", "null"]}, "description": {"type": ["string", "null"]},
	"type": {"description": "What the reason can be given to.", "type": ["array", "null"], "items": {"type": "string", "enum": ["downtime", "non_production"]}},
	"oee": {"description": "How OEE counts the time.", "type": ["string", "null"], "enum": ["setup", "changeover", "planned", null]},
	"heading": {"description": "It stands here for its children only and cannot be chosen.", "type": "boolean"},
	"reasons": {"type": "array", "items": {"$ref": "#/components/schemas/StationReason"}}}},
"StationTaskList": {"description": "A Task list with its Tasks in order.", "type": "object", "required": ["code", "name", "description", "trigger", "tasks"], "additionalProperties": false, "properties": {
	"code": {"type": "string"}, "name": {"type": "string"}, "description": {"type": ["string", "null"]},
	"trigger": {"anyOf": [{"$ref": "#/components/schemas/Trigger"}, {"type": "null"}]},
	"tasks": {"type": "array", "items": {"$ref": "#/components/schemas/StationTask"}}}},
"StationTask": {"description": "A Task as it stands in one list.", "type": "object", "required": ["code", "title", "description", "requireNotes", "order", "trigger"], "additionalProperties": false, "properties": {
	"code": {"type": "string"}, "title": {"type": "string"}, "description": {"type": ["string", "null"]},
	"requireNotes": {"type": "boolean"},
	"order": {"description": "Its place in the list; null when the manifest gives none.", "type": ["number", "null"]},
	"trigger": {"description": "The Task's own; it applies where the list has none.", "anyOf": [{"$ref": "#/components/schemas/Trigger"}, {"type": "null"}]}}},
"User": {"description": "A person who was added to the account.", "type": "object", "required": ["email", "role", "createdAt"], "additionalProperties": false, "properties": {
	"email": {"type": "string"}, "role": {"$ref": "#/components/schemas/Role"}, "createdAt": {"$ref": "#/components/schemas/Moment"}}},
"LoginRequest": {"description": "Somebody who waits for a one-time link.", "type": "object", "required": ["code", "email", "role", "accountId", "address", "createdAt", "expiresAt"], "additionalProperties": false, "properties": {
	"code": {"description": "The five digits that the waiting browser shows.", "type": "string", "pattern": "^[0-9]{5}$"},
	"email": {"type": "string"},
	"role": {"$ref": "#/components/schemas/Role", "description": "The role that the person will have."},
	"accountId": {"type": "string"},
	"address": {"description": "The network address asked from.", "type": "string"},
	"createdAt": {"$ref": "#/components/schemas/Moment"}, "expiresAt": {"$ref": "#/components/schemas/Moment"}}},
"Link": {"description": "A one-time link to hand over.", "type": "object", "required": ["link", "code", "expiresAt", "email", "role", "account", "from"], "additionalProperties": false, "properties": {
	"link": {"description": "The address to open. It is shown once.", "type": "string"},
	"code": {"description": "The five digits that the waiting browser shows.", "type": "string", "pattern": "^[0-9]{5}$"},
	"expiresAt": {"$ref": "#/components/schemas/Moment"},
	"email": {"description": "Who is let in.", "type": "string"},
	"role": {"$ref": "#/components/schemas/Role"},
	"account": {"description": "Identifier of the account.", "type": "string"},
	"from": {"description": "The network address asked from; empty for the local command line.", "type": "string"}}},
"Tablet": {"description": "A tablet on the floor.", "type": "object", "required": ["id", "name", "email", "role", "stationCodes", "createdAt", "pairedAt", "lastUsedAt"], "additionalProperties": false, "properties": {
	"id": {"type": "string"}, "name": {"type": "string"},
	"email": {"description": "The identity under which it acts.", "type": "string"},
	"role": {"type": "string", "enum": ["supervisor", "operator", "readonly"]},
	"stationCodes": {"description": "The stations it is bound to.", "type": "array", "items": {"type": "string"}},
	"createdAt": {"$ref": "#/components/schemas/Moment"},
	"pairedAt": {"description": "Null: its link has not been opened yet.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"lastUsedAt": {"description": "To the hour. Null: never, or not for a month.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]}}},
"TabletLink": {"description": "A new tablet and the one-time link that pairs it.", "type": "object", "required": ["id", "link", "expiresAt"], "additionalProperties": false, "properties": {
	"id": {"description": "Identifier of the tablet.", "type": "string"},
	"link": {"description": "The address to open on the tablet. It is shown once.", "type": "string"},
	"expiresAt": {"$ref": "#/components/schemas/Moment"}}},
"Device": {"description": "A credential that may send the signals of its stations, with what is known of it.", "type": "object", "required": ["id", "name", "stationCodes", "createdAt", "lastSeenAt", "accepted", "refused", "throttled", "signalsPerSecond", "clockAheadMs", "lastIssue", "lastIssueAt", "connections"], "additionalProperties": false, "properties": {
	"id": {"description": "<account>/<name>.", "type": "string"}, "name": {"type": "string"},
	"stationCodes": {"description": "The stations it may send for.", "type": "array", "items": {"type": "string"}},
	"createdAt": {"$ref": "#/components/schemas/Moment"},
	"lastSeenAt": {"description": "Null: not yet.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"accepted": {"description": "Signals taken.", "type": "integer", "minimum": 0},
	"refused": {"description": "Signals refused.", "type": "integer", "minimum": 0},
	"throttled": {"description": "Batches and messages that were refused for now or made to wait, since it sent too many.", "type": "integer", "minimum": 0},
	"signalsPerSecond": {"description": "Signals a second, over the last minute or so.", "type": "number", "minimum": 0},
	"clockAheadMs": {"description": "By how many milliseconds its clock was ahead when it last told a time.", "type": "integer", "minimum": 0},
	"lastIssue": {"description": "What was last wrong with a signal of it. Null: nothing yet.", "type": ["string", "null"]},
	"lastIssueAt": {"description": "When that was. Null: not yet.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"connections": {"description": "Its connections over MQTT that are open now.", "type": "integer", "minimum": 0}}},
"Issue": {"description": "A stop, a slow period or a manual downtime, with what people said of it.", "type": "object", "required": ["id", "type", "stationCode", "startAt", "endAt", "durationMs", "causeCode", "causeFrom", "uncausedMs", "note", "parts", "scheduleId", "skuCode", "excluded", "acknowledged", "estimate", "escalation", "orphaned", "events"], "additionalProperties": false, "properties": {
	"id": {"description": "Names it within the account. Late signals may give it another one; the old one is understood.", "type": "string"},
	"type": {"type": "string", "enum": ["stop", "slow", "manual"]}, "stationCode": {"type": "string"},
	"startAt": {"$ref": "#/components/schemas/Moment"},
	"endAt": {"description": "Null: it goes on.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"durationMs": {"description": "Milliseconds so far.", "type": "integer", "minimum": 0},
	"causeCode": {"description": "A reason's code. Null: nobody knows, or its parts differ.", "type": ["string", "null"]},
	"causeFrom": {"description": "Who named it: people's word comes before the machine's.", "enum": ["person", "machine", null]},
	"uncausedMs": {"description": "Milliseconds that nobody has named a cause of.", "type": "integer", "minimum": 0},
	"note": {"type": ["string", "null"]},
	"parts": {"description": "In order; together they have its time exactly.", "type": "array", "items": {"$ref": "#/components/schemas/IssuePartNow"}},
	"scheduleId": {"description": "The production schedule that ran when it began.", "type": ["string", "null"]},
	"skuCode": {"type": ["string", "null"]},
	"excluded": {"description": "Some of it is out of the figures.", "type": "boolean"},
	"acknowledged": {"description": "Who has seen it. Null: nobody said so.", "anyOf": [{"type": "object", "required": ["at", "by", "initials"], "additionalProperties": false, "properties": {"at": {"$ref": "#/components/schemas/Moment"}, "by": {"type": "string"}, "initials": {"type": ["string", "null"]}}}, {"type": "null"}]},
	"estimate": {"description": "When it is expected to end.", "anyOf": [{"type": "object", "required": ["expectedEndAt", "at", "by"], "additionalProperties": false, "properties": {"expectedEndAt": {"$ref": "#/components/schemas/Moment"}, "at": {"$ref": "#/components/schemas/Moment"}, "by": {"type": "string"}}}, {"type": "null"}]},
	"escalation": {"description": "How far up it was taken.", "anyOf": [{"type": "object", "required": ["level", "note", "at", "by"], "additionalProperties": false, "properties": {"level": {"type": "integer", "minimum": 1, "maximum": 5}, "note": {"type": ["string", "null"]}, "at": {"$ref": "#/components/schemas/Moment"}, "by": {"type": "string"}}}, {"type": "null"}]},
	"orphaned": {"description": "There is no such stop any more, since late signals came; this is what was said of it.", "type": "boolean"},
	"events": {"description": "What was said and done, in the order in which it was heard.", "type": "array", "items": {"$ref": "#/components/schemas/IssueEvent"}}}},
"IssuePartNow": {"description": "A part of a stop that has one cause.", "type": "object", "required": ["startAt", "endAt", "durationMs", "causeCode", "causeFrom", "excluded"], "additionalProperties": false, "properties": {
	"startAt": {"$ref": "#/components/schemas/Moment"}, "endAt": {"description": "Null: it goes on.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"durationMs": {"type": "integer", "minimum": 0}, "causeCode": {"description": "Null: uncaused.", "type": ["string", "null"]},
	"causeFrom": {"enum": ["person", "machine", null]}, "excluded": {"description": "It is in no figure.", "type": "boolean"}}},
"IssueEvent": {"description": "What was said of a stop, or done.", "type": "object", "required": ["at", "recordedAt", "by", "initials", "action", "value", "note"], "additionalProperties": false, "properties": {
	"at": {"description": "When it was said.", "$ref": "#/components/schemas/Moment"}, "recordedAt": {"description": "When the service heard of it.", "$ref": "#/components/schemas/Moment"},
	"by": {"description": "E-mail address, or credential.", "type": "string"}, "initials": {"type": ["string", "null"]},
	"action": {"type": "string", "enum": ["start", "end", "acknowledge", "estimate", "escalate", "cause", "split", "exclude", "include"]},
	"value": {"description": "What it was about: a reason's code, a level, a moment, a number of parts.", "type": ["string", "null"]}, "note": {"type": ["string", "null"]}}},
"DeviceToken": {"description": "A new device's token. It is shown once.", "type": "object", "required": ["id", "token"], "additionalProperties": false, "properties": {
	"id": {"type": "string"}, "token": {"description": "Goes into X-API-KEY, or over MQTT into the password, with the id as user name.", "type": "string"}}},
"Timeline": {"description": "What a station did, in columns for drawing. Times are Unix ms.", "type": "object", "required": ["stationCode", "from", "to", "final", "stepMs", "rows", "classes", "scheduledProduction", "runTime", "scheduledNonProduction", "good", "bad", "ideal", "target", "lineSpeedAvg", "lineSpeedTarget", "electricalKwh", "schedules", "runs"], "additionalProperties": false, "properties": {
	"stationCode": {"type": "string"}, "from": {"type": "integer"}, "to": {"description": "The last row ends here.", "type": "integer"},
	"final": {"description": "What lies before it changes only when something comes late.", "type": "integer"},
	"stepMs": {"description": "Length of a row, ms: row i begins at from + i x stepMs.", "type": "integer", "minimum": 60000},
	"rows": {"description": "How many there are in each column.", "type": "integer", "minimum": 0},
	"classes": {"description": "ms of each class; together they are the row. Scheduled non-production is in them, too.", "type": "object", "required": ["productive", "slow", "downtime", "idle", "noData", "outOfShift"], "additionalProperties": false, "properties": {
		"productive": {"$ref": "#/components/schemas/IntegerColumn"}, "slow": {"$ref": "#/components/schemas/IntegerColumn"}, "downtime": {"$ref": "#/components/schemas/IntegerColumn"},
		"idle": {"$ref": "#/components/schemas/IntegerColumn"}, "noData": {"$ref": "#/components/schemas/IntegerColumn"}, "outOfShift": {"$ref": "#/components/schemas/IntegerColumn"}}},
	"scheduledProduction": {"$ref": "#/components/schemas/IntegerColumn"},
	"runTime": {"description": "ms of scheduled production that are known, without downtime.", "$ref": "#/components/schemas/IntegerColumn"},
	"scheduledNonProduction": {"description": "ms for which a non-production schedule ran, and how much of it is counted as productive and as idle: to be drawn as non-production.", "type": "object", "required": ["total", "productive", "idle"], "additionalProperties": false, "properties": {
		"total": {"$ref": "#/components/schemas/IntegerColumn"}, "productive": {"$ref": "#/components/schemas/IntegerColumn"}, "idle": {"$ref": "#/components/schemas/IntegerColumn"}}},
	"good": {"$ref": "#/components/schemas/Column"}, "bad": {"$ref": "#/components/schemas/Column"},
	"ideal": {"$ref": "#/components/schemas/Column"}, "target": {"$ref": "#/components/schemas/Column"},
	"lineSpeedAvg": {"$ref": "#/components/schemas/Column"}, "lineSpeedTarget": {"$ref": "#/components/schemas/Column"}, "electricalKwh": {"$ref": "#/components/schemas/Column"},
	"schedules": {"description": "Stretches of one shift in which the same schedules ran, in order; null: more than 5,000.", "anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/components/schemas/TimelineSchedule"}}]},
	"runs": {"description": "Stretches of one class, to the millisecond, in order; null: more than 5,000, or the range is longer than 24 hours.", "anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/components/schemas/TimelineRun"}}]}}},
"TimelineSchedule": {"description": "A stretch of one shift in which the same schedules ran.", "type": "object", "required": ["start", "end", "shiftName", "scheduleId", "skuCode", "nonProductionScheduleId", "reasonCode"], "additionalProperties": false, "properties": {
	"start": {"type": "integer"}, "end": {"type": "integer"}, "shiftName": {"description": "null: out of shift, or there is no pattern.", "type": ["string", "null"]},
	"scheduleId": {"description": "The production schedule; null: none, or it is paused.", "type": ["string", "null"]},
	"skuCode": {"description": "UNKNOWN without a production schedule.", "type": ["string", "null"]},
	"nonProductionScheduleId": {"type": ["string", "null"]}, "reasonCode": {"description": "Of the non-production schedule.", "type": ["string", "null"]}}},
"TimelineRun": {"description": "A stretch of one class.", "type": "object", "required": ["class", "start", "end", "scheduled", "issueId", "causeCode", "excluded"], "additionalProperties": false, "properties": {
	"class": {"type": "string", "enum": ["outOfShift", "noData", "downtime", "slow", "productive", "idle"]},
	"start": {"type": "integer"}, "end": {"type": "integer"},
	"scheduled": {"description": "What the time was planned for; null: nothing.", "type": ["string", "null"], "enum": ["production", "nonProduction", null]},
	"issueId": {"description": "The stop, slow period or manual downtime that it is part of.", "type": ["string", "null"]},
	"causeCode": {"type": ["string", "null"]}, "excluded": {"description": "People took it out of the figures.", "type": "boolean"}}},
"IntegerColumn": {"description": "A number for each row, ms.", "type": "array", "items": {"type": "integer", "minimum": 0}},
"Column": {"description": "A number for each row; null: not known.", "type": "array", "items": {"type": ["number", "null"]}},
"SignalLine": {"description": "A signal as it is kept.", "type": "object", "required": ["at", "arrivedAt", "source", "id", "clockCorrected", "values"], "additionalProperties": false, "properties": {
	"at": {"$ref": "#/components/schemas/Moment"}, "arrivedAt": {"$ref": "#/components/schemas/Moment"},
	"source": {"description": "The credential that it came with.", "type": "string"},
	"id": {"description": "The sender's own; null: it gave none.", "type": ["string", "null"]},
	"clockCorrected": {"description": "Its own time was too far in the future: it was taken at its arrival.", "type": "boolean"},
	"values": {"description": "What it tells, by the names of POST /signal.", "type": "object", "additionalProperties": {"type": ["number", "boolean", "string"]}}}},
"SignalOutcome": {"description": "What became of one signal.", "type": "object", "required": ["index", "accepted", "issue"], "additionalProperties": false, "properties": {
	"index": {"description": "Its place in what was sent, from 0.", "type": "integer", "minimum": 0},
	"accepted": {"description": "It counts. One whose id came before does, once.", "type": "boolean"},
	"issue": {"description": "Why not, or what was done to it; empty when there is nothing to say.", "type": "string"}}},
"TaskInstance": {"description": "A Task of a list, one time that it fell due at a station. Its words are those with which it was made.", "type": "object", "required": ["id", "stationCode", "state", "trigger", "taskCode", "title", "description", "requireNotes", "taskListCode", "taskListName", "order", "scheduleId", "availableAt", "deadlineAt", "startedBy", "completedAt", "recordedAt", "completedBy", "note"], "additionalProperties": false, "properties": {
	"id": {"type": "string"}, "stationCode": {"type": "string"},
	"state": {"type": "string", "enum": ["pending", "completed", "missed"]},
	"trigger": {"description": "What made it due: the list's trigger, or the Task's own where the list has none.", "type": "string", "enum": ["schedule", "cron", "on_demand"]},
	"taskCode": {"type": "string"}, "title": {"type": "string"}, "description": {"type": ["string", "null"]},
	"requireNotes": {"description": "It can be completed with a note only.", "type": "boolean"},
	"taskListCode": {"description": "Null: the SKU of the schedule names the Task.", "type": ["string", "null"]},
	"taskListName": {"type": ["string", "null"]},
	"order": {"description": "Its place in the list.", "type": ["number", "null"]},
	"scheduleId": {"description": "The schedule that it fell due with.", "type": ["string", "null"]},
	"availableAt": {"description": "Since when it could be done.", "$ref": "#/components/schemas/Moment"},
	"deadlineAt": {"description": "The fire of the pattern, or when the schedule ended; null: none yet.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"startedBy": {"description": "Initials of who started the list.", "type": ["string", "null"]},
	"completedAt": {"description": "Null: not yet.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"recordedAt": {"description": "When the completion was sent.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"completedBy": {"description": "Initials.", "type": ["string", "null"]},
	"note": {"type": ["string", "null"]}}},
"StartedTaskList": {"description": "What a start has made.", "type": "object", "required": ["tasks"], "additionalProperties": false, "properties": {
	"tasks": {"type": "array", "items": {"$ref": "#/components/schemas/TaskInstance"}}}},
"Message": {"description": "What somebody at a station tells those who come after.", "type": "object", "required": ["id", "stationCode", "text", "initials", "shiftName", "at", "recordedAt", "doneAt", "doneBy", "doneRecordedAt"], "additionalProperties": false, "properties": {
	"id": {"type": "string"}, "stationCode": {"type": "string"}, "text": {"type": "string"},
	"initials": {"description": "Of who wrote it.", "type": "string"},
	"shiftName": {"description": "Of the shift it was written in; null: out of shift, or it has no name.", "type": ["string", "null"]},
	"at": {"description": "When it was written.", "$ref": "#/components/schemas/Moment"},
	"recordedAt": {"description": "When it was told.", "$ref": "#/components/schemas/Moment"},
	"doneAt": {"description": "Null: it is not done.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"doneBy": {"description": "Initials of who read it or saw to it.", "type": ["string", "null"]},
	"doneRecordedAt": {"description": "When that was told.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]}}},
"AuditRecord": {"description": "One change: who made it, with which credential, when, what and from where.", "type": "object", "required": ["seq", "at", "accountId", "actor", "action", "target", "detail"], "additionalProperties": false, "properties": {
	"seq": {"description": "Of the account, from 1 without a gap.", "type": "integer", "minimum": 1},
	"at": {"$ref": "#/components/schemas/Moment"},
	"accountId": {"type": "string"},
	"actor": {"$ref": "#/components/schemas/Actor"},
	"action": {"description": "What was done, such as key.create.", "type": "string"},
	"target": {"description": "What it was done to: an id, an address, a code.", "type": "string"},
	"detail": {"description": "More about it; null when there is none.", "type": ["object", "null"], "additionalProperties": {"type": "string"}}}},
"Actor": {"description": "Who made a change.", "type": "object", "required": ["email", "credential", "address"], "additionalProperties": false, "properties": {
	"email": {"description": "Empty for the local command line.", "type": "string"},
	"credential": {"description": "key:<id>, session:<id>, login, local, or service for what it does by itself; never a secret.", "type": "string"},
	"address": {"description": "The network address; empty when there is none.", "type": "string"}}},
"Backup": {"description": "A backup in the folder.", "type": "object", "required": ["name", "madeAt", "bytes", "origin", "encrypted", "app", "problem"], "additionalProperties": false, "properties": {
	"name": {"type": "string"}, "madeAt": {"$ref": "#/components/schemas/Moment"},
	"bytes": {"description": "Size of the file.", "type": "integer", "minimum": 0},
	"origin": {"description": "Made by the schedule, asked for by somebody, or brought from elsewhere. Only scheduled ones are removed by the service itself.", "type": "string", "enum": ["scheduled", "manual", "uploaded"]},
	"encrypted": {"type": "boolean"}, "app": {"description": "Version of the program that made it.", "type": "string"},
	"problem": {"description": "Why it cannot be read; empty when it can.", "type": "string"}}},
"BackupOverview": {"description": "The backups of the appliance.", "type": "object", "required": ["folder", "scheduled", "lastAt", "nextAt", "running", "overdue", "problem", "restore", "backups"], "additionalProperties": false, "properties": {
	"folder": {"description": "Where they are, on the machine.", "type": "string"},
	"scheduled": {"description": "The service makes backups by itself.", "type": "boolean"},
	"lastAt": {"description": "When the newest one that the service made was made, by schedule or asked for; null when there is none.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"nextAt": {"description": "When the next is due; null: as soon as possible, or never.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"running": {"description": "A scheduled one is being made.", "type": "boolean"},
	"overdue": {"description": "None was made although one has been due for six hours.", "type": "boolean"},
	"problem": {"description": "What has to be looked into; empty when nothing has.", "type": "string"},
	"restore": {"description": "The restore that was begun last; null when there was none since the service started.", "anyOf": [{"$ref": "#/components/schemas/Restore"}, {"type": "null"}]},
	"backups": {"type": "array", "items": {"$ref": "#/components/schemas/Backup"}}}},
"VerifiedBackup": {"description": "What is in a backup that is whole.", "type": "object", "required": ["name", "madeAt", "app", "counts", "files", "omitted"], "additionalProperties": false, "properties": {
	"name": {"type": "string"}, "madeAt": {"$ref": "#/components/schemas/Moment"}, "app": {"description": "Version of the program that made it.", "type": "string"},
	"counts": {"description": "How many records each part of the store has.", "type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
	"files": {"description": "What else is in it.", "type": "array", "items": {"type": "string"}},
	"omitted": {"description": "Secrets that were left out, because it is not encrypted.", "type": "array", "items": {"type": "string"}}}},
"Restore": {"description": "A restore that goes on or has ended.", "type": "object", "required": ["name", "state", "startedAt", "endedAt", "error", "result"], "additionalProperties": false, "properties": {
	"name": {"description": "Of the backup.", "type": "string"},
	"state": {"type": "string", "enum": ["running", "done", "failed"]},
	"startedAt": {"$ref": "#/components/schemas/Moment"},
	"endedAt": {"description": "Null while it goes on.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"error": {"description": "Why it failed; what was there before is in its place. Empty when it did not fail.", "type": "string"},
	"result": {"description": "What it has changed; null unless it is done.", "anyOf": [{"$ref": "#/components/schemas/Restored"}, {"type": "null"}]}}},
"Restored": {"description": "What a restore has changed.", "type": "object", "required": ["madeAt", "app", "previous", "settings", "settingsChanged", "certificatesChanged", "newAuthority", "omitted", "missing"], "additionalProperties": false, "properties": {
	"madeAt": {"$ref": "#/components/schemas/Moment"}, "app": {"description": "Version of the program that made the backup.", "type": "string"},
	"previous": {"description": "Path of the store that was there before; empty when there was none.", "type": "string"},
	"settings": {"description": "What became of app.yaml: the backup has none; the backup's, whole; the one that was here, since the backup's lacks secrets; the backup's without its secrets, since none was here.", "type": "string", "enum": ["absent", "restored", "kept", "redacted"]},
	"settingsChanged": {"description": "The settings are others than before. They hold from the next start.", "type": "boolean"},
	"certificatesChanged": {"description": "The certificate authority came with the backup.", "type": "boolean"},
	"newAuthority": {"description": "The backup lacks the keys of the certificate authority and there are none here: a new one is made.", "type": "boolean"},
	"omitted": {"description": "Secrets that were left out of the backup.", "type": "array", "items": {"type": "string"}},
	"missing": {"description": "Paths of files that the settings name and that are not here: they are in no backup.", "type": "array", "items": {"type": "string"}}}},
"SetupResult": {"description": "The first account. The key is shown once.", "type": "object", "required": ["accountId", "email", "apiKey"], "additionalProperties": false, "properties": {
	"accountId": {"type": "string"}, "email": {"description": "The first admin.", "type": "string"},
	"apiKey": {"description": "An admin's API key; empty where signIn asked for a session, which is in the cookie.", "type": "string"}}},
"Appliance": {"description": "How the appliance is.", "type": "object", "required": ["version", "commit", "platform", "startedAt", "hostName", "name", "dataDir", "url", "urls", "listen", "tls", "certificate", "store", "disk", "backup", "retention", "clock", "counts", "warnings"], "additionalProperties": false, "properties": {
	"version": {"type": "string"}, "commit": {"description": "Empty when not known.", "type": "string"}, "platform": {"description": "Operating system and architecture.", "type": "string"},
	"startedAt": {"anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"hostName": {"description": "The machine's own name.", "type": "string"},
	"name": {"description": "The name by which the network finds the appliance; null where it answers to none.", "type": ["string", "null"]},
	"dataDir": {"type": "string"}, "url": {"description": "What one-time links start with.", "type": "string"},
	"urls": {"description": "By which people reach the appliance, the best first.", "type": "array", "items": {"type": "string"}},
	"listen": {"description": "What is listened on.", "type": "array", "items": {"type": "object", "required": ["setting", "address", "tls"], "additionalProperties": false, "properties": {
		"setting": {"type": "string"}, "address": {"type": "string"}, "tls": {"type": "boolean"}}}},
	"tls": {"description": "auto: by the appliance's own authority; files: the plant's certificate; proxy: TLS ends before the service.", "type": "string", "enum": ["off", "auto", "files", "proxy"]},
	"certificate": {"description": "Null without TLS.", "type": ["object", "null"], "required": ["endsAt", "fingerprint", "problems", "hosts", "authority", "daysLeft"], "additionalProperties": false, "properties": {
		"endsAt": {"$ref": "#/components/schemas/Moment"}, "daysLeft": {"description": "Whole days; negative when it has ended.", "type": "integer"},
		"fingerprint": {"description": "SHA-256 that people compare: of the authority, or of a certificate from elsewhere.", "type": "string"},
		"problems": {"description": "Sentences that say what to do.", "type": "array", "items": {"type": "string"}},
		"hosts": {"description": "Names and addresses that it is for.", "type": "array", "items": {"type": "string"}},
		"authority": {"description": "The appliance's own; null for a certificate from elsewhere.", "type": ["object", "null"], "required": ["name", "endsAt", "pem", "pages"], "additionalProperties": false, "properties": {
			"name": {"type": "string"}, "endsAt": {"$ref": "#/components/schemas/Moment"}, "pem": {"type": "string"}, "pages": {"description": "Where it is told how to trust it.", "type": "array", "items": {"type": "string"}}}}}},
	"store": {"description": "The store's file.", "type": ["object", "null"], "required": ["bytes", "free", "version", "full"], "additionalProperties": false, "properties": {
		"bytes": {"type": "integer", "minimum": 0}, "free": {"description": "Of these: room for later writes.", "type": "integer", "minimum": 0}, "version": {"type": "integer", "minimum": 0}, "full": {"description": "The last write found the disk full.", "type": "boolean"}}},
	"disk": {"description": "That the store is on, in bytes; null when it cannot be read.", "type": ["object", "null"], "required": ["free", "total"], "additionalProperties": false, "properties": {
		"free": {"type": "integer", "minimum": 0}, "total": {"type": "integer", "minimum": 0}}},
	"backup": {"$ref": "#/components/schemas/ApplianceBackup"},
	"retention": {"description": "How many days things are kept.", "type": "object", "required": ["signalDays", "windowDays", "auditDays"], "additionalProperties": false, "properties": {
		"signalDays": {"type": "integer"}, "windowDays": {"type": "integer"}, "auditDays": {"type": "integer"}}},
	"clock": {"type": "object", "required": ["now", "zone", "believed", "devicesAhead"], "additionalProperties": false, "properties": {
		"now": {"$ref": "#/components/schemas/Moment"}, "zone": {"description": "Of the machine.", "type": "string"},
		"believed": {"description": "It has run evenly, so that what has had its time is removed.", "type": "boolean"},
		"devicesAhead": {"description": "Devices whose clock was more than two minutes ahead when they last sent.", "type": "integer", "minimum": 0}}},
	"counts": {"type": "object", "required": ["accounts", "users", "tablets", "devices"], "additionalProperties": false, "properties": {
		"accounts": {"description": "Of the appliance, archived ones aside.", "type": "integer"}, "users": {"type": "integer"}, "tablets": {"type": "integer"}, "devices": {"type": "integer"}}},
	"warnings": {"description": "What needs a person.", "type": "array", "items": {"type": "object", "required": ["code", "severity", "message", "action"], "additionalProperties": false, "properties": {
		"code": {"type": "string"}, "severity": {"type": "string", "enum": ["warning", "problem"]}, "message": {"type": "string"}, "action": {"description": "What to do.", "type": "string"}}}}}},
"SignedIn": {"description": "A signed-in browser, or a tablet.", "type": "object", "required": ["id", "current", "accountId", "address", "createdAt", "lastUsedAt", "expiresAt"], "additionalProperties": false, "properties": {
	"id": {"type": "string"}, "current": {"description": "The one that asks.", "type": "boolean"}, "accountId": {"type": "string"},
	"address": {"description": "Signed in from.", "type": "string"}, "createdAt": {"$ref": "#/components/schemas/Moment"},
	"lastUsedAt": {"description": "To the hour.", "$ref": "#/components/schemas/Moment"}, "expiresAt": {"$ref": "#/components/schemas/Moment"}}},
"EndedSessions": {"description": "What signing out everywhere did.", "type": "object", "required": ["ended"], "additionalProperties": false, "properties": {
	"ended": {"description": "How many sessions have ended.", "type": "integer", "minimum": 0}}},
"LogLine": {"description": "A line of the service's log.", "type": "object", "required": ["id", "at", "level", "message", "attributes"], "additionalProperties": false, "properties": {
	"id": {"description": "Grows from line to line.", "type": "integer", "minimum": 1}, "at": {"$ref": "#/components/schemas/Moment"},
	"level": {"type": "string", "enum": ["debug", "info", "warn", "error"]}, "message": {"type": "string"}, "attributes": {"description": "By name; of groups with dots between.", "type": "object"}}},
"ApplianceBackup": {"description": "How scheduled backups are made, and how they are doing.", "type": "object", "required": ["settings", "fixed", "folder", "encrypted", "running", "lastAt", "lastName", "lastBytes", "nextAt", "overdue", "problem"], "additionalProperties": false, "properties": {
	"settings": {"$ref": "#/components/schemas/BackupSettingsNow"},
	"fixed": {"description": "Settings that cannot be changed here, and the flag or the variable that gives each.", "type": "object", "additionalProperties": {"type": "string"}},
	"folder": {"type": "string"}, "encrypted": {"type": "boolean"}, "running": {"description": "One is being made.", "type": "boolean"},
	"lastAt": {"description": "Of the newest in the folder, which was verified when it was made; null: none.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"lastName": {"type": "string"}, "lastBytes": {"type": "integer", "minimum": 0},
	"nextAt": {"description": "Null: none is scheduled.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"overdue": {"type": "boolean"}, "problem": {"description": "Of the last attempt; empty when it went well.", "type": "string"}}},
"BackupSettingsNow": {"description": "When scheduled backups are made, and how many are kept.", "type": "object", "required": ["at", "every", "keepDaily", "keepWeekly", "keepMonthly", "maxBytes"], "additionalProperties": false, "properties": {
	"at": {"description": "Time of day on the machine's clock.", "type": "string"}, "every": {"description": "Days from one to the next; 0: none are made.", "type": "integer", "minimum": 0},
	"keepDaily": {"type": "integer"}, "keepWeekly": {"type": "integer"}, "keepMonthly": {"type": "integer"}, "maxBytes": {"description": "Of all scheduled ones together; 0: no limit.", "type": "integer", "minimum": 0}}},
"Ready": {"description": "Requests can be served. What else to watch is told to admins and on the machine itself.", "type": "object", "required": ["isSuccess"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": true},
	"result": {"type": "object", "additionalProperties": false, "properties": {
		"needsSetUp": {"description": "The appliance is empty and waits for POST /setup, which everybody is told; left out otherwise.", "type": "boolean", "const": true},
		"mail": {"description": "One-time links are mailed, which everybody is told; left out where they wait for an administrator.", "type": "boolean", "const": true},
		"store": {"description": "The store's file; null while there is none.", "type": ["object", "null"], "required": ["bytes", "free", "full"], "additionalProperties": false, "properties": {
			"bytes": {"type": "integer", "minimum": 0}, "free": {"description": "Of these: room for later writes.", "type": "integer", "minimum": 0},
			"full": {"description": "The last write found the disk full. Reads go on, and writes do by themselves when there is room.", "type": "boolean"}}},
		"backup": {"description": "The last scheduled backup; null where none is scheduled.", "type": ["object", "null"], "required": ["lastAt", "file", "bytes", "overdue", "problem"], "additionalProperties": false, "properties": {
			"lastAt": {"description": "Of the newest one that was verified; null when there is none.", "type": ["string", "null"], "format": "date-time"},
			"file": {"type": "string"}, "bytes": {"type": "integer", "minimum": 0}, "overdue": {"type": "boolean"},
			"problem": {"description": "Of the last attempt; empty when it went well.", "type": "string"}}},
		"certificate": {"description": "What the service answers with over TLS; null without TLS.", "type": ["object", "null"], "required": ["endsAt", "fingerprint", "problems"], "additionalProperties": false, "properties": {
			"endsAt": {"type": "string", "format": "date-time"},
			"fingerprint": {"description": "SHA-256 of the appliance's own authority, or of a certificate that the plant has brought.", "type": "string"},
			"problems": {"description": "Sentences that say what to do; none when all is well.", "type": "array", "items": {"type": "string"}}}}}}}},
"InvalidInput": {"description": "400: the request cannot be accepted as it is.", "type": "object", "required": ["isSuccess", "errorCode"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": false}, "errorCode": {"type": "string", "const": "invalidInput"}, "errorMessage": {"type": "string"},
	"details": {"description": "All problems, the first 100 of them.", "type": "array", "maxItems": 101, "items": {"$ref": "#/components/schemas/Detail"}}}},
"UnauthorizedUser": {"description": "401: the credential is missing or not valid.", "type": "object", "required": ["isSuccess", "errorCode"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": false}, "errorCode": {"type": "string", "const": "unauthorizedUser"}}},
"Forbidden": {"description": "403: the caller may not do this.", "type": "object", "required": ["isSuccess", "errorCode", "errorMessage"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": false}, "errorCode": {"type": "string", "const": "forbidden"}, "errorMessage": {"type": "string"}}},
"NotFound": {"description": "404: there is no such thing.", "type": "object", "required": ["isSuccess", "errorCode", "errorMessage"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": false}, "errorCode": {"type": "string", "const": "notFound"}, "errorMessage": {"type": "string"}}},
"MethodNotAllowed": {"description": "405: the path does not take this method; Allow names those it takes.", "type": "object", "required": ["isSuccess", "errorCode", "errorMessage"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": false}, "errorCode": {"type": "string", "const": "methodNotAllowed"}, "errorMessage": {"type": "string"}}},
"Conflict": {"description": "409: it clashes with the present state.", "type": "object", "required": ["isSuccess", "errorCode", "errorMessage"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": false}, "errorCode": {"type": "string", "const": "conflict"}, "errorMessage": {"type": "string"}}},
"PayloadTooLarge": {"description": "413: the body is too large.", "type": "object", "required": ["isSuccess", "errorCode", "errorMessage"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": false}, "errorCode": {"type": "string", "const": "payloadTooLarge"}, "errorMessage": {"type": "string"}}},
"TooManyRequests": {"description": "429: too many attempts; Retry-After tells when to go on.", "type": "object", "required": ["isSuccess", "errorCode", "errorMessage"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": false}, "errorCode": {"type": "string", "const": "tooManyRequests"}, "errorMessage": {"type": "string"}}},
"InternalServerError": {"description": "500: something went wrong that should not have.", "type": "object", "required": ["isSuccess", "errorCode", "errorMessage"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": false}, "errorCode": {"type": "string", "const": "internalServerError"}, "errorMessage": {"type": "string"}}},
"Unavailable": {"description": "503: it cannot be done now; Retry-After tells when to try again.", "type": "object", "required": ["isSuccess", "errorCode", "errorMessage"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": false}, "errorCode": {"type": "string", "const": "unavailable"}, "errorMessage": {"type": "string"}}}
}`

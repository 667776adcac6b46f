package openapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"opsmon/schema"
)

// componentPrefix is the path of the document's schemas.
const componentPrefix = "#/components/schemas/"

func ref(name string) object { return obj("$ref", componentPrefix+name) }

// renamed has new names for definitions of a schema file whose name is already used here.
var renamed = map[schema.Name]map[string]string{
	schema.Manifest: {"Account": "ManifestAccount"},
}

// components returns the document's schemas: those for validating requests, and those of answers. Fields that answers
// share with the manifest are taken from the manifest's schema, so each field is defined once.
func components(answers string) object {
	out := object{}
	for _, name := range schema.Names() {
		if name == schema.AccountCreate {
			continue // only used by the local command line
		}
		out = embedded(out, name)
	}
	account := accountFields(out.object("ManifestAccount"))
	out = append(out,
		member{"Account", accountAnswer(account)},
		member{"Cursor", strict("How far one stage of the monitoring has got: signals that arrived, windows that are made of "+
			"them, tasks and schedules that fall due by themselves.", parse(`{
			"type": {"type": "string"}, "timestamp": {"description": "Unix time, milliseconds.", "type": "number"},
			"value": {"description": "The same as a time.", "type": "string"},
			"valueAgo": {"description": "How long ago that is, such as 4 s.", "type": "string"}}`).(object), nil)},
		member{"WarehouseConfig", strict("Access to the data warehouse.",
			parse(`{"host": {"type": "string"}, "port": {"type": "number"}, "username": {"type": "string"}}`).(object), nil)},
		member{"UpdatedAccount", strict("The account without its manifest and cursors.", account, []any{"id", "domain"})},
	)
	out = append(out, parse(answers).(object)...)
	done := strict("It is done; there is nothing else to say.", obj("isSuccess", always("boolean", true)), nil)
	out = append(out, ready(), member{"Done", done})
	for i := range errorTexts {
		out = append(out, member{errorTexts[i].name(), errorTexts[i].schema()})
	}
	pattern := out.object("ShiftPattern").object("properties")
	out = append(out,
		member{"StationShiftPattern", strict("The shift pattern in force and the level that names it.",
			pattern.with("from", parse(`{"description":"The level that names the pattern.","type":"string","enum":["station","group"]}`)), nil)},
		member{"StationFlags", stationFlags(out)},
		member{"StationSettings", strict("The station's own fields with their defaults filled in.", stationSettings(out.object("Station")), nil)},
	)
	return out
}

// strict returns a closed object schema; required nil: every property.
func strict(description string, properties object, required []any) object {
	if required == nil {
		required = properties.names()
	}
	return obj("description", description, "type", "object", "required", required, "additionalProperties", false, "properties", properties)
}

// embedded adds a schema file and its definitions to the components. Files may share equal definitions.
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
			panic(fmt.Sprintf("openapi: two schemas are called %s", as))
		}
	}
	add(title, file)
	for _, d := range file.object("$defs") {
		add(names[d.name], d.value.(object))
	}
	return out
}

func isDescription(name string) bool { return name == "description" }

// publish converts a schema of a file to one of the document: references point to the components, and keywords that
// only the validator uses are left out. readOnly becomes x-system, because a document that was read may be sent back
// unchanged, and `id` and `domain` must be, which OpenAPI's readOnly does not allow. Forms still need to know that such
// values have no effect.
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
				out = append(out, member{"x-system", m.value})
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

// typesOf returns the types of a constant or of an enumeration's values, which are strings or null, because client
// generators require them.
func typesOf(value any) any {
	if values, _ := value.([]any); slices.Contains(values, nil) {
		return []any{"string", "null"}
	}
	return "string"
}

// chosen converts a list of {if: property is a constant, then: $ref} to a choice between the references, which every
// OpenAPI tool supports; nil if the list has another form.
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

// accountFields returns the fields of http-api.md section 2.1 in an answer, from id to enableAlwaysConnected.
func accountFields(manifest object) object {
	return manifest.object("properties").without(func(name string) bool {
		return slices.Contains([]string{"shiftPatterns", "reasons", "tasks", "taskLists", "skus", "plants"}, name)
	})
}

// accountAnswer returns the schema of the result of GET /account, which account encodes in pieces.
func accountAnswer(account object) object {
	account = append(account, parse(`{
		"cursors": {"description": "How far each stage of the monitoring has got.", "type": "array", "items": {"$ref": "#/components/schemas/Cursor"}},
		"warehouseConfig": {"$ref": "#/components/schemas/WarehouseConfig", "description": "Access to the data warehouse; only there when one is attached."},
		"manifest": {"$ref": "#/components/schemas/Manifest"}
	}`).(object)...)
	return strict("The account with its whole configuration. Fields that are not set are null.", account, []any{"id", "domain", "manifest"})
}

// ready returns the schema of the answer of GET /ready, whose fields depend on the caller.
func ready() member {
	result := obj("anyOf", []any{ref("Readiness"), ref("Start")})
	const about = "Requests can be served. What else to watch is told to admins and on the machine itself."
	return member{"Ready", strict(about,
		obj("isSuccess", always("boolean", true), "result", result), []any{"isSuccess"})}
}

// always returns the schema of a constant.
func always(kind string, value any) object { return obj("type", kind, "const", value) }

// stationFlags returns the schema of every feature flag of section 2.2 with its resolved value.
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

// stationSettings returns a station's own fields, without resolved values and values of the system.
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

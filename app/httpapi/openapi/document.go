// Package openapi makes the OpenAPI document of the API from the texts of its routes, the schemas that requests are
// validated against, and the generated schemas of answers (http-api.md section 9).
package openapi

import (
	"fmt"
	"net/http"
	"opsmon/app/auth"
	"opsmon/schema"
	"slices"
	"strconv"
	"strings"
)

// Document returns the document for a table of routes. answers has the schemas of the answers, in JSON. It panics for a
// route without a text, which a test detects.
func Document(routes []Route, answers string) []byte {
	schemas := components(answers)
	schemas = append(schemas,
		member{"OpenAPIDocument", parse(`{"description": "An OpenAPI document.", "type": "object", "required": ["openapi", "info", "paths"]}`)},
	)
	d := describer{schemas: schemas}
	paths := object{}
	for i := range routes {
		rt := &routes[i]
		at := PathTemplate(rt.Path)
		operations := append(paths.object(at), member{strings.ToLower(rt.Method), d.operation(rt)})
		paths = paths.with(at, operations)
	}
	body, err := marshal(obj(
		"openapi", "3.1.0",
		"info", obj("title", "Manufacturing Operations Monitoring", "version", "1.0.0", "description", introduction),
		"servers", []any{obj("url", "/")},
		"security", parse(`[{"ApiKeyAuth":[]}]`),
		"tags", parse(tags),
		"paths", paths,
		"components", obj("schemas", schemas, "parameters", parse(sharedParameters), "responses", errorResponses(), "headers", parse(headers), "securitySchemes", parse(securitySchemes)),
	))
	if err != nil {
		panic("openapi: " + err.Error())
	}
	return body
}

// PathTemplate returns a route's path with {name} for the router's :name.
func PathTemplate(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if name, found := strings.CutPrefix(p, ":"); found {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

// describer builds the operations of one document.
type describer struct {
	schemas object
}

func (d *describer) operation(rt *Route) object {
	op, role := rt.Operation, rt.Role
	if op.ID == "" {
		panic(fmt.Sprintf("openapi: %s %s has no text", rt.Method, rt.Path))
	}
	if role == "" && !rt.Open {
		role = auth.Readonly
	}
	out := obj("operationId", op.ID, "tags", []any{op.Tag}, "summary", op.Summary, "description", description(op, rt, role))
	if params := d.takes(op, rt); len(params) > 0 {
		out = append(out, member{"parameters", params})
	}
	if op.Body != "" {
		out = append(out, member{"requestBody", obj(
			"required", !op.Optional,
			"content", obj("application/json", obj("schema", ref(d.title(op.Body)), "example", d.bodyExample(op))),
		)})
	}
	if op.Upload {
		out = append(out, member{"requestBody", obj("required", true, "content", binary())})
	}
	out = append(out, member{"responses", d.responses(op, rt)}, member{"security", security(op, rt)})
	if !rt.Open {
		out = append(out, member{"x-role", string(role)})
	}
	return out
}

// binary returns the content of a body that is a file.
func binary() object {
	return obj("application/octet-stream", parse(`{"schema": {"type": "string", "format": "binary"}, "example": "the bytes of the file"}`))
}

// description returns the text of an operation and who may use it.
func description(op Operation, rt *Route, role auth.Role) string {
	who := "Needs no credential."
	switch {
	case op.ID == "claim":
		who = "Needs the cookie `login`."
	case !rt.Open && role == auth.Readonly:
		who = "Every role may use it."
	case !rt.Open && role == auth.Admin:
		who = "Needs the role `admin`."
	case !rt.Open:
		who = fmt.Sprintf("Needs the role `%s` or a higher one.", role)
	}
	return strings.TrimPrefix(op.About+"\n\n"+who, "\n\n")
}

// takes returns the parameters of a route: of the path, of the query, and the headers of conditional requests.
func (d *describer) takes(op Operation, rt *Route) []any {
	var out []any
	add := func(name, in string) {
		p, own := op.Params[name]
		if !own {
			p = parameters[name]
		}
		out = append(out, obj("name", name, "in", in, "required", in == "path" || p.Required,
			"description", p.About, "schema", parse(p.Schema), "example", p.Example))
	}
	for part := range strings.SplitSeq(rt.Path, "/") {
		if name, found := strings.CutPrefix(part, ":"); found {
			add(name, "path")
		}
	}
	for _, name := range rt.Query {
		add(name, "query")
	}
	if op.Tagged {
		out = append(out, parse(`{"name": "If-None-Match", "in": "header", "description": "The entity tag of what you have: 304 while it is still the same.", "schema": {"type": "string"}}`))
	}
	if op.Match {
		out = append(out, parse(`{"name": "If-Match", "in": "header", "description": "The entity tag that you read: 409 when the configuration has another revision by now.", "schema": {"type": "string"}}`))
	}
	if rt.Once {
		key := parse(onceParameter).(object)
		if !rt.Desk {
			key = key.with("description", key.get("description").(string)+" One that is refused is listed at GET /refused.")
		}
		out = append(out, key)
	}
	if !rt.Open {
		out = append(out, obj("$ref", "#/components/parameters/For"))
	}
	return out
}

const onceParameter = `{"name": "Idempotency-Key", "in": "header", "description": "Names the request: sent again by the same API key, person or tablet with the same key and content within seven days it is not done again, and has the same answer.",
"schema": {"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[!-~]+$"}, "example": "5f0c1b9e-7d1a"}`

// sharedParameters are the parameters of many operations.
const sharedParameters = `{
"For": {"name": "X-For", "in": "header", "description": "Whom the request is meant for: the ` + "`accountId` and the `email`" + ` of a profile with a slash between them, percent-encoded. Where another one asks it is 409, and nothing is done.", "schema": {"type": "string", "pattern": "^[^/]+/.+$"}, "example": "acme/operator@acme.example"}
}`

func (d *describer) title(name schema.Name) string {
	return parse(string(schema.JSON(name))).(object).get("title").(string)
}

func (d *describer) bodyExample(op Operation) any {
	if op.Example != "" {
		return parse(op.Example)
	}
	return parse(string(schema.JSON(op.Body))).(object).get("examples").([]any)[0]
}

// statuses returns the statuses of a route in ascending order: http-api.md section 4.2 and decisions.md section 1.
func statuses(op Operation, rt *Route) []int {
	all := append([]int{http.StatusOK, http.StatusInternalServerError}, op.Also...)
	if op.Form == FormEmpty {
		all[0] = http.StatusNoContent
	}
	if op.Tagged {
		all = append(all, http.StatusNotModified)
	}
	if !rt.Open {
		all = append(all, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests)
	}
	if rt.Method != http.MethodGet {
		all = append(all, http.StatusBadRequest)
	}
	if op.Body != "" {
		all = append(all, http.StatusRequestEntityTooLarge)
	}
	if op.ID != "getHealth" && op.ID != "getOpenAPI" {
		all = append(all, http.StatusServiceUnavailable)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (d *describer) responses(op Operation, rt *Route) object {
	out := object{}
	for _, status := range statuses(op, rt) {
		var answer object
		switch name := responseNames[status]; {
		case status < 300:
			answer = d.success(op)
		default:
			answer = obj("$ref", "#/components/responses/"+name)
		}
		out = append(out, member{strconv.Itoa(status), answer})
	}
	return out
}

// success returns the successful response of an operation.
func (d *describer) success(op Operation) object {
	answer := obj("description", op.Answer)
	headers := object{}
	if op.Tagged {
		headers = append(headers, member{"ETag", obj("$ref", "#/components/headers/ETag")})
	}
	if op.Location {
		headers = append(headers, member{"Location", obj("$ref", "#/components/headers/Location")})
	}
	if len(headers) > 0 {
		answer = append(answer, member{"headers", headers})
	}
	switch op.Form {
	case FormEmpty:
		return answer
	case FormFile:
		return append(answer, member{"content", binary()})
	}
	kind, s, example := "application/json", d.successSchema(op), d.successExample(op)
	switch op.Form {
	case FormText:
		kind = "text/plain"
	case FormEvents:
		kind = "text/event-stream"
	case FormTable:
		kind = "text/csv; charset=utf-8"
	}
	return append(answer, member{"content", obj(kind, obj("schema", s, "example", example))})
}

func (d *describer) successSchema(op Operation) any {
	yes := obj("type", "boolean", "const", true)
	switch op.Form {
	case FormDone:
		return ref("Done")
	case FormBare:
		return ref(op.Gives)
	case FormText, FormEvents, FormTable:
		return obj("type", "string")
	}
	body := obj("isSuccess", yes, "result", ref(op.Gives))
	if op.Form != FormResult {
		body = obj("isSuccess", yes, "results", obj("type", "array", "items", ref(op.Gives)))
	}
	if op.Form == FormPage {
		body = append(body, member{"paging", ref("Paging")})
	}
	return strict(op.Answer, body, nil).without(isDescription)
}

func (d *describer) successExample(op Operation) any {
	switch op.Form {
	case FormDone:
		return obj("isSuccess", true)
	case FormText, FormEvents, FormTable:
		return op.Sample
	}
	var sample any
	switch op.Gives {
	case "Account", "UpdatedAccount":
		sample = d.accountExample(op.Gives)
	case "StationConfiguration":
		sample = d.stationExample(op)
	case "Manifest":
		return d.bodyExample(Operation{Body: schema.Manifest})
	case "OpenAPIDocument":
		return obj("openapi", "3.1.0", "info", obj("title", "Manufacturing Operations Monitoring", "version", "1.0.0"), "paths", object{})
	default:
		sample = parse(op.Sample)
	}
	switch op.Form {
	case FormBare:
		return sample
	case FormResult:
		return obj("isSuccess", true, "result", sample)
	}
	out := obj("isSuccess", true, "results", []any{sample})
	if op.Form == FormPage {
		out = append(out, member{"paging", obj("totalElements", 1)})
	}
	return out
}

// accountExample returns an example with every field of the schema, unset unless stated otherwise.
func (d *describer) accountExample(name string) object {
	values := parse(`{"id":"acme","domain":"acme.example","currency":"GBP","electricalPricePerKwh":0.2371,"durationFormat":"months","enableTasks":"on",
		"createdAt":"2026-11-20T08:15:30.123Z","updatedAt":"2026-11-20T08:15:30.123Z","cursors":[{"type":"signals","timestamp":1795162530123,"value":"2026-11-20T08:15:30.123Z","valueAgo":"0 s"}]}`).(object)
	values = append(values, member{"manifest", d.bodyExample(Operation{Body: schema.Manifest})})
	out := object{}
	for _, p := range d.schemas.object(name).object("properties") {
		if p.name != "warehouseConfig" {
			out = append(out, member{p.name, values.get(p.name)})
		}
	}
	return out
}

// stationExample fills in every flag and setting.
func (d *describer) stationExample(op Operation) object {
	flags, settings := object{}, object{}
	for _, p := range d.schemas.object("StationFlags").object("properties") {
		flags = append(flags, member{p.name, obj("value", "off", "from", "default")})
	}
	for _, p := range d.schemas.object("StationSettings").object("properties") {
		settings = append(settings, member{p.name, p.value.(object).get("default")})
	}
	return parse(op.Sample).(object).with("flags", flags).with("settings", settings)
}

// security returns the security requirements of an operation.
func security(op Operation, rt *Route) any {
	switch {
	case op.Security != "":
		return parse(op.Security)
	case rt.Open:
		return []any{}
	case rt.Bearer:
		return parse(`[{"ApiKeyAuth":[]},{"BearerAuth":[]},{"SessionCookie":[]}]`)
	}
	return parse(`[{"ApiKeyAuth":[]},{"SessionCookie":[]}]`)
}

const securitySchemes = `{
"ApiKeyAuth": {"type": "apiKey", "in": "header", "name": "X-API-KEY", "description": "An API key. It wins where a session comes too.", "x-name": "an API key"},
"SessionCookie": {"type": "apiKey", "in": "cookie", "name": "session", "description": "The session of a browser that signed in. Changes must come from the service's own pages.", "x-name": "a session"},
"LoginCookie": {"type": "apiKey", "in": "cookie", "name": "login", "description": "A browser that asked to sign in and waits to be let in.", "x-name": "the cookie login"},
"BearerAuth": {"type": "http", "scheme": "bearer", "description": "An API key as a bearer token.", "x-name": "the key as a bearer token"}
}`

const headers = `{
"ETag": {"description": "Entity tag of the answer. That of GET /account is weak: it leaves out cursors, which move every second. Others are strong.", "required": true, "schema": {"type": "string"}},
"For": {"description": "Who asks, where the request's ` + "`X-For`" + ` names another: the account and the e-mail address with a slash between them, percent-encoded.", "schema": {"type": "string"}},
"Location": {"description": "Path of what was made.", "required": true, "schema": {"type": "string"}},
"RetryAfter": {"description": "Seconds to wait before the next attempt.", "required": true, "schema": {"type": "integer", "minimum": 1}}
}`

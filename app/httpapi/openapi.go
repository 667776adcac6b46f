package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/schema"
)

// openAPIRoutes returns the operation for this document.
func openAPIRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/openapi.json", handle: getOpenAPI, access: open, storeless: true,
			text: operation{
				id: "getOpenAPI", tag: "OpenAPI", summary: "Read this API description",
				about:  "OpenAPI 3.1, generated from the schemas that requests are checked against.",
				answer: "The document.", form: formBare, gives: "OpenAPIDocument", tagged: true,
			},
		},
	}
}

// document is the OpenAPI document, made at the first request, because it does not change while the program runs.
var document struct {
	once sync.Once
	rep  *account.Representation
}

// getOpenAPI handles GET /openapi.json (http-api.md sections 1 and 9; decisions.md section 6).
func getOpenAPI(c *call) (reply, error) {
	document.once.Do(func() {
		body := describe(c.api.routes())
		sum := sha256.Sum256(body)
		tag := hex.EncodeToString(sum[:12])
		document.rep = &account.Representation{
			Parts: [3][]byte{body}, Size: len(body), Length: strconv.Itoa(len(body)), ETag: `"` + tag + `"`, GzipETag: `"` + tag + `-gzip"`,
		}
	})
	return reply{rep: document.rep}, nil
}

// describe returns the document for a table of routes. It panics for a route without a text, which a test detects.
func describe(routes []route) []byte {
	schemas := components()
	schemas = append(schemas,
		member{"OpenAPIDocument", parse(`{"description": "An OpenAPI document.", "type": "object", "required": ["openapi", "info", "paths"]}`)},
	)
	d := describer{schemas: schemas}
	paths := object{}
	for i := range routes {
		rt := &routes[i]
		at := pathTemplate(rt.path)
		operations := append(paths.object(at), member{strings.ToLower(rt.method), d.operation(rt)})
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
		panic("httpapi: openapi: " + err.Error())
	}
	return body
}

// pathTemplate converts the router's :name to {name}.
func pathTemplate(path string) string {
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

func (d *describer) operation(rt *route) object {
	op, role := rt.text, rt.role
	if op.id == "" {
		panic(fmt.Sprintf("httpapi: openapi: %s %s has no text", rt.method, rt.path))
	}
	if role == "" && rt.access == keyed {
		role = auth.Readonly
	}
	out := obj("operationId", op.id, "tags", []any{op.tag}, "summary", op.summary, "description", description(op, rt, role))
	if params := d.takes(op, rt); len(params) > 0 {
		out = append(out, member{"parameters", params})
	}
	if op.body != "" {
		out = append(out, member{"requestBody", obj(
			"required", !op.optional,
			"content", obj("application/json", obj("schema", ref(d.title(op.body)), "example", d.bodyExample(op))),
		)})
	}
	if op.upload {
		out = append(out, member{"requestBody", obj("required", true, "content", binary())})
	}
	out = append(out, member{"responses", d.responses(op, rt)}, member{"security", security(op, rt)})
	if rt.access == keyed {
		out = append(out, member{"x-role", string(role)})
	}
	return out
}

// binary returns the content of a body that is a file.
func binary() object {
	return obj(fileType, parse(`{"schema": {"type": "string", "format": "binary"}, "example": "the bytes of the file"}`))
}

// description returns the text of an operation and who may use it.
func description(op operation, rt *route, role auth.Role) string {
	who := "Needs no credential."
	switch {
	case op.id == "claim":
		who = "Needs the cookie `login`."
	case rt.access == keyed && role == auth.Readonly:
		who = "Every role may use it."
	case rt.access == keyed && role == auth.Admin:
		who = "Needs the role `admin`."
	case rt.access == keyed:
		who = fmt.Sprintf("Needs the role `%s` or a higher one.", role)
	}
	return strings.TrimPrefix(op.about+"\n\n"+who, "\n\n")
}

// takes returns the parameters of a route: of the path, of the query, and the headers of conditional requests.
func (d *describer) takes(op operation, rt *route) []any {
	var out []any
	add := func(name, in string) {
		p, own := op.params[name]
		if !own {
			p = parameters[name]
		}
		out = append(out, obj("name", name, "in", in, "required", in == "path" || p.required,
			"description", p.about, "schema", parse(p.schema), "example", p.example))
	}
	for part := range strings.SplitSeq(rt.path, "/") {
		if name, found := strings.CutPrefix(part, ":"); found {
			add(name, "path")
		}
	}
	for _, name := range rt.query {
		add(name, "query")
	}
	if op.tagged {
		out = append(out, parse(`{"name": "If-None-Match", "in": "header", "description": "The entity tag of what you have: 304 while it is still the same.", "schema": {"type": "string"}}`))
	}
	if op.match {
		out = append(out, parse(`{"name": "If-Match", "in": "header", "description": "The entity tag that you read: 409 when the configuration has another revision by now.", "schema": {"type": "string"}}`))
	}
	if rt.once {
		key := parse(onceParameter).(object)
		if !rt.desk {
			key = key.with("description", key.get("description").(string)+" One that is refused is listed at GET /refused.")
		}
		out = append(out, key)
	}
	if rt.access == keyed {
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

func (d *describer) bodyExample(op operation) any {
	if op.example != "" {
		return parse(op.example)
	}
	return parse(string(schema.JSON(op.body))).(object).get("examples").([]any)[0]
}

// statusesOf returns the statuses of a route in ascending order: http-api.md section 4.2 and decisions.md section 1.
func statusesOf(op operation, rt *route) []int {
	all := append([]int{http.StatusOK, http.StatusInternalServerError}, op.also...)
	if op.form == formEmpty {
		all[0] = http.StatusNoContent
	}
	if op.tagged {
		all = append(all, http.StatusNotModified)
	}
	if rt.access == keyed {
		all = append(all, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests)
	}
	if rt.method != http.MethodGet {
		all = append(all, http.StatusBadRequest)
	}
	if op.body != "" {
		all = append(all, http.StatusRequestEntityTooLarge)
	}
	if op.id != "getHealth" && op.id != "getOpenAPI" {
		all = append(all, http.StatusServiceUnavailable)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (d *describer) responses(op operation, rt *route) object {
	out := object{}
	for _, status := range statusesOf(op, rt) {
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
func (d *describer) success(op operation) object {
	answer := obj("description", op.answer)
	headers := object{}
	if op.tagged {
		headers = append(headers, member{"ETag", obj("$ref", "#/components/headers/ETag")})
	}
	if op.location {
		headers = append(headers, member{"Location", obj("$ref", "#/components/headers/Location")})
	}
	if len(headers) > 0 {
		answer = append(answer, member{"headers", headers})
	}
	switch op.form {
	case formEmpty:
		return answer
	case formFile:
		return append(answer, member{"content", binary()})
	}
	kind, s, example := "application/json", d.successSchema(op), d.successExample(op)
	switch op.form {
	case formText:
		kind = "text/plain"
	case formEvents:
		kind = "text/event-stream"
	case formTable:
		kind = csvType
	}
	return append(answer, member{"content", obj(kind, obj("schema", s, "example", example))})
}

func (d *describer) successSchema(op operation) any {
	yes := obj("type", "boolean", "const", true)
	switch op.form {
	case formDone:
		return ref("Done")
	case formBare:
		return ref(op.gives)
	case formText, formEvents, formTable:
		return obj("type", "string")
	}
	body := obj("isSuccess", yes, "result", ref(op.gives))
	if op.form != formResult {
		body = obj("isSuccess", yes, "results", obj("type", "array", "items", ref(op.gives)))
	}
	if op.form == formPage {
		body = append(body, member{"paging", ref("Paging")})
	}
	return strict(op.answer, body, nil).without(isDescription)
}

func (d *describer) successExample(op operation) any {
	switch op.form {
	case formDone:
		return obj("isSuccess", true)
	case formText, formEvents, formTable:
		return op.sample
	}
	var sample any
	switch op.gives {
	case "Account", "UpdatedAccount":
		sample = d.accountExample(op.gives)
	case "StationConfiguration":
		sample = d.stationExample()
	case "Manifest":
		return d.bodyExample(operation{body: schema.Manifest})
	case "OpenAPIDocument":
		return obj("openapi", "3.1.0", "info", obj("title", "Manufacturing Operations Monitoring", "version", "1.0.0"), "paths", object{})
	default:
		sample = parse(op.sample)
	}
	switch op.form {
	case formBare:
		return sample
	case formResult:
		return obj("isSuccess", true, "result", sample)
	}
	out := obj("isSuccess", true, "results", []any{sample})
	if op.form == formPage {
		out = append(out, member{"paging", obj("totalElements", 1)})
	}
	return out
}

// accountExample returns an example with every field of the schema, unset unless stated otherwise.
func (d *describer) accountExample(name string) object {
	values := parse(`{"id":"acme","domain":"acme.example","currency":"GBP","electricalPricePerKwh":0.2371,"durationFormat":"months","enableTasks":"on",
		"createdAt":"2026-11-20T08:15:30.123Z","updatedAt":"2026-11-20T08:15:30.123Z","cursors":[{"type":"signals","timestamp":1795162530123,"value":"2026-11-20T08:15:30.123Z","valueAgo":"0 s"}]}`).(object)
	values = append(values, member{"manifest", d.bodyExample(operation{body: schema.Manifest})})
	out := object{}
	for _, p := range d.schemas.object(name).object("properties") {
		if p.name != "warehouseConfig" {
			out = append(out, member{p.name, values.get(p.name)})
		}
	}
	return out
}

// stationExample fills in every flag and setting.
func (d *describer) stationExample() object {
	flags, settings := object{}, object{}
	for _, p := range d.schemas.object("StationFlags").object("properties") {
		flags = append(flags, member{p.name, obj("value", "off", "from", "default")})
	}
	for _, p := range d.schemas.object("StationSettings").object("properties") {
		settings = append(settings, member{p.name, p.value.(object).get("default")})
	}
	return parse(stationSample).(object).with("flags", flags).with("settings", settings)
}

// security returns the security requirements of an operation.
func security(op operation, rt *route) any {
	switch {
	case op.security != "":
		return parse(op.security)
	case rt.access == open:
		return []any{}
	case rt.bearer:
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

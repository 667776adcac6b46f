package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/schema"
	"opsmon/schema/schematest"
)

// closed returns an API without a store.
func closed() *API {
	return New(Config{Log: slog.New(slog.DiscardHandler), Closed: func() error { return errors.New("closed") }})
}

// loadDocument loads the document as a client does.
var loadDocument = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromData(openapi.Document(described(closed().table), answers))
})

func openAPI(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := loadDocument()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// conform validates an answer against the document: the operation must have its status, with its headers, content type
// and body. pattern is the path of the route; "": an unknown path. The operations of the local command line are in no
// document; their errors are validated against http-api.md section 7.
func conform(t *testing.T, method, pattern string, status int, header http.Header, body []byte) {
	t.Helper()
	if err := conforms(openAPI(t), method, pattern, status, header, body); err != nil {
		t.Errorf("%s %s answered %d, which is not as /openapi.json says: %v\n%.2000s", method, pattern, status, err, body)
	}
}

func conforms(doc *openapi3.T, method, pattern string, status int, header http.Header, body []byte) error {
	answer, err := documented(doc, method, pattern, status)
	if err != nil || answer == nil {
		return err
	}
	for name, h := range answer.Headers {
		if h.Value.Required && header.Get(name) == "" {
			return fmt.Errorf("the header %s is missing", name)
		}
	}
	if len(answer.Content) == 0 {
		if len(body) > 0 || header.Get("Content-Type") != "" {
			return fmt.Errorf("it must have no body, and has %d bytes of %q", len(body), header.Get("Content-Type"))
		}
		return nil
	}
	for kind, media := range answer.Content {
		if got := header.Get("Content-Type"); got != kind && !(kind == "text/plain" && strings.HasPrefix(got, kind)) {
			return fmt.Errorf("the content type is %q and should be %q", got, kind)
		}
		if method == http.MethodHead {
			if len(body) > 0 {
				return fmt.Errorf("HEAD has a body of %d bytes", len(body))
			}
			return nil
		}
		if header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				return err
			}
			if body, err = io.ReadAll(z); err != nil {
				return err
			}
		}
		if kind != "application/json" {
			return nil
		}
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			return err
		}
		return media.Schema.Value.VisitJSON(v, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors())
	}
	return nil
}

// componentOf returns the name of the component for an error status.
func componentOf(status int) string {
	return map[int]string{
		400: "InvalidInput", 401: "UnauthorizedUser", 403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed", 409: "Conflict",
		413: "PayloadTooLarge", 429: "TooManyRequests", 500: "InternalServerError", 503: "Unavailable",
	}[status]
}

// documented returns the documented response for a status; nil if there is nothing to validate against.
func documented(doc *openapi3.T, method, pattern string, status int) (*openapi3.Response, error) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	item := doc.Paths.Find(openapi.PathTemplate(pattern))
	anywhere := pattern == "" && status == http.StatusNotFound || status == http.StatusMethodNotAllowed
	if anywhere || item == nil && strings.HasPrefix(pattern, "/local/") && status >= 400 {
		if answer := doc.Components.Responses[componentOf(status)]; answer != nil {
			return answer.Value, nil
		}
		return nil, fmt.Errorf("no answer has the status %d", status)
	}
	switch {
	case item == nil && strings.HasPrefix(pattern, "/local/"):
		return nil, nil
	case item == nil || item.GetOperation(method) == nil:
		return nil, fmt.Errorf("the operation is not documented")
	}
	answer := item.GetOperation(method).Responses.Status(status)
	if answer == nil {
		return nil, fmt.Errorf("the status is not documented")
	}
	return answer.Value, nil
}

func TestOpenAPIIsValid(t *testing.T) {
	doc := openAPI(t)
	if err := doc.Validate(context.Background()); err != nil {
		t.Error(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.0.0" {
		t.Errorf("the document is OpenAPI %s, version %s; want 3.1.0 and 1.0.0 (http-api.md section 9)", doc.OpenAPI, doc.Info.Version)
	}
}

func TestOpenAPIHasEveryRouteAndNothingElse(t *testing.T) {
	doc := openAPI(t)
	var routes, documented []string
	table := closed().table
	for i := range table {
		routes = append(routes, table[i].Method+" "+openapi.PathTemplate(table[i].Path))
		if op := doc.Paths.Find(openapi.PathTemplate(table[i].Path)).GetOperation(table[i].Method); table[i].Access != rest.Open && op.Parameters.GetByInAndName("header", "X-For") == nil {
			t.Errorf("%s lacks the header X-For", routes[i])
		}
	}
	ids := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			documented = append(documented, method+" "+path)
			if other, dup := ids[op.OperationID]; dup || op.OperationID == "" {
				t.Errorf("%s %s has the operationId %q, as %s", method, path, op.OperationID, other)
			}
			ids[op.OperationID] = method + " " + path
			if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 || doc.Tags.Get(op.Tags[0]) == nil {
				t.Errorf("%s %s needs a summary, a description and one of the tags", method, path)
			}
		}
	}
	for _, list := range [][]string{routes, documented} {
		slices.Sort(list)
	}
	if doc.Components.Responses["Conflict"].Value.Headers["X-For"] == nil {
		t.Errorf("409 lacks the header X-For")
	}
	if diff := cmp.Diff(routes, documented); diff != "" {
		t.Errorf("routes and document differ:\n%s", diff)
	}
}

func TestOpenAPIExamplesValidate(t *testing.T) {
	doc := openAPI(t)
	check := func(where string, content openapi3.Content) {
		for _, media := range content {
			if media.Example == nil {
				t.Errorf("%s has no example", where)
				continue
			}
			if err := media.Schema.Value.VisitJSON(media.Example, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
				t.Errorf("%s: %v", where, err)
			}
		}
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			where := method + " " + path
			if op.RequestBody != nil {
				check(where+" request", op.RequestBody.Value.Content)
			}
			for _, p := range op.Parameters {
				if p.Value.Example == nil {
					if p.Value.In != "header" {
						t.Errorf("%s: parameter %s has no example", where, p.Value.Name)
					}
				} else if err := p.Value.Schema.Value.VisitJSON(p.Value.Example, openapi3.EnableJSONSchema2020()); err != nil {
					t.Errorf("%s: parameter %s: %v", where, p.Value.Name, err)
				}
			}
			for status, answer := range op.Responses.Map() {
				check(where+" "+status, answer.Value.Content)
			}
		}
	}
}

// The statuses of http-api.md section 4.2, and that callback and login need no key (section 5).
func TestOpenAPIHasTheStatusesOfTheSpecification(t *testing.T) {
	doc := openAPI(t)
	keyed := []int{400, 401, 403, 409, 500}
	unkeyed := []int{400, 403, 409, 500}
	for _, row := range []struct {
		method, path  string
		success       int
		statuses, not []int
	}{
		{"GET", "/account", 200, keyed, nil},
		{"POST", "/account", 200, keyed, nil},
		{"GET", "/auth/profile", 200, keyed, nil},
		{"GET", "/auth/callback", 200, unkeyed, []int{401}},
		{"POST", "/auth/logout", 200, keyed, nil},
		{"POST", "/auth/login", 200, unkeyed, []int{401}},
		{"POST", "/key", 200, keyed, []int{201}},
		{"DELETE", "/key/{key}", 204, keyed, []int{200}},
	} {
		op := doc.Paths.Find(row.path).GetOperation(row.method)
		for _, status := range append(row.statuses, row.success) {
			if op.Responses.Status(status) == nil {
				t.Errorf("%s %s lacks %d", row.method, row.path, status)
			}
		}
		for _, status := range row.not {
			if op.Responses.Status(status) != nil {
				t.Errorf("%s %s has %d", row.method, row.path, status)
			}
		}
		if open := op.Security != nil && len(*op.Security) == 0; open != (row.not != nil && row.not[0] == 401) {
			t.Errorf("%s %s: needs no key = %v", row.method, row.path, open)
		}
	}
	if diff := cmp.Diff(openapi3.SecurityRequirements{{"ApiKeyAuth": {}}}, doc.Security); diff != "" {
		t.Errorf("the default requirement (http-api.md section 5):\n%s", diff)
	}
	if s := doc.Components.SecuritySchemes["ApiKeyAuth"].Value; s.Type != "apiKey" || s.In != "header" || s.Name != "X-API-KEY" {
		t.Errorf("ApiKeyAuth is %s in %s, %s", s.Type, s.In, s.Name)
	}
}

// The error envelopes of http-api.md section 7 exactly, and the account answers of section 2.1.
func TestOpenAPIShapesOfTheSpecification(t *testing.T) {
	schemas := openAPI(t).Components.Schemas
	accountFields := slices.Concat([]string{
		"id", "domain", "stationCountLimit", "electricalPricePerKwh", "electricalCo2PerKwh", "currency", "maxProductionCountPerSchedule",
		"dashboardConfig", "warehousePassword", "uploadTransforms", "durationFormat", "appUrls", "includeReasonCodes", "excludeReasonCodes",
		"includeTaskCodes", "excludeTaskCodes", "includeTaskListCodes", "excludeTaskListCodes", "createdAt", "updatedAt", "archivedAt",
	}, slices.DeleteFunc(schematest.Properties(schema.JSON(schema.Manifest), "Account"), func(n string) bool { return !strings.HasPrefix(n, "enable") }))
	for _, tt := range []struct {
		name                 string
		required, properties []string
	}{
		{"Account", []string{"id", "domain", "manifest"}, append(slices.Clone(accountFields), "cursors", "warehouseConfig", "manifest")},
		{"UpdatedAccount", []string{"id", "domain"}, accountFields},
		{"Cursor", []string{"type", "timestamp", "value", "valueAgo"}, nil},
		{"WarehouseConfig", []string{"host", "port", "username"}, nil},
		{"Session", []string{"email", "exp", "userRole", "accountId", "role", "featureFlags", "type"}, nil},
		{"Profile", []string{"email", "exp", "userRole", "accountId", "role", "featureFlags", "type", "accounts", "apiKey", "account"},
			// the last two only for tablets
			[]string{"email", "exp", "userRole", "accountId", "role", "featureFlags", "type", "accounts", "apiKey", "account", "tabletName", "stationCodes"}},
		{"ProfileAccount", []string{"id", "domain", "enableLostProductionCost", "dashboardConfig"}, nil},
		{"Membership", []string{"role", "accountId", "domain"}, nil},
		{"InvalidInput", []string{"isSuccess", "errorCode"}, []string{"isSuccess", "errorCode", "errorMessage", "details"}},
		{"Detail", []string{"field", "issue"}, nil},
		{"UnauthorizedUser", []string{"isSuccess", "errorCode"}, nil},
		{"Forbidden", []string{"isSuccess", "errorCode", "errorMessage"}, nil},
		{"Conflict", []string{"isSuccess", "errorCode", "errorMessage"}, nil},
		{"InternalServerError", []string{"isSuccess", "errorCode", "errorMessage"}, nil},
	} {
		s := schemas[tt.name].Value
		if tt.properties == nil {
			tt.properties = slices.Clone(tt.required)
		}
		var properties []string
		for name := range s.Properties {
			properties = append(properties, name)
		}
		slices.Sort(properties)
		slices.Sort(tt.properties)
		if diff := cmp.Diff(tt.properties, properties); diff != "" {
			t.Errorf("%s: properties:\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.required, s.Required); diff != "" {
			t.Errorf("%s: required:\n%s", tt.name, diff)
		}
		if s.AdditionalProperties.Has == nil || *s.AdditionalProperties.Has {
			t.Errorf("%s allows other properties", tt.name)
		}
	}
}

// Both validators must accept the same values: the document's request schemas are the embedded ones in another form.
func TestOpenAPIRequestSchemasSayWhatTheEmbeddedOnesSay(t *testing.T) {
	trigger := func(s string) string {
		return `{"version":"v1","account":{"id":"acme","domain":"acme.example","createdAt":"2026-11-20T08:15:30.123Z","plants":[{"code":"abc","name":"A","timezone":"UTC","dayStartHour":0,"weekStartDay":0,` +
			`"stationGroups":[{"code":"g","name":"G","stations":[{"code":"S-1","name":"S"}]}]}],"taskLists":[{"code":"L","name":"L","trigger":` + s + `}]}}`
	}
	for _, tt := range []struct {
		name  schema.Name
		title string
		body  string
	}{
		{schema.Manifest, "Manifest", trigger(`{"type":"schedule"}`)},
		{schema.Manifest, "Manifest", trigger(`{"type":"schedule","pattern":"* * * * *"}`)},
		{schema.Manifest, "Manifest", trigger(`{"type":"cron","pattern":"0 6 * * *","availableBeforeDeadlineMinutes":30}`)},
		{schema.Manifest, "Manifest", trigger(`{"type":"cron"}`)},
		{schema.Manifest, "Manifest", trigger(`{"type":"on_demand"}`)},
		{schema.Manifest, "Manifest", trigger(`{"type":"weekly"}`)},
		{schema.Manifest, "Manifest", trigger(`{}`)},
		{schema.AccountUpdate, "AccountUpdate", `{"enableTasks":"on","currency":null,"electricalPricePerKwh":999.9}`},
		{schema.AccountUpdate, "AccountUpdate", `{"electricalPricePerKwh":1000}`},
		{schema.AccountUpdate, "AccountUpdate", `{"durationFormat":null}`},
		{schema.AccountUpdate, "AccountUpdate", `{"enableTask":"on"}`},
		{schema.KeyCreate, "KeyCreate", `{"expiresAt":"tomorrow"}`},
		{schema.Approve, "Approve", `{"token":"t","code":"1234"}`},
	} {
		var v any
		if err := json.Unmarshal([]byte(tt.body), &v); err != nil {
			t.Fatal(err)
		}
		err := openAPI(t).Components.Schemas[tt.title].Value.VisitJSON(v, openapi3.EnableJSONSchema2020())
		dec := json.NewDecoder(strings.NewReader(tt.body))
		dec.UseNumber()
		var exact any
		if err := dec.Decode(&exact); err != nil {
			t.Fatal(err)
		}
		if problems := schema.Validate(tt.name, exact); (len(problems) == 0) != (err == nil) {
			t.Errorf("%s %s: the service finds %v, the document %v", tt.title, tt.body, problems, err)
		}
	}
}

func TestOpenAPIKeepsItsOrderAndItsBytes(t *testing.T) {
	first := openapi.Document(described(closed().table), answers)
	if !bytes.Equal(first, openapi.Document(described(closed().table), answers)) {
		t.Error("the document is another one the second time")
	}
	at := -1
	for _, want := range []string{`"openapi"`, `"/account"`, `"/account/manifest"`, `"/station/{stationCode}"`, `"/openapi.json"`, `"Manifest":{`, `"Account":{`} {
		next := bytes.Index(first[at+1:], []byte(want))
		if next < 0 {
			t.Fatalf("%s is not where it should be", want)
		}
		at += 1 + next
	}
	account := first[bytes.Index(first, []byte(`"Account":{"description"`)):]
	if !bytes.Contains(account[:400], []byte(`"properties":{"id":{`)) {
		t.Errorf("the account's fields are not in the order of http-api.md section 2.1: %.400s", account)
	}
	for _, inner := range []string{"$defs", "x-sentence", "opsmon.example", "if\":"} {
		if bytes.Contains(first, []byte(inner)) {
			t.Errorf("the document has %q in it, which is the validator's own", inner)
		}
	}
}

func TestOpenAPIIsServedWithATag(t *testing.T) {
	a := closed()
	get := func(headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/openapi.json", nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		return w
	}
	plain, packed := get(), get("Accept-Encoding", "gzip")
	conform(t, "GET", "/openapi.json", plain.Code, plain.Header(), plain.Body.Bytes())
	conform(t, "GET", "/openapi.json", packed.Code, packed.Header(), packed.Body.Bytes())
	if plain.Header().Get("ETag") == packed.Header().Get("ETag") {
		t.Error("two encodings share a strong entity tag")
	}
	if got := plain.Header().Get("Content-Length"); got != strconv.Itoa(plain.Body.Len()) {
		t.Errorf("Content-Length is %s for %d bytes", got, plain.Body.Len())
	}
	same := get("If-None-Match", plain.Header().Get("ETag"))
	if same.Code != http.StatusNotModified {
		t.Errorf("If-None-Match with the tag: %d", same.Code)
	}
	conform(t, "GET", "/openapi.json", same.Code, same.Header(), same.Body.Bytes())
	t.Logf("%d bytes, %d compressed", plain.Body.Len(), packed.Body.Len())
}

func TestConformsTellsWrongAnswers(t *testing.T) {
	doc := openAPI(t)
	asJSON := http.Header{"Content-Type": {"application/json"}}
	for _, tt := range []struct {
		name, method, pattern string
		status                int
		header                http.Header
		body                  string
		fine                  bool
	}{
		{"a success", "POST", "/auth/logout", 200, asJSON, `{"isSuccess":true}`, true},
		{"another property", "POST", "/auth/logout", 200, asJSON, `{"isSuccess":true,"ok":1}`, false},
		{"not a success", "POST", "/auth/logout", 200, asJSON, `{"isSuccess":false}`, false},
		{"a charset", "POST", "/auth/logout", 200, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, `{"isSuccess":true}`, false},
		{"a status nobody documents", "POST", "/auth/logout", 201, asJSON, `{"isSuccess":true}`, false},
		{"a 401 that says why", "GET", "/key", 401, asJSON, `{"isSuccess":false,"errorCode":"unauthorizedUser","errorMessage":"no"}`, false},
		{"a 403 that does not", "GET", "/key", 403, asJSON, `{"isSuccess":false,"errorCode":"forbidden"}`, false},
		{"a 429 without Retry-After", "GET", "/key", 429, asJSON, `{"isSuccess":false,"errorCode":"tooManyRequests","errorMessage":"wait"}`, false},
		{"no content with a type", "DELETE", "/key/:key", 204, asJSON, ``, false},
		{"no content", "DELETE", "/key/:key", 204, http.Header{}, ``, true},
		{"HEAD", "HEAD", "/health", 200, asJSON, ``, true},
		{"HEAD with a body", "HEAD", "/health", 200, asJSON, `{"isSuccess":true}`, false},
		{"an unknown path", "GET", "", 404, asJSON, `{"isSuccess":false,"errorCode":"notFound","errorMessage":"no"}`, true},
		{"a method not taken", "PATCH", "/account", 405, http.Header{"Content-Type": {"application/json"}, "Allow": {"GET"}}, `{"isSuccess":false,"errorCode":"methodNotAllowed","errorMessage":"no"}`, true},
		{"without Allow", "PATCH", "/account", 405, asJSON, `{"isSuccess":false,"errorCode":"methodNotAllowed","errorMessage":"no"}`, false},
		{"an unknown operation", "GET", "/nowhere", 200, asJSON, `{}`, false},
		{"a local operation", "GET", "/local/check", 200, asJSON, `{"isSuccess":true,"result":{"problems":[]}}`, true},
		{"an error of a local operation", "GET", "/local/check", 409, asJSON, `{"isSuccess":false,"errorCode":"conflict"}`, false},
		{"a time without milliseconds", "GET", "/user", 200, asJSON, `{"isSuccess":true,"results":[{"email":"a@b.example","role":"admin","createdAt":"2026-11-20T08:15:30Z"}]}`, false},
	} {
		if err := conforms(doc, tt.method, tt.pattern, tt.status, tt.header, []byte(tt.body)); (err == nil) != tt.fine {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func BenchmarkDescribe(b *testing.B) {
	routes := closed().table
	for b.Loop() {
		openapi.Document(described(routes), answers)
	}
}

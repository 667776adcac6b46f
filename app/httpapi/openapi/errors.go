package openapi

import (
	"fmt"
	"net/http"
	"strings"
)

// errorText is the document's text for an error status, with an example of its errorMessage.
type errorText struct {
	status        int
	code          string
	about, sample string
}

// errorTexts are the errors of http-api.md section 7 and of decisions.md section 1.
var errorTexts = []errorText{
	{400, "invalidInput", "The request cannot be accepted as it is; `details` names each problem.",
		"the body has a problem: electricalPricePerKwh must be less than 1000; it is 1200"},
	{401, "unauthorizedUser", "The credential is missing or not valid.", ""},
	{403, "forbidden", "The caller may not do this, or the request comes from another site.",
		"this needs the role admin; yours is member"},
	{404, "notFound", "There is no such thing.", "there is no station with this code"},
	{405, "methodNotAllowed", "The path does not take this method.", "this path takes the methods GET, POST"},
	{409, "conflict", "It clashes with the present state, or the header `X-For` names somebody else than who asks.",
		"the configuration has changed since you read it: it is now at revision 4; read it again and repeat your change"},
	{413, "payloadTooLarge", "The body is too large.", "the body must be 1 MiB or smaller"},
	{429, "tooManyRequests", "Too many attempts; a right credential still works.",
		"too many wrong credentials came from your address; wait before you try again"},
	{500, "internalServerError", "An internal error occurred.",
		"an internal error occurred"},
	{503, "unavailable", "It cannot be done now: the disk is full, or the service is stopping.",
		"the disk is full; nothing was changed"},
}

// name returns the name of the error's response and of its schema.
func (e *errorText) name() string { return strings.ToUpper(e.code[:1]) + e.code[1:] }

// responseNames has the components of error responses by status.
var responseNames = func() map[int]string {
	names := map[int]string{http.StatusNotModified: "NotModified"}
	for i := range errorTexts {
		names[errorTexts[i].status] = errorTexts[i].name()
	}
	return names
}()

// schema returns the schema of the error with this status.
func (e *errorText) schema() object {
	properties := obj("isSuccess", always("boolean", false), "errorCode", always("string", e.code))
	required := properties.names()
	if e.sample != "" {
		properties = append(properties, member{"errorMessage", obj("type", "string")})
	}
	if e.status == http.StatusBadRequest {
		properties = append(properties, member{"details", obj("description", "All problems, the first 100 of them.",
			"type", "array", "maxItems", 101, "items", ref("Detail"))})
	} else {
		required = properties.names()
	}
	return strict(fmt.Sprintf("%d: %s", e.status, e.about), properties, required)
}

// response returns the response with its headers and an example.
func (e *errorText) response() object {
	answer := obj("description", e.about)
	switch e.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		answer = append(answer, member{"headers", obj("Retry-After", obj("$ref", "#/components/headers/RetryAfter"))})
	case http.StatusConflict:
		answer = append(answer, member{"headers", obj("X-For", obj("$ref", "#/components/headers/For"))})
	case http.StatusMethodNotAllowed:
		answer = append(answer, member{"headers", obj("Allow", obj("description", "The methods that the path takes.",
			"required", true, "schema", obj("type", "string")))})
	}
	example := obj("isSuccess", false, "errorCode", e.code)
	if e.sample != "" {
		example = append(example, member{"errorMessage", e.sample})
	}
	if e.status == http.StatusBadRequest {
		field, issue, _ := strings.Cut(strings.TrimPrefix(e.sample, "the body has a problem: "), " ")
		example = append(example, member{"details", []any{obj("field", field, "issue", issue)}})
	}
	return append(answer, member{"content", obj("application/json", obj("schema", ref(e.name()), "example", example))})
}

// errorResponses returns the error responses by name.
func errorResponses() object {
	out := object{{"NotModified", obj("description", "What you have is still the same.",
		"headers", obj("ETag", obj("$ref", "#/components/headers/ETag")))}}
	for i := range errorTexts {
		out = append(out, member{errorTexts[i].name(), errorTexts[i].response()})
	}
	return out
}

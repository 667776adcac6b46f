package httpapi

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"

	"opsmon/app/account"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
)

// openAPIRoutes returns the operation for this document.
func (a *API) openAPIRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/openapi.json", Handle: a.getOpenAPI, Access: rest.Open, Storeless: true,
			Operation: openapi.Operation{
				ID: "getOpenAPI", Tag: "OpenAPI", Summary: "Read this API description",
				About:  "OpenAPI 3.1, generated from the schemas that requests are checked against.",
				Answer: "The document.", Form: openapi.FormBare, Gives: "OpenAPIDocument", Tagged: true,
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
func (a *API) getOpenAPI(*rest.Call) (rest.Reply, error) {
	document.once.Do(func() {
		body := openapi.Document(described(a.table), answers)
		sum := sha256.Sum256(body)
		tag := hex.EncodeToString(sum[:12])
		document.rep = &account.Representation{
			Parts: [3][]byte{body}, Size: len(body), Length: strconv.Itoa(len(body)), ETag: `"` + tag + `"`, GzipETag: `"` + tag + `-gzip"`,
		}
	})
	return rest.Reply{Representation: document.rep}, nil
}

// answers has the schemas of the structs that answers are made of, with their comments.
//
//go:generate go run ./internal/schemagen -o answers.json
//go:embed answers.json
var answers string

// described returns the routes for the OpenAPI document.
func described(routes []rest.Route) []openapi.Route {
	list := make([]openapi.Route, len(routes))
	for i := range routes {
		rt := &routes[i]
		list[i] = openapi.Route{
			Method: rt.Method, Path: rt.Path, Operation: rt.Operation, Open: rt.Access == rest.Open, Role: rt.Role, Query: rt.Query,
			Bearer: rt.Bearer, Once: rt.Once, Desk: rt.Desk,
		}
	}
	return list
}

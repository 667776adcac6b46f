package access

import (
	"net/http"
	"net/url"

	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/schema"
)

// peopleRoutes returns the operations on keys, users and tablets.
func (api *API) peopleRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/key", Handle: api.getKeys,
			Operation: openapi.Operation{
				ID: "listKeys", Tag: "ApiKey", Summary: "List API keys",
				About: "The caller's own keys; for admins, all keys of the account. The keys themselves are never " +
					"shown.",
				Answer: "The keys, oldest first.", Form: openapi.FormList, Gives: "Key", Sample: keySample,
			},
		},
		{
			Method: http.MethodPost, Path: "/key", Handle: api.postKey, Body: true,
			Operation: openapi.Operation{
				ID: "createKey", Tag: "ApiKey", Summary: "Create an API key",
				About: "The key has the caller's identity and at most the caller's role. It works at once, and only " +
					"this answer shows it. The body is optional. A person may have 100 keys in an account; one " +
					"who may change the configuration, 100,000.\n\n403: the requested role is above the " +
					"caller's. 409: the account is archived, or the caller has the maximum number of keys.",
				Answer: "The new key.", Body: schema.KeyCreate, Optional: true, Form: openapi.FormResult, Gives: "NewKey",
				Also: []int{409}, Location: true,
				Sample: `{"key":"opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x"}`,
			},
		},
		{
			Method: http.MethodDelete, Path: "/key/:key", Handle: api.deleteKey,
			Operation: openapi.Operation{
				ID: "revokeKey", Tag: "ApiKey", Summary: "Revoke an API key",
				About: "The key stops working at once, on every connection. Revoking a revoked key succeeds. " +
					"Everybody may revoke their own keys, an admin every key of the account.\n\n400: the key " +
					"does not exist.",
				Answer: "Revoked.", Form: openapi.FormEmpty, Also: []int{409},
				Params: openapi.Params{
					"key": {
						About:  "The API key, or its public id.",
						Schema: `{"type": "string", "minLength": 1}`, Example: "k3v9x2m7q4ab",
					},
				},
			},
		},
		{
			Method: http.MethodGet, Path: "/user", Handle: api.getUsers, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "listUsers", Tag: "User", Summary: "List the users of the account",
				About: "Users who were added. People on the account's domain who were not added may sign in as " +
					"`readonly` and are not listed.",
				Answer: "The users, by address.", Form: openapi.FormList, Gives: "User", Sample: userSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/user", Handle: api.postUser, Body: true, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "addUser", Tag: "User", Summary: "Add a user",
				About:  "409: the address is a user already, or the account is archived.",
				Answer: "The new user.", Body: schema.UserCreate, Form: openapi.FormResult, Gives: "User", Also: []int{409},
				Location: true, Sample: userSample,
			},
		},
		{
			Method: http.MethodGet, Path: "/user/:email", Handle: api.getUser, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "getUser", Tag: "User", Summary: "Read a user",
				Answer: "The user.", Form: openapi.FormResult, Gives: "User", Also: []int{400, 404}, Sample: userSample,
			},
		},
		{
			Method: http.MethodPut, Path: "/user/:email", Handle: api.putUser, Body: true, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "setUserRole", Tag: "User", Summary: "Change a user's role",
				About: "Takes effect at once for every session and key of the user. A person on the account's " +
					"domain who was not added is added.\n\n409: no admin would be left, or the account is " +
					"archived.",
				Answer: "The user as it is now.", Body: schema.UserUpdate, Form: openapi.FormResult, Gives: "User",
				Also:   []int{404, 409},
				Sample: `{"email":"planner@acme.example","role":"supervisor","createdAt":"2026-11-20T08:15:30.123Z"}`,
			},
		},
		{
			Method: http.MethodDelete, Path: "/user/:email", Handle: api.deleteUser, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "removeUser", Tag: "User", Summary: "Remove a user",
				About: "Ends every key and session of the user at once. An address on the account's domain is " +
					"refused until it is added again.\n\n409: no admin would be left, or the account is archived.",
				Answer: "Removed.", Form: openapi.FormEmpty, Also: []int{404, 409},
			},
		},
		{
			Method: http.MethodGet, Path: "/tablet", Handle: api.getTablets, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "listTablets", Tag: "Admin", Summary: "List the tablets",
				About:  "Including those that are not paired yet.",
				Answer: "The tablets, by name.", Form: openapi.FormList, Gives: "Tablet",
				Sample: `{"id":"w7p2m5x3c6zd","name":"Packing hall","email":"tablet:packing-hall@acme.example",
					"role":"operator","stationCodes":["PACK-1","PACK-2"],"createdAt":"2026-11-20T08:15:30.123Z",
					"pairedAt":null,"lastUsedAt":null}`,
			},
		},
		{
			Method: http.MethodPost, Path: "/tablet", Handle: api.postTablet, Body: true, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "pairTablet", Tag: "Admin", Summary: "Add a tablet",
				About: "Returns a one-time link to open on the tablet within 15 minutes. The tablet is then signed " +
					"in with its own identity, for its stations only.\n\n409: another tablet has the name, or " +
					"the account is archived.",
				Answer: "The tablet and its link.", Body: schema.TabletCreate, Form: openapi.FormResult, Gives: "TabletLink",
				Also: []int{409}, Location: true,
				Sample: `{"id":"w7p2m5x3c6zd",
					"link":"https://plant.example/link#opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2",
					"expiresAt":"2026-11-20T08:30:30.123Z"}`,
			},
		},
		{
			Method: http.MethodDelete, Path: "/tablet/:id", Handle: api.deleteTablet, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "removeTablet", Tag: "Admin", Summary: "Remove a tablet",
				About:  "Its session and its link end at once.\n\n409: the account is archived.",
				Answer: "Removed.", Form: openapi.FormEmpty, Also: []int{404, 409},
				Params: openapi.Params{
					"id": {
						About:  "Identifier of the tablet.",
						Schema: `{"type": "string", "minLength": 1}`, Example: "w7p2m5x3c6zd",
					},
				},
			},
		},
	}
}

// keyInput is the optional body of POST /key.
type keyInput struct {
	Name      string    `json:"name"`
	Role      auth.Role `json:"role"`
	ExpiresAt string    `json:"expiresAt"`
}

// input parses expiresAt, whose format the schema guarantees.
func (k keyInput) input() auth.KeyInput {
	in := auth.KeyInput{Name: k.Name, Role: k.Role}
	if k.ExpiresAt == "" {
		return in
	}
	if at, err := rest.ReadTime("expiresAt", k.ExpiresAt); err == nil {
		in.ExpiresAt = &at
	}
	return in
}

// postKey handles POST /key (http-api.md section 4, row 7; decisions.md section 5).
func (api *API) postKey(c *rest.Call) (rest.Reply, error) {
	var in keyInput
	if err := c.Decode(schema.KeyCreate, true, &in, func() error { return api.Auth.CheckKey(in.input()) }); err != nil {
		return rest.Reply{}, err
	}
	key, raw, err := api.Auth.CreateKey(c.Principal, in.input())
	if err != nil {
		return rest.Reply{}, err
	}
	return newKey(key, raw)
}

// keyShown is a new API key; shown once.
//
//openapi:schema NewKey
type keyShown struct {
	Key string `json:"key" schema:"minLength=1"` // the key itself
}

func newKey(key auth.Key, raw string) (rest.Reply, error) {
	out, err := rest.OK(keyShown{raw})
	out.Header = [][2]string{{"Location", "/key/" + key.ID}}
	return out, err
}

// getKeys handles GET /key.
func (api *API) getKeys(c *rest.Call) (rest.Reply, error) {
	keys, err := api.Auth.ListKeys(c.Principal)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(keys, -1)
}

// deleteKey handles DELETE /key/{key} (row 8).
func (api *API) deleteKey(c *rest.Call) (rest.Reply, error) {
	if err := api.Auth.RevokeKey(c.Principal, c.Params.ByName("key")); err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{Status: http.StatusNoContent}, nil
}

// getUsers handles GET /user.
func (api *API) getUsers(c *rest.Call) (rest.Reply, error) {
	users, err := api.Auth.ListUsers(c.Principal)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(users, -1)
}

// postUser handles POST /user.
func (api *API) postUser(c *rest.Call) (rest.Reply, error) {
	var in struct {
		Email string    `json:"email"`
		Role  auth.Role `json:"role"`
	}
	if err := c.Decode(schema.UserCreate, false, &in, func() error { return auth.CheckUser(in.Email, in.Role) }); err != nil {
		return rest.Reply{}, err
	}
	user, err := api.Auth.AddUser(c.Principal, in.Email, in.Role)
	if err != nil {
		return rest.Reply{}, err
	}
	out, err := rest.OK(user)
	out.Header = [][2]string{{"Location", "/user/" + url.PathEscape(user.Email)}}
	return out, err
}

// email parses the address in the path. Anything else is an unknown user.
func email(c *rest.Call) (string, error) {
	email, err := auth.ParseEmail(c.Params.ByName("email"))
	if err != nil {
		return "", errdefs.New(errdefs.NotFound, "there is no such user; users are named by their e-mail address")
	}
	return email, nil
}

// getUser handles GET /user/{email}.
func (api *API) getUser(c *rest.Call) (rest.Reply, error) {
	email, err := email(c)
	if err != nil {
		return rest.Reply{}, err
	}
	user, err := api.Auth.User(c.Principal, email)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(user)
}

// putUser handles PUT /user/{email}: a change of the role.
func (api *API) putUser(c *rest.Call) (rest.Reply, error) {
	email, err := email(c)
	if err != nil {
		return rest.Reply{}, err
	}
	var in struct {
		Role auth.Role `json:"role"`
	}
	if err := c.Decode(schema.UserUpdate, false, &in, func() error { return auth.CheckUser(email, in.Role) }); err != nil {
		return rest.Reply{}, err
	}
	user, err := api.Auth.SetRole(c.Principal, email, in.Role)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(user)
}

// deleteUser handles DELETE /user/{email}.
func (api *API) deleteUser(c *rest.Call) (rest.Reply, error) {
	email, err := email(c)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := api.Auth.RemoveUser(c.Principal, email); err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{Status: http.StatusNoContent}, nil
}

// getTablets handles GET /tablet.
func (api *API) getTablets(c *rest.Call) (rest.Reply, error) {
	tablets, err := api.Auth.ListTablets(c.Principal)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(tablets, -1)
}

// tabletLink is a new tablet and the one-time link that pairs it.
//
//openapi:schema TabletLink
type tabletLink struct {
	ID string `json:"id"` // identifier of the tablet
	// The address to open on the tablet; shown once.
	Link      string `json:"link"`
	ExpiresAt string `json:"expiresAt" schema:"ref=Moment"`
}

// postTablet handles POST /tablet: a one-time link that pairs a tablet.
func (api *API) postTablet(c *rest.Call) (rest.Reply, error) {
	var in struct {
		Name         string    `json:"name"`
		Role         auth.Role `json:"role"`
		StationCodes []string  `json:"stationCodes"`
	}
	input := func() auth.TabletInput {
		return auth.TabletInput{Name: in.Name, Role: in.Role, StationCodes: in.StationCodes}
	}
	if err := c.Decode(schema.TabletCreate, false, &in, func() error { return input().Check() }, func() error {
		return api.Accounts.HaveStations(c.Principal.AccountID, "stationCodes", in.StationCodes)
	}); err != nil {
		return rest.Reply{}, err
	}
	link, err := api.Auth.PairTablet(c.Principal, input())
	if err != nil {
		return rest.Reply{}, err
	}
	out, err := rest.OK(tabletLink{link.Tablet.ID, auth.LinkURL(api.BaseURL(), link.Token), instant.Format(link.ExpiresAt)})
	out.Header = [][2]string{{"Location", "/tablet/" + link.Tablet.ID}}
	return out, err
}

// deleteTablet handles DELETE /tablet/{id}.
func (api *API) deleteTablet(c *rest.Call) (rest.Reply, error) {
	if err := api.Auth.RevokeTablet(c.Principal, c.Params.ByName("id")); err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{Status: http.StatusNoContent}, nil
}

// keySample is an example of an answer.
const keySample = `{"id":"k3v9x2m7q4ab","name":"ERP export","email":"planner@acme.example","role":"readonly",
	"createdAt":"2026-11-20T08:15:30.123Z","lastUsedAt":"2026-11-21T06:00:02.040Z","expiresAt":null}`

// userSample is an example of an answer.
const userSample = `{"email":"planner@acme.example","role":"member","createdAt":"2026-11-20T08:15:30.123Z"}`

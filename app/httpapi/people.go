package httpapi

import (
	"net/http"
	"net/url"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/schema"
)

// keyInput is the optional body of POST /key.
type keyInput struct {
	Name      string    `json:"name"`
	Role      auth.Role `json:"role"`
	ExpiresAt string    `json:"expiresAt"`
}

// input reads expiresAt, whose form the schema has judged.
func (k keyInput) input() auth.KeyInput {
	in := auth.KeyInput{Name: k.Name, Role: k.Role}
	if k.ExpiresAt == "" {
		return in
	}
	if at, err := readTime("expiresAt", k.ExpiresAt); err == nil {
		in.ExpiresAt = &at
	}
	return in
}

// postKey answers POST /key (http-api.md section 4, row 7; decisions.md section 5).
func postKey(c *call) (reply, error) {
	var in keyInput
	if err := c.decode(schema.KeyCreate, true, &in, func() error { return c.api.cfg.Auth.CheckKey(in.input()) }); err != nil {
		return reply{}, err
	}
	key, raw, err := c.api.cfg.Auth.CreateKey(c.p, in.input())
	if err != nil {
		return reply{}, err
	}
	return newKey(key, raw)
}

// keyShown is a new API key, shown once.
//
//openapi:schema NewKey
type keyShown struct {
	Key string `json:"key" schema:"minLength=1"` // the key itself
}

func newKey(key auth.Key, raw string) (reply, error) {
	out, err := ok(keyShown{raw})
	out.header = [][2]string{{"Location", "/key/" + key.ID}}
	return out, err
}

// getKeys answers GET /key.
func getKeys(c *call) (reply, error) {
	keys, err := c.api.cfg.Auth.ListKeys(c.p)
	if err != nil {
		return reply{}, err
	}
	return list(keys, -1)
}

// deleteKey answers DELETE /key/{key} (row 8).
func deleteKey(c *call) (reply, error) {
	if err := c.api.cfg.Auth.RevokeKey(c.p, c.params.ByName("key")); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}

// getUsers answers GET /user.
func getUsers(c *call) (reply, error) {
	users, err := c.api.cfg.Auth.ListUsers(c.p)
	if err != nil {
		return reply{}, err
	}
	return list(users, -1)
}

// postUser answers POST /user.
func postUser(c *call) (reply, error) {
	var in struct {
		Email string    `json:"email"`
		Role  auth.Role `json:"role"`
	}
	if err := c.decode(schema.UserCreate, false, &in, func() error { return auth.CheckUser(in.Email, in.Role) }); err != nil {
		return reply{}, err
	}
	user, err := c.api.cfg.Auth.AddUser(c.p, in.Email, in.Role)
	if err != nil {
		return reply{}, err
	}
	out, err := ok(user)
	out.header = [][2]string{{"Location", "/user/" + url.PathEscape(user.Email)}}
	return out, err
}

// email reads the address in the path. What is no address is no user either.
func (c *call) email() (string, error) {
	email, err := auth.ParseEmail(c.params.ByName("email"))
	if err != nil {
		return "", errdefs.New(errdefs.NotFound, "there is no such user; users are named by their e-mail address")
	}
	return email, nil
}

// getUser answers GET /user/{email}.
func getUser(c *call) (reply, error) {
	email, err := c.email()
	if err != nil {
		return reply{}, err
	}
	user, err := c.api.cfg.Auth.User(c.p, email)
	if err != nil {
		return reply{}, err
	}
	return ok(user)
}

// putUser answers PUT /user/{email}: another role.
func putUser(c *call) (reply, error) {
	email, err := c.email()
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Role auth.Role `json:"role"`
	}
	if err := c.decode(schema.UserUpdate, false, &in, func() error { return auth.CheckUser(email, in.Role) }); err != nil {
		return reply{}, err
	}
	user, err := c.api.cfg.Auth.SetRole(c.p, email, in.Role)
	if err != nil {
		return reply{}, err
	}
	return ok(user)
}

// deleteUser answers DELETE /user/{email}.
func deleteUser(c *call) (reply, error) {
	email, err := c.email()
	if err != nil {
		return reply{}, err
	}
	if err := c.api.cfg.Auth.RemoveUser(c.p, email); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}

// getTablets answers GET /tablet.
func getTablets(c *call) (reply, error) {
	tablets, err := c.api.cfg.Auth.ListTablets(c.p)
	if err != nil {
		return reply{}, err
	}
	return list(tablets, -1)
}

// tabletLink is a new tablet and the one-time link that pairs it.
//
//openapi:schema TabletLink
type tabletLink struct {
	ID string `json:"id"` // identifier of the tablet
	// The address to open on the tablet. It is shown once.
	Link      string `json:"link"`
	ExpiresAt string `json:"expiresAt" schema:"ref=Moment"`
}

// postTablet answers POST /tablet: a one-time link that pairs a tablet.
func postTablet(c *call) (reply, error) {
	var in struct {
		Name         string    `json:"name"`
		Role         auth.Role `json:"role"`
		StationCodes []string  `json:"stationCodes"`
	}
	input := func() auth.TabletInput {
		return auth.TabletInput{Name: in.Name, Role: in.Role, StationCodes: in.StationCodes}
	}
	if err := c.decode(schema.TabletCreate, false, &in, func() error { return input().Check() }, func() error {
		return c.api.cfg.Accounts.HaveStations(c.p.AccountID, "stationCodes", in.StationCodes)
	}); err != nil {
		return reply{}, err
	}
	link, err := c.api.cfg.Auth.PairTablet(c.p, input())
	if err != nil {
		return reply{}, err
	}
	out, err := ok(tabletLink{link.Tablet.ID, auth.LinkURL(c.api.cfg.BaseURL(), link.Token), audit.Timestamp(link.ExpiresAt)})
	out.header = [][2]string{{"Location", "/tablet/" + link.Tablet.ID}}
	return out, err
}

// deleteTablet answers DELETE /tablet/{id}.
func deleteTablet(c *call) (reply, error) {
	if err := c.api.cfg.Auth.RevokeTablet(c.p, c.params.ByName("id")); err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusNoContent}, nil
}

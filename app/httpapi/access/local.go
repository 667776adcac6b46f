package access

import (
	"opsmon/app/auth"
	"opsmon/app/httpapi/rest"
)

// localCreateKey makes a key for any user: {email, role, name, expiresAt}.
func (api *API) localCreateKey(c *rest.Call) (rest.Reply, error) {
	in, err := c.Strings("email", "role", "name", "expiresAt")
	if err != nil {
		return rest.Reply{}, err
	}
	input := auth.KeyInput{Name: in["name"]}
	if in["role"] != "" {
		if input.Role, err = auth.ParseRole(in["role"]); err != nil {
			return rest.Reply{}, err
		}
	}
	if in["expiresAt"] != "" {
		at, err := rest.ReadTime("expiresAt", in["expiresAt"])
		if err != nil {
			return rest.Reply{}, err
		}
		input.ExpiresAt = &at
	}
	key, raw, err := api.Auth.CreateKeyFor(c.Principal, in["email"], input)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(map[string]string{"id": key.ID, "key": raw})
}

// localLoginLink makes a one-time link: {email} outright, {code} for a request that waits.
func (api *API) localLoginLink(c *rest.Call) (rest.Reply, error) {
	in, err := c.Strings("email", "code")
	if err != nil {
		return rest.Reply{}, err
	}
	if in["code"] != "" {
		return api.link(api.Auth.LinkFor(c.Principal, in["code"]))
	}
	return api.link(api.Auth.LinkOutright(c.Principal, in["email"]))
}

// localResetAdmin makes an address an admin, ends its sessions and makes a one-time link: {email}.
func (api *API) localResetAdmin(c *rest.Call) (rest.Reply, error) {
	in, err := c.Strings("email")
	if err != nil {
		return rest.Reply{}, err
	}
	return api.link(api.Auth.ResetAdmin(c.Principal, in["email"]))
}

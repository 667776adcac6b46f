package httpapi

import "opsmon/app/auth"

// localCreateKey makes a key for any user: {email, role, name, expiresAt}.
func (api *accessAPI) localCreateKey(c *call) (reply, error) {
	in, err := c.texts("email", "role", "name", "expiresAt")
	if err != nil {
		return reply{}, err
	}
	input := auth.KeyInput{Name: in["name"]}
	if in["role"] != "" {
		if input.Role, err = auth.ParseRole(in["role"]); err != nil {
			return reply{}, err
		}
	}
	if in["expiresAt"] != "" {
		at, err := readTime("expiresAt", in["expiresAt"])
		if err != nil {
			return reply{}, err
		}
		input.ExpiresAt = &at
	}
	key, raw, err := api.Auth.CreateKeyFor(c.p, in["email"], input)
	if err != nil {
		return reply{}, err
	}
	return ok(map[string]string{"id": key.ID, "key": raw})
}

// localLoginLink makes a one-time link: {email} outright, {code} for a request that waits.
func (api *accessAPI) localLoginLink(c *call) (reply, error) {
	in, err := c.texts("email", "code")
	if err != nil {
		return reply{}, err
	}
	if in["code"] != "" {
		return api.link(api.Auth.LinkFor(c.p, in["code"]))
	}
	return api.link(api.Auth.LinkOutright(c.p, in["email"]))
}

// localResetAdmin makes an address an admin, ends its sessions and makes a one-time link: {email}.
func (api *accessAPI) localResetAdmin(c *call) (reply, error) {
	in, err := c.texts("email")
	if err != nil {
		return reply{}, err
	}
	return api.link(api.Auth.ResetAdmin(c.p, in["email"]))
}

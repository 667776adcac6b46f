package httpapi

import (
	"time"

	"opsmon/app/account"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/schema"
)

// The operations in this file are for the command line on the machine itself (decisions.md section 7). Their
// bodies come from that command line, over a channel that only the machine's administrator can use; they are
// checked all the same.

// localInit makes the first account.
func localInit(c *call) (reply, error) { return c.bootstrap(true) }

// localCreateAccount makes another account.
func localCreateAccount(c *call) (reply, error) { return c.bootstrap(false) }

func (c *call) bootstrap(first bool) (reply, error) {
	in, err := c.newAccount(schema.AccountCreate)
	if err != nil {
		return reply{}, err
	}
	by := c.p
	by.AccountID = ""
	result, err := c.api.cfg.Bootstrap(BootstrapInput{ID: in.ID, Domain: in.Domain, Email: in.Email, Manifest: in.Manifest, First: first, By: by})
	if err != nil {
		return reply{}, err
	}
	return ok(struct {
		*BootstrapResult
		Warnings []errdefs.Detail `json:"warnings"`
	}{result, append([]errdefs.Detail{}, result.Warnings...)})
}

// accountLine is an account as the command line lists it.
type accountLine struct {
	ID         string  `json:"id"`
	Domain     string  `json:"domain"`
	Revision   uint64  `json:"revision"`
	CreatedAt  string  `json:"createdAt"`
	UpdatedAt  string  `json:"updatedAt"`
	ArchivedAt *string `json:"archivedAt"`
}

func lineOf(a *account.Account) accountLine {
	l := accountLine{ID: a.ID, Domain: a.Domain, Revision: a.Revision, CreatedAt: instant.Format(a.CreatedAt), UpdatedAt: instant.Format(a.UpdatedAt)}
	if a.ArchivedAt != nil {
		l.ArchivedAt = new(instant.Format(*a.ArchivedAt))
	}
	return l
}

// localAccounts lists the accounts; ?archived=true includes archived ones.
func localAccounts(c *call) (reply, error) {
	archived := c.on("archived")
	if err := c.unclear(); err != nil {
		return reply{}, err
	}
	lines := []accountLine{}
	for _, a := range c.api.cfg.Accounts.List(archived) {
		lines = append(lines, lineOf(a))
	}
	return list(lines, -1)
}

func localArchive(c *call) (reply, error)   { return c.setArchived(true) }
func localUnarchive(c *call) (reply, error) { return c.setArchived(false) }

func (c *call) setArchived(archived bool) (reply, error) {
	a, err := c.api.cfg.Accounts.SetArchived(c.p, archived)
	if err != nil {
		return reply{}, err
	}
	return ok(lineOf(a))
}

// text reads a body whose members are all strings, with the names given and no others.
func (c *call) text(names ...string) (map[string]string, error) {
	v, err := c.tree()
	if err != nil {
		return nil, err
	}
	object, _ := v.(map[string]any)
	out := make(map[string]string, len(names))
	for _, name := range names {
		if s, ok := object[name].(string); ok {
			out[name] = s
		}
	}
	if len(out) != len(object) {
		return nil, errdefs.New(errdefs.Invalid, "the body has members that this operation does not take")
	}
	return out, nil
}

// localSet sets a field that no document and no API caller can: {name, value}.
func localSet(c *call) (reply, error) {
	in, err := c.text("name", "value")
	if err != nil {
		return reply{}, err
	}
	a, err := c.api.cfg.Accounts.Set(c.p, in["name"], in["value"])
	if err != nil {
		return reply{}, err
	}
	return answerAccount(a, true), nil
}

// localCreateKey makes a key for any user: {email, role, name, expiresAt}.
func localCreateKey(c *call) (reply, error) {
	in, err := c.text("email", "role", "name", "expiresAt")
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
	key, raw, err := c.api.cfg.Auth.CreateKeyFor(c.p, in["email"], input)
	if err != nil {
		return reply{}, err
	}
	return ok(map[string]string{"id": key.ID, "key": raw})
}

// localLoginLink makes a one-time link: {email} outright, {code} for a request that waits.
func localLoginLink(c *call) (reply, error) {
	in, err := c.text("email", "code")
	if err != nil {
		return reply{}, err
	}
	if in["code"] != "" {
		return c.link(c.api.cfg.Auth.LinkFor(c.p, in["code"]))
	}
	return c.link(c.api.cfg.Auth.LinkOutright(c.p, in["email"]))
}

// localResetAdmin makes an address an admin, ends its sessions and makes a one-time link: {email}.
func localResetAdmin(c *call) (reply, error) {
	in, err := c.text("email")
	if err != nil {
		return reply{}, err
	}
	return c.link(c.api.cfg.Auth.ResetAdmin(c.p, in["email"]))
}

// localCheck looks the store over: {problems: [...]}.
func localCheck(c *call) (reply, error) {
	problems := []string{}
	if err := c.api.cfg.Check(func(p string) { problems = append(problems, p) }); err != nil {
		return reply{}, err
	}
	return ok(map[string]any{"problems": problems})
}

// Compacted says what compacting the store has changed.
type Compacted struct {
	Before int64 `json:"before"` // size of the file, in bytes
	After  int64 `json:"after"`
}

// localAcceptClock accepts the machine's clock as right: {now}.
func localAcceptClock(c *call) (reply, error) {
	in, err := c.text("now")
	if err != nil {
		return reply{}, err
	}
	now, err := time.Parse(time.RFC3339, in["now"])
	if err != nil {
		return reply{}, errdefs.New(errdefs.Invalid, "now must be a time such as 2026-11-20T08:15:30Z")
	}
	if c.api.cfg.AcceptClock == nil {
		return reply{}, errdefs.New(errdefs.Unavailable, "no service runs")
	}
	if err := c.api.cfg.AcceptClock(now, c.p.Actor()); err != nil {
		return reply{}, err
	}
	return ok(struct{}{})
}

// localCompact makes the store smaller.
func localCompact(c *call) (reply, error) {
	if c.api.cfg.Compact == nil {
		return reply{}, errdefs.New(errdefs.Unavailable, "no service runs")
	}
	result, err := c.api.cfg.Compact(c.r.Context())
	if err != nil {
		return reply{}, err
	}
	return ok(result)
}

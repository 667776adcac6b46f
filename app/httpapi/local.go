package httpapi

import (
	"opsmon/app/account"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/schema"
)

// The operations in this file are for the command line on the machine itself (decisions.md section 7). Their
// bodies come from that command line, over a channel that only the machine's administrator can use; they are
// checked all the same.

// localInit makes the first account.
func (api *configurationAPI) localInit(c *call) (reply, error) { return api.bootstrap(c, true) }

// localCreateAccount makes another account.
func (api *configurationAPI) localCreateAccount(c *call) (reply, error) {
	return api.bootstrap(c, false)
}

func (api *configurationAPI) bootstrap(c *call, first bool) (reply, error) {
	in, err := api.newAccount(c, schema.AccountCreate)
	if err != nil {
		return reply{}, err
	}
	by := c.p
	by.AccountID = ""
	result, err := api.Bootstrap(BootstrapInput{ID: in.ID, Domain: in.Domain, Email: in.Email, Manifest: in.Manifest, First: first, By: by})
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
func (api *configurationAPI) localAccounts(c *call) (reply, error) {
	archived := c.on("archived")
	if err := c.unclear(); err != nil {
		return reply{}, err
	}
	lines := []accountLine{}
	for _, a := range api.Accounts.List(archived) {
		lines = append(lines, lineOf(a))
	}
	return list(lines, -1)
}

func (api *configurationAPI) localArchive(c *call) (reply, error)   { return api.setArchived(c, true) }
func (api *configurationAPI) localUnarchive(c *call) (reply, error) { return api.setArchived(c, false) }

func (api *configurationAPI) setArchived(c *call, archived bool) (reply, error) {
	a, err := api.Accounts.SetArchived(c.p, archived)
	if err != nil {
		return reply{}, err
	}
	return ok(lineOf(a))
}

// localSet sets a field that no document and no API caller can: {name, value}.
func (api *configurationAPI) localSet(c *call) (reply, error) {
	in, err := c.texts("name", "value")
	if err != nil {
		return reply{}, err
	}
	a, err := api.Accounts.Set(c.p, in["name"], in["value"])
	if err != nil {
		return reply{}, err
	}
	return answerAccount(a, true), nil
}

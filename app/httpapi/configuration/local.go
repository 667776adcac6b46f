package configuration

import (
	"opsmon/app/account"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/schema"
)

// The operations in this file are for the command line on the machine itself (decisions.md section 7). Their
// bodies come from that command line, over a channel that only the machine's administrator can use; they are
// checked all the same.

// localInit makes the first account.
func (api *API) localInit(c *rest.Call) (rest.Reply, error) {
	return api.bootstrap(c, true)
}

// localCreateAccount makes another account.
func (api *API) localCreateAccount(c *rest.Call) (rest.Reply, error) {
	return api.bootstrap(c, false)
}

func (api *API) bootstrap(c *rest.Call, first bool) (rest.Reply, error) {
	in, err := api.newAccount(c, schema.AccountCreate)
	if err != nil {
		return rest.Reply{}, err
	}
	by := c.Principal
	by.AccountID = ""
	result, err := api.Bootstrap(BootstrapInput{ID: in.ID, Domain: in.Domain, Email: in.Email, Manifest: in.Manifest, First: first, By: by})
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(struct {
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
func (api *API) localAccounts(c *rest.Call) (rest.Reply, error) {
	archived := c.On("archived")
	if err := c.QueryError(); err != nil {
		return rest.Reply{}, err
	}
	lines := []accountLine{}
	for _, a := range api.Accounts.List(archived) {
		lines = append(lines, lineOf(a))
	}
	return rest.List(lines, -1)
}

func (api *API) localArchive(c *rest.Call) (rest.Reply, error) {
	return api.setArchived(c, true)
}
func (api *API) localUnarchive(c *rest.Call) (rest.Reply, error) {
	return api.setArchived(c, false)
}

func (api *API) setArchived(c *rest.Call, archived bool) (rest.Reply, error) {
	a, err := api.Accounts.SetArchived(c.Principal, archived)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(lineOf(a))
}

// localSet sets a field that no document and no API caller can: {name, value}.
func (api *API) localSet(c *rest.Call) (rest.Reply, error) {
	in, err := c.Strings("name", "value")
	if err != nil {
		return rest.Reply{}, err
	}
	a, err := api.Accounts.Set(c.Principal, in["name"], in["value"])
	if err != nil {
		return rest.Reply{}, err
	}
	return answerAccount(a, true), nil
}

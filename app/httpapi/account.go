package httpapi

import (
	"encoding/json"
	"strconv"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
)

// getAccount answers GET /account (http-api.md section 4, row 1) with bytes that are ready.
func getAccount(c *call) (reply, error) {
	snap, err := c.api.cfg.Accounts.Get(c.p.AccountID)
	if err != nil {
		return reply{}, err
	}
	return reply{rep: c.api.cfg.Accounts.Answer(snap, c.p.Role == auth.Admin)}, nil
}

// postAccount answers POST /account (row 2 and section 4.1).
func postAccount(c *call) (reply, error) {
	body, err := c.tree()
	if err != nil {
		return reply{}, err
	}
	a, err := c.api.cfg.Accounts.Update(c.p, body, c.match())
	if err != nil {
		return reply{}, err
	}
	return answerAccount(a, c.p.Role == auth.Admin), nil
}

func answerAccount(a *account.Account, secret bool) reply {
	b := a.AppendAnswer([]byte(`{"isSuccess":true,"result":`), secret)
	return reply{body: append(b, '}')}
}

// getManifest answers GET /account/manifest: the bare document (decisions.md section 3).
func getManifest(c *call) (reply, error) {
	snap, err := c.api.cfg.Accounts.Get(c.p.AccountID)
	if err != nil {
		return reply{}, err
	}
	return reply{rep: snap.Document()}, nil
}

// putManifest answers PUT /account/manifest.
func putManifest(c *call) (reply, error) {
	dry, err := c.dryRun()
	if err != nil {
		return reply{}, err
	}
	raw, err := c.bytes()
	if err != nil {
		return reply{}, err
	}
	if err := c.takeSlot(); err != nil {
		return reply{}, err
	}
	return applied(c.api.cfg.Accounts.Apply(c.p, account.ApplyInput{Raw: raw, DryRun: dry, Note: c.query("note"), Match: c.match()}))
}

// applied answers what a manifest changed. A list with nothing in it is a list all the same.
func applied(result *account.ApplyResult, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	shown := *result
	if shown.Changes == nil {
		shown.Changes = []account.Change{}
	}
	shown.Warnings = append([]errdefs.Detail{}, errdefs.Cap(shown.Warnings)...)
	return ok(shown)
}

// getRevisions answers GET /account/manifest/revisions.
func getRevisions(c *call) (reply, error) {
	limit, skip := c.page(100, 1000)
	if err := c.unclear(); err != nil {
		return reply{}, err
	}
	revisions, total, err := c.api.cfg.Accounts.Revisions(c.p, limit, skip)
	if err != nil {
		return reply{}, err
	}
	return list(revisions, total)
}

// revision reads the number in the path. What is no number is no revision either.
func (c *call) revision() (uint64, error) {
	n, err := strconv.ParseUint(c.params.ByName("revision"), 10, 64)
	if err != nil {
		return 0, errdefs.New(errdefs.NotFound, "there is no such revision; revisions are numbered from 1")
	}
	return n, nil
}

// getRevision answers GET /account/manifest/revisions/{revision}: the bare document.
func getRevision(c *call) (reply, error) {
	n, err := c.revision()
	if err != nil {
		return reply{}, err
	}
	if err := c.takeSlot(); err != nil { // a former revision is unpacked, whatever its size
		return reply{}, err
	}
	rep, err := c.api.cfg.Accounts.Revision(c.p, n)
	if err != nil {
		return reply{}, err
	}
	return reply{rep: rep}, nil
}

// getRevisionChanges answers GET /account/manifest/revisions/{revision}/changes: what makes another revision, the one
// before when none is named, into this one.
func getRevisionChanges(c *call) (reply, error) {
	to, err := c.revision()
	if err != nil {
		return reply{}, err
	}
	before := to - 1
	if text := c.query("from"); text != "" {
		if before, err = strconv.ParseUint(text, 10, 64); err != nil || before == 0 {
			return reply{}, errdefs.InvalidField("from", "must be the number of a revision, from 1 on; it is %q", shorten(text))
		}
	} else if to == 1 {
		return reply{}, errdefs.InvalidField("from", "is required for revision 1, which has none before it")
	}
	if err := c.takeSlot(); err != nil { // both are unpacked, whatever their size
		return reply{}, err
	}
	d, err := c.api.cfg.Accounts.Compare(c.p.AccountID, before, to)
	if err != nil {
		return reply{}, err
	}
	return ok(d)
}

// postRestore answers POST /account/manifest/revisions/{revision}/restore.
func postRestore(c *call) (reply, error) {
	n, err := c.revision()
	if err != nil {
		return reply{}, err
	}
	if err := c.takeSlot(); err != nil {
		return reply{}, err
	}
	return applied(c.api.cfg.Accounts.Restore(c.p, n, c.query("note"), c.match()))
}

// getStation answers GET /station/{stationCode} with the resolved configuration.
func getStation(c *call) (reply, error) {
	snap, err := c.api.cfg.Accounts.Get(c.p.AccountID)
	if err != nil {
		return reply{}, err
	}
	view, err := snap.Resolve(c.params.ByName("stationCode"))
	if err != nil {
		return reply{}, err
	}
	return ok(c.now(view))
}

// profile is who is behind the request.
//
// See http-api.md section 2.4.
//
//openapi:schema Profile
type profile struct {
	session
	Accounts []auth.Membership `json:"accounts"` // the accounts that the person belongs to
	APIKey   string            `json:"apiKey"`   // the API key that the request came with; empty for a session
	Account  profileAccount    `json:"account"`
	// Of a tablet alone: the name that it was paired with.
	TabletName string `json:"tabletName,omitempty"`
	// Of a tablet alone: the stations that it is bound to.
	StationCodes []string `json:"stationCodes,omitzero"`
}

// profileAccount is the account in short.
//
//openapi:schema ProfileAccount
type profileAccount struct {
	ID                       string `json:"id"`
	Domain                   string `json:"domain"`
	EnableLostProductionCost bool   `json:"enableLostProductionCost"` // whether the flag is on
	// Settings of the dashboard; empty when none are set.
	DashboardConfig json.RawMessage `json:"dashboardConfig" schema:"type=object"`
}

// never is how the end of a credential without one is shown.
var never = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

func ends(t time.Time) string {
	if t.IsZero() {
		t = never
	}
	return audit.Timestamp(t)
}

// getProfile answers GET /auth/profile (row 3).
func getProfile(c *call) (reply, error) {
	snap, err := c.api.cfg.Accounts.Get(c.p.AccountID)
	if err != nil {
		return reply{}, err
	}
	a := snap.Account
	out := profile{
		session: sessionOf(c.p, a.FlagsOn()), Accounts: c.api.cfg.Auth.Memberships(c.p.Email), APIKey: c.key,
		Account: profileAccount{a.ID, a.Domain, a.FlagOn(account.EnableLostProductionCost), a.DashboardConfig()},
	}
	if c.p.Tablet() { // it is of one account, with the role it was paired with
		out.Accounts = []auth.Membership{{Role: c.p.Role, AccountID: a.ID, Domain: a.Domain}}
		name, err := c.api.cfg.Auth.TabletName(c.p)
		if err != nil {
			return reply{}, err
		}
		out.TabletName, out.StationCodes = name, append([]string{}, c.p.StationCodes...)
	}
	return ok(out)
}

package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"opsmon/app/account"
	"opsmon/app/account/manifest"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/instant"
	"opsmon/schema"
)

// accountRoutes returns the operations on the account and its configuration.
func accountRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/account", handle: getAccount,
			text: openapi.Operation{
				ID: "getAccount", Tag: "Account", Summary: "Read the account",
				About: "The account with its whole configuration. Fields that are not set are null. Only admins see " +
					"`warehousePassword`. The entity tag is the number of the configuration's revision: send it " +
					"as `If-Match` with a change.",
				Answer: "The account.", Form: openapi.FormResult, Gives: "Account", Also: []int{400, 409}, Tagged: true,
			},
		},
		{
			method: http.MethodPost, path: "/account", handle: postAccount, role: auth.Member,
			text: openapi.Operation{
				ID: "updateAccount", Tag: "Account", Summary: "Change fields of the account",
				About: "Absent fields stay as they are; null clears a field. A body that changes nothing succeeds " +
					"and makes no revision. Send `dashboardConfig` as a string that holds a JSON object. The " +
					"manifest shows the change at once.\n\n409: the configuration's revision is not the one in " +
					"`If-Match`, or the account is archived.",
				Answer: "The account as it is now, without its manifest.", Body: schema.AccountUpdate,
				Form: openapi.FormResult, Gives: "UpdatedAccount", Also: []int{409}, Match: true,
			},
		},
		{
			method: http.MethodGet, path: "/account/manifest", handle: getManifest,
			text: openapi.Operation{
				ID: "getManifest", Tag: "Account", Summary: "Read the manifest",
				About: "The document as a file to keep or edit, without an envelope. The order of lists and the " +
					"digits of numbers are those that were sent. It holds no secrets.",
				Answer: "The manifest.", Form: openapi.FormBare, Gives: "Manifest", Tagged: true,
			},
		},
		{
			method: http.MethodPut, path: "/account/manifest", handle: putManifest, role: auth.Member,
			query: []string{"dryrun", "note"}, limit: manifestLimit,
			text: openapi.Operation{
				ID: "applyManifest", Tag: "Account", Summary: "Replace the manifest",
				About: "The document is the complete configuration: a field that it lacks is cleared. It is checked " +
					"first, and all problems are listed at once. Equal content makes no revision. With " +
					"`dryrun=true` nothing is stored, and the answer lists the changes.\n\n`id` and `domain` " +
					"must be the account's own; fields that the system maintains are ignored. 409: they belong " +
					"to another account, there are more stations than `stationCountLimit` allows, the " +
					"configuration's revision is not the one in `If-Match`, or the account is archived.",
				Answer: "What changed.", Body: schema.Manifest, Form: openapi.FormResult, Gives: "ApplyResult",
				Also: []int{409}, Match: true, Sample: applySample,
			},
		},
		{
			method: http.MethodGet, path: "/account/manifest/revisions", handle: getRevisions,
			query: []string{"limit", "skip"},
			text: openapi.Operation{
				ID: "listRevisions", Tag: "Account", Summary: "List the revisions of the configuration",
				About: "Every accepted change makes a revision. The newest comes first. Revisions are never " +
					"overwritten.",
				Answer: "A page of revisions.", Form: openapi.FormPage, Gives: "Revision", Also: []int{400},
				Sample: `{"revision":3,"createdAt":"2026-11-20T08:15:30.123Z","author":"planner@acme.example",
					"note":"third packing line"}`,
			},
		},
		{
			method: http.MethodGet, path: "/account/manifest/revisions/:revision", handle: getRevision,
			text: openapi.Operation{
				ID: "getRevision", Tag: "Account", Summary: "Read the manifest of a revision",
				About:  "The document as it was, without an envelope.",
				Answer: "The manifest of that revision.", Form: openapi.FormBare, Gives: "Manifest", Also: []int{404},
				Tagged: true,
			},
		},
		{
			method: http.MethodGet, path: "/account/manifest/revisions/:revision/changes", handle: getRevisionChanges,
			query: []string{"from"},
			text: openapi.Operation{
				ID: "compareRevisions", Tag: "Account", Summary: "Compare a revision with another",
				About: "The changes that lead from the revision `from` (default: the previous one) to this one, in " +
					"the form of `PUT /account/manifest`. `from` may be the later one: the answer then lists " +
					"what going back would change.",
				Answer: "The changes.", Form: openapi.FormResult, Gives: "Difference", Also: []int{400, 404},
				Sample: `{"from":3,"to":4,"totalChanges":1,
					"changes":[{"path":"stations[PACK-1].name","kind":"changed","from":"Packer","to":"Packer 1"}]}`,
				Params: openapi.Params{
					"from": {
						About:  "Number of the revision to compare with. Default: the previous one.",
						Schema: `{"type": "integer", "minimum": 1}`, Example: 3,
					},
				},
			},
		},
		{
			method: http.MethodPost, path: "/account/manifest/revisions/:revision/restore", handle: postRestore,
			role: auth.Member, query: []string{"note"},
			text: openapi.Operation{
				ID: "restoreRevision", Tag: "Account", Summary: "Restore a revision",
				About: "Makes a new revision with the manifest of an earlier one. It is checked like any other " +
					"manifest.\n\n409: as for `PUT /account/manifest`.",
				Answer: "What changed.", Form: openapi.FormResult, Gives: "ApplyResult", Also: []int{404, 409}, Match: true,
				Sample: applySample,
			},
		},
		{
			method: http.MethodGet, path: "/auth/profile", handle: getProfile,
			text: openapi.Operation{
				ID: "getProfile", Tag: "Authenticate", Summary: "Read your own profile",
				About:  "The caller's identity, account and role, and the other accounts of the same person.",
				Answer: "The profile.", Form: openapi.FormResult, Gives: "Profile", Also: []int{400, 409},
				Sample: profileSample,
			},
		},
	}
}

// getAccount handles GET /account (http-api.md section 4, row 1) with prepared bytes.
func getAccount(c *call) (reply, error) {
	snap, err := c.api.cfg.Accounts.Get(c.p.AccountID)
	if err != nil {
		return reply{}, err
	}
	return reply{rep: c.api.cfg.Accounts.Answer(snap, c.p.Role == auth.Admin)}, nil
}

// postAccount handles POST /account (row 2 and section 4.1).
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

// getManifest handles GET /account/manifest: the bare document (decisions.md section 3).
func getManifest(c *call) (reply, error) {
	snap, err := c.api.cfg.Accounts.Get(c.p.AccountID)
	if err != nil {
		return reply{}, err
	}
	return reply{rep: snap.Document()}, nil
}

// putManifest handles PUT /account/manifest.
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

// applied answers with the changes by a manifest. Empty lists are encoded as lists, not null.
func applied(result *account.ApplyResult, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	shown := *result
	if shown.Changes == nil {
		shown.Changes = []manifest.Change{}
	}
	shown.Warnings = append([]errdefs.Detail{}, errdefs.Cap(shown.Warnings)...)
	return ok(shown)
}

// getRevisions handles GET /account/manifest/revisions.
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

// revision parses the revision number in the path. Anything else is an unknown revision.
func (c *call) revision() (uint64, error) {
	n, err := strconv.ParseUint(c.params.ByName("revision"), 10, 64)
	if err != nil {
		return 0, errdefs.New(errdefs.NotFound, "there is no such revision; revisions are numbered from 1")
	}
	return n, nil
}

// getRevision handles GET /account/manifest/revisions/{revision}: the bare document.
func getRevision(c *call) (reply, error) {
	n, err := c.revision()
	if err != nil {
		return reply{}, err
	}
	if err := c.takeSlot(); err != nil { // an old revision must be decompressed, whatever its size
		return reply{}, err
	}
	rep, err := c.api.cfg.Accounts.Revision(c.p, n)
	if err != nil {
		return reply{}, err
	}
	return reply{rep: rep}, nil
}

// getRevisionChanges handles GET /account/manifest/revisions/{revision}/changes: the changes from another revision, by
// default the one before, to this one.
func getRevisionChanges(c *call) (reply, error) {
	to, err := c.revision()
	if err != nil {
		return reply{}, err
	}
	before := to - 1
	if text := c.query("from"); text != "" {
		if before, err = strconv.ParseUint(text, 10, 64); err != nil || before == 0 {
			return reply{}, errdefs.InvalidField("from", "must be the number of a revision, from 1 on; it is %q", errdefs.Shorten(text))
		}
	} else if to == 1 {
		return reply{}, errdefs.InvalidField("from", "is required for revision 1, which has none before it")
	}
	if err := c.takeSlot(); err != nil { // both must be decompressed, whatever their size
		return reply{}, err
	}
	d, err := c.api.cfg.Accounts.Compare(c.p.AccountID, before, to)
	if err != nil {
		return reply{}, err
	}
	return ok(d)
}

// postRestore handles POST /account/manifest/revisions/{revision}/restore.
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

// profile is the caller.
//
// See http-api.md section 2.4.
//
//openapi:schema Profile
type profile struct {
	session
	Accounts []auth.Membership `json:"accounts"` // the accounts that the person belongs to
	APIKey   string            `json:"apiKey"`   // the API key that the request came with; empty for a session
	Account  profileAccount    `json:"account"`
	// Only for tablets: the tablet's name.
	TabletName string `json:"tabletName,omitempty"`
	// Only for tablets: its stations.
	StationCodes []string `json:"stationCodes,omitzero"`
}

// profileAccount is the account in brief.
//
//openapi:schema ProfileAccount
type profileAccount struct {
	ID                       string `json:"id"`
	Domain                   string `json:"domain"`
	EnableLostProductionCost bool   `json:"enableLostProductionCost"` // whether the flag is on
	// Settings of the dashboard; empty when none are set.
	DashboardConfig json.RawMessage `json:"dashboardConfig" schema:"type=object"`
}

// never is the expiry shown for a credential that does not expire.
var never = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

func ends(t time.Time) string {
	if t.IsZero() {
		t = never
	}
	return instant.Format(t)
}

// getProfile handles GET /auth/profile (row 3).
func getProfile(c *call) (reply, error) {
	snap, err := c.api.cfg.Accounts.Get(c.p.AccountID)
	if err != nil {
		return reply{}, err
	}
	a := snap.Account
	out := profile{
		session: sessionOf(c.p, a.FlagsOn()), Accounts: c.api.cfg.Auth.Memberships(c.p.Email), APIKey: c.key,
		Account: profileAccount{a.ID, a.Domain, a.FlagOn(manifest.EnableLostProductionCost), a.DashboardConfig()},
	}
	if c.p.Tablet() { // a tablet belongs to one account, with the role that it was paired with
		out.Accounts = []auth.Membership{{Role: c.p.Role, AccountID: a.ID, Domain: a.Domain}}
		name, err := c.api.cfg.Auth.TabletName(c.p)
		if err != nil {
			return reply{}, err
		}
		out.TabletName, out.StationCodes = name, append([]string{}, c.p.StationCodes...)
	}
	return ok(out)
}

// applySample is an example of an answer.
const applySample = `{"revision":4,"changed":true,"totalChanges":1,
	"changes":[{"path":"stations[PACK-1].name","kind":"changed","from":"Packer","to":"Packer 1"}],"warnings":[]}`

// profileSample is an example of an answer.
const profileSample = `{"email":"planner@acme.example","exp":"9999-12-31T23:59:59.000Z","userRole":"customer",
	"accountId":"acme","role":"member","featureFlags":["enableTasks"],"type":"apiKey",
	"accounts":[{"role":"member","accountId":"acme","domain":"acme.example"}],
	"apiKey":"opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x",
	"account":{"id":"acme","domain":"acme.example","enableLostProductionCost":false,"dashboardConfig":{}}}`

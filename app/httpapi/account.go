package httpapi

import (
	"net/http"
	"slices"
	"strconv"

	"opsmon/app/account"
	"opsmon/app/account/manifest"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/errdefs"
	"opsmon/app/httpapi/openapi"
	"opsmon/schema"
)

// configurationAPI serves the account, its configuration and its audit records.
type configurationAPI struct {
	Accounts *account.Service
	Auth     *auth.Service
	Floor    *floor.Floor
	// Audit returns audit records of an account, newest first, in pages.
	Audit func(accountID string, q audit.Query) (audit.Page, error)
	// Bootstrap creates an account, its first administrator and a key in one transaction.
	Bootstrap func(BootstrapInput) (*BootstrapResult, error)
	// SetupCode returns the one-time code for the set-up of an empty store; "": the store is not empty.
	SetupCode func() string
}

// Routes returns the operations on the network.
func (api *configurationAPI) Routes() []route {
	return slices.Concat(api.accountRoutes(), api.directoryRoutes(), api.auditRoutes(), cronRoutes(), api.setupRoutes())
}

// LocalRoutes returns the operations for the local command line.
func (api *configurationAPI) LocalRoutes() []route {
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{method: post, path: "/local/init", handle: api.localInit, anyAccount: true, limit: manifestLimit},
		{method: get, path: "/local/account", handle: api.localAccounts, anyAccount: true},
		{method: post, path: "/local/account", handle: api.localCreateAccount, anyAccount: true, limit: manifestLimit},
		{method: post, path: "/local/account/archive", handle: api.localArchive},
		{method: post, path: "/local/account/unarchive", handle: api.localUnarchive, archived: true},
		{method: post, path: "/local/account/set", handle: api.localSet},
	}
}

// accountRoutes returns the operations on the account and its configuration.
func (api *configurationAPI) accountRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/account", handle: api.getAccount,
			operation: openapi.Operation{
				ID: "getAccount", Tag: "Account", Summary: "Read the account",
				About: "The account with its whole configuration. Fields that are not set are null. Only admins see " +
					"`warehousePassword`. The entity tag is the number of the configuration's revision: send it " +
					"as `If-Match` with a change.",
				Answer: "The account.", Form: openapi.FormResult, Gives: "Account", Also: []int{400, 409}, Tagged: true,
			},
		},
		{
			method: http.MethodPost, path: "/account", handle: api.postAccount, role: auth.Member,
			operation: openapi.Operation{
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
			method: http.MethodGet, path: "/account/manifest", handle: api.getManifest,
			operation: openapi.Operation{
				ID: "getManifest", Tag: "Account", Summary: "Read the manifest",
				About: "The document as a file to keep or edit, without an envelope. The order of lists and the " +
					"digits of numbers are those that were sent. It holds no secrets.",
				Answer: "The manifest.", Form: openapi.FormBare, Gives: "Manifest", Tagged: true,
			},
		},
		{
			method: http.MethodPut, path: "/account/manifest", handle: api.putManifest, role: auth.Member,
			query: []string{"dryrun", "note"}, limit: manifestLimit,
			operation: openapi.Operation{
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
			method: http.MethodGet, path: "/account/manifest/revisions", handle: api.getRevisions,
			query: []string{"limit", "skip"},
			operation: openapi.Operation{
				ID: "listRevisions", Tag: "Account", Summary: "List the revisions of the configuration",
				About: "Every accepted change makes a revision. The newest comes first. Revisions are never " +
					"overwritten.",
				Answer: "A page of revisions.", Form: openapi.FormPage, Gives: "Revision", Also: []int{400},
				Sample: `{"revision":3,"createdAt":"2026-11-20T08:15:30.123Z","author":"planner@acme.example",
					"note":"third packing line"}`,
			},
		},
		{
			method: http.MethodGet, path: "/account/manifest/revisions/:revision", handle: api.getRevision,
			operation: openapi.Operation{
				ID: "getRevision", Tag: "Account", Summary: "Read the manifest of a revision",
				About:  "The document as it was, without an envelope.",
				Answer: "The manifest of that revision.", Form: openapi.FormBare, Gives: "Manifest", Also: []int{404},
				Tagged: true,
			},
		},
		{
			method: http.MethodGet, path: "/account/manifest/revisions/:revision/changes", handle: api.getRevisionChanges,
			query: []string{"from"},
			operation: openapi.Operation{
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
			method: http.MethodPost, path: "/account/manifest/revisions/:revision/restore", handle: api.postRestore,
			role: auth.Member, query: []string{"note"},
			operation: openapi.Operation{
				ID: "restoreRevision", Tag: "Account", Summary: "Restore a revision",
				About: "Makes a new revision with the manifest of an earlier one. It is checked like any other " +
					"manifest.\n\n409: as for `PUT /account/manifest`.",
				Answer: "What changed.", Form: openapi.FormResult, Gives: "ApplyResult", Also: []int{404, 409}, Match: true,
				Sample: applySample,
			},
		},
	}
}

// getAccount handles GET /account (http-api.md section 4, row 1) with prepared bytes.
func (api *configurationAPI) getAccount(c *call) (reply, error) {
	snap, err := api.Accounts.Get(c.p.AccountID)
	if err != nil {
		return reply{}, err
	}
	return reply{rep: api.Accounts.Answer(snap, c.p.Role == auth.Admin)}, nil
}

// postAccount handles POST /account (row 2 and section 4.1).
func (api *configurationAPI) postAccount(c *call) (reply, error) {
	body, err := c.tree()
	if err != nil {
		return reply{}, err
	}
	a, err := api.Accounts.Update(c.p, body, c.match())
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
func (api *configurationAPI) getManifest(c *call) (reply, error) {
	snap, err := api.Accounts.Get(c.p.AccountID)
	if err != nil {
		return reply{}, err
	}
	return reply{rep: snap.Document()}, nil
}

// putManifest handles PUT /account/manifest.
func (api *configurationAPI) putManifest(c *call) (reply, error) {
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
	return applied(api.Accounts.Apply(c.p, account.ApplyInput{Raw: raw, DryRun: dry, Note: c.query("note"), Match: c.match()}))
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
func (api *configurationAPI) getRevisions(c *call) (reply, error) {
	limit, skip := c.page(100, 1000)
	if err := c.unclear(); err != nil {
		return reply{}, err
	}
	revisions, total, err := api.Accounts.Revisions(c.p, limit, skip)
	if err != nil {
		return reply{}, err
	}
	return list(revisions, total)
}

// revision parses the revision number in the path. Anything else is an unknown revision.
func revision(c *call) (uint64, error) {
	n, err := strconv.ParseUint(c.params.ByName("revision"), 10, 64)
	if err != nil {
		return 0, errdefs.New(errdefs.NotFound, "there is no such revision; revisions are numbered from 1")
	}
	return n, nil
}

// getRevision handles GET /account/manifest/revisions/{revision}: the bare document.
func (api *configurationAPI) getRevision(c *call) (reply, error) {
	n, err := revision(c)
	if err != nil {
		return reply{}, err
	}
	if err := c.takeSlot(); err != nil { // an old revision must be decompressed, whatever its size
		return reply{}, err
	}
	rep, err := api.Accounts.Revision(c.p, n)
	if err != nil {
		return reply{}, err
	}
	return reply{rep: rep}, nil
}

// getRevisionChanges handles GET /account/manifest/revisions/{revision}/changes: the changes from another revision, by
// default the one before, to this one.
func (api *configurationAPI) getRevisionChanges(c *call) (reply, error) {
	to, err := revision(c)
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
	d, err := api.Accounts.Compare(c.p.AccountID, before, to)
	if err != nil {
		return reply{}, err
	}
	return ok(d)
}

// postRestore handles POST /account/manifest/revisions/{revision}/restore.
func (api *configurationAPI) postRestore(c *call) (reply, error) {
	n, err := revision(c)
	if err != nil {
		return reply{}, err
	}
	if err := c.takeSlot(); err != nil {
		return reply{}, err
	}
	return applied(api.Accounts.Restore(c.p, n, c.query("note"), c.match()))
}

// applySample is an example of an answer.
const applySample = `{"revision":4,"changed":true,"totalChanges":1,
	"changes":[{"path":"stations[PACK-1].name","kind":"changed","from":"Packer","to":"Packer 1"}],"warnings":[]}`

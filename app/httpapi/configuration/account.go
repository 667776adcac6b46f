// Package configuration serves the account, the revisions of its manifest and its audit records.
package configuration

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
	"opsmon/app/httpapi/rest"
	"opsmon/schema"
)

// API has the services of these operations.
type API struct {
	Accounts *account.Service
	Floor    *floor.Floor
	// Audit returns audit records of an account, newest first, in pages.
	Audit func(accountID string, q audit.Query) (audit.Page, error)
	// Bootstrap creates an account, its first administrator and a key in one transaction.
	Bootstrap func(BootstrapInput) (*BootstrapResult, error)
	// SetupCode returns the one-time code for the set-up of an empty store; "": the store is not empty.
	SetupCode func() string
}

// Routes returns the operations on the network.
func (api *API) Routes() []rest.Route {
	return slices.Concat(api.accountRoutes(), api.directoryRoutes(), api.auditRoutes(), cronRoutes(), api.setupRoutes())
}

// LocalRoutes returns the operations for the local command line.
func (api *API) LocalRoutes() []rest.Route {
	const get, post = http.MethodGet, http.MethodPost
	return []rest.Route{
		{Method: post, Path: "/local/init", Handle: api.localInit, AnyAccount: true, Limit: rest.ManifestLimit},
		{Method: get, Path: "/local/account", Handle: api.localAccounts, AnyAccount: true},
		{Method: post, Path: "/local/account", Handle: api.localCreateAccount, AnyAccount: true, Limit: rest.ManifestLimit},
		{Method: post, Path: "/local/account/archive", Handle: api.localArchive},
		{Method: post, Path: "/local/account/unarchive", Handle: api.localUnarchive, Archived: true},
		{Method: post, Path: "/local/account/set", Handle: api.localSet},
	}
}

// accountRoutes returns the operations on the account and its configuration.
func (api *API) accountRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/account", Handle: api.getAccount,
			Operation: openapi.Operation{
				ID: "getAccount", Tag: "Account", Summary: "Read the account",
				About: "The account with its whole configuration. Fields that are not set are null. Only admins see " +
					"`warehousePassword`. The entity tag is the number of the configuration's revision: send it " +
					"as `If-Match` with a change.",
				Answer: "The account.", Form: openapi.FormResult, Gives: "Account", Also: []int{400, 409}, Tagged: true,
			},
		},
		{
			Method: http.MethodPost, Path: "/account", Handle: api.postAccount, Role: auth.Member,
			Operation: openapi.Operation{
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
			Method: http.MethodGet, Path: "/account/manifest", Handle: api.getManifest,
			Operation: openapi.Operation{
				ID: "getManifest", Tag: "Account", Summary: "Read the manifest",
				About: "The document as a file to keep or edit, without an envelope. The order of lists and the " +
					"digits of numbers are those that were sent. It holds no secrets.",
				Answer: "The manifest.", Form: openapi.FormBare, Gives: "Manifest", Tagged: true,
			},
		},
		{
			Method: http.MethodPut, Path: "/account/manifest", Handle: api.putManifest, Role: auth.Member,
			Query: []string{"dryrun", "note"}, Limit: rest.ManifestLimit,
			Operation: openapi.Operation{
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
			Method: http.MethodGet, Path: "/account/manifest/revisions", Handle: api.getRevisions,
			Query: []string{"limit", "skip"},
			Operation: openapi.Operation{
				ID: "listRevisions", Tag: "Account", Summary: "List the revisions of the configuration",
				About: "Every accepted change makes a revision. The newest comes first. Revisions are never " +
					"overwritten.",
				Answer: "A page of revisions.", Form: openapi.FormPage, Gives: "Revision", Also: []int{400},
				Sample: `{"revision":3,"createdAt":"2026-11-20T08:15:30.123Z","author":"planner@acme.example",
					"note":"third packing line"}`,
			},
		},
		{
			Method: http.MethodGet, Path: "/account/manifest/revisions/:revision", Handle: api.getRevision,
			Operation: openapi.Operation{
				ID: "getRevision", Tag: "Account", Summary: "Read the manifest of a revision",
				About:  "The document as it was, without an envelope.",
				Answer: "The manifest of that revision.", Form: openapi.FormBare, Gives: "Manifest", Also: []int{404},
				Tagged: true,
			},
		},
		{
			Method: http.MethodGet, Path: "/account/manifest/revisions/:revision/changes", Handle: api.getRevisionChanges,
			Query: []string{"from"},
			Operation: openapi.Operation{
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
			Method: http.MethodPost, Path: "/account/manifest/revisions/:revision/restore", Handle: api.postRestore,
			Role: auth.Member, Query: []string{"note"},
			Operation: openapi.Operation{
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
func (api *API) getAccount(c *rest.Call) (rest.Reply, error) {
	snap, err := api.Accounts.Get(c.Principal.AccountID)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{Representation: api.Accounts.Answer(snap, c.Principal.Role == auth.Admin)}, nil
}

// postAccount handles POST /account (row 2 and section 4.1).
func (api *API) postAccount(c *rest.Call) (rest.Reply, error) {
	body, err := c.JSON()
	if err != nil {
		return rest.Reply{}, err
	}
	a, err := api.Accounts.Update(c.Principal, body, c.IfMatch())
	if err != nil {
		return rest.Reply{}, err
	}
	return answerAccount(a, c.Principal.Role == auth.Admin), nil
}

func answerAccount(a *account.Account, secret bool) rest.Reply {
	b := a.AppendAnswer([]byte(`{"isSuccess":true,"result":`), secret)
	return rest.Reply{Body: append(b, '}')}
}

// getManifest handles GET /account/manifest: the bare document (decisions.md section 3).
func (api *API) getManifest(c *rest.Call) (rest.Reply, error) {
	snap, err := api.Accounts.Get(c.Principal.AccountID)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{Representation: snap.Document()}, nil
}

// putManifest handles PUT /account/manifest.
func (api *API) putManifest(c *rest.Call) (rest.Reply, error) {
	dry, err := c.DryRun()
	if err != nil {
		return rest.Reply{}, err
	}
	raw, err := c.Bytes()
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitManifest(); err != nil {
		return rest.Reply{}, err
	}
	return applied(api.Accounts.Apply(c.Principal, account.ApplyInput{Raw: raw, DryRun: dry, Note: c.Query("note"), Match: c.IfMatch()}))
}

// applied answers with the changes by a manifest. Empty lists are encoded as lists, not null.
func applied(result *account.ApplyResult, err error) (rest.Reply, error) {
	if err != nil {
		return rest.Reply{}, err
	}
	shown := *result
	if shown.Changes == nil {
		shown.Changes = []manifest.Change{}
	}
	shown.Warnings = append([]errdefs.Detail{}, errdefs.Cap(shown.Warnings)...)
	return rest.OK(shown)
}

// getRevisions handles GET /account/manifest/revisions.
func (api *API) getRevisions(c *rest.Call) (rest.Reply, error) {
	limit, skip := c.Page(100, 1000)
	if err := c.QueryError(); err != nil {
		return rest.Reply{}, err
	}
	revisions, total, err := api.Accounts.Revisions(c.Principal, limit, skip)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.List(revisions, total)
}

// revision parses the revision number in the path. Anything else is an unknown revision.
func revision(c *rest.Call) (uint64, error) {
	n, err := strconv.ParseUint(c.Params.ByName("revision"), 10, 64)
	if err != nil {
		return 0, errdefs.New(errdefs.NotFound, "there is no such revision; revisions are numbered from 1")
	}
	return n, nil
}

// getRevision handles GET /account/manifest/revisions/{revision}: the bare document.
func (api *API) getRevision(c *rest.Call) (rest.Reply, error) {
	n, err := revision(c)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitManifest(); err != nil { // an old revision must be decompressed, whatever its size
		return rest.Reply{}, err
	}
	rep, err := api.Accounts.Revision(c.Principal, n)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{Representation: rep}, nil
}

// getRevisionChanges handles GET /account/manifest/revisions/{revision}/changes: the changes from another revision, by
// default the one before, to this one.
func (api *API) getRevisionChanges(c *rest.Call) (rest.Reply, error) {
	to, err := revision(c)
	if err != nil {
		return rest.Reply{}, err
	}
	before := to - 1
	if text := c.Query("from"); text != "" {
		if before, err = strconv.ParseUint(text, 10, 64); err != nil || before == 0 {
			return rest.Reply{}, errdefs.InvalidField("from", "must be the number of a revision, from 1 on; it is %q", errdefs.Shorten(text))
		}
	} else if to == 1 {
		return rest.Reply{}, errdefs.InvalidField("from", "is required for revision 1, which has none before it")
	}
	if err := c.WaitManifest(); err != nil { // both must be decompressed, whatever their size
		return rest.Reply{}, err
	}
	d, err := api.Accounts.Compare(c.Principal.AccountID, before, to)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(d)
}

// postRestore handles POST /account/manifest/revisions/{revision}/restore.
func (api *API) postRestore(c *rest.Call) (rest.Reply, error) {
	n, err := revision(c)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.WaitManifest(); err != nil {
		return rest.Reply{}, err
	}
	return applied(api.Accounts.Restore(c.Principal, n, c.Query("note"), c.IfMatch()))
}

// applySample is an example of an answer.
const applySample = `{"revision":4,"changed":true,"totalChanges":1,
	"changes":[{"path":"stations[PACK-1].name","kind":"changed","from":"Packer","to":"Packer 1"}],"warnings":[]}`

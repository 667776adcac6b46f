package httpapi

import (
	"net/http"

	"opsmon/app/auth"
)

// access says what a route asks of the caller.
type access uint8

const (
	keyed access = iota // an API key or a session; the zero value, so that a forgotten field locks and does not open
	open                // nothing
)

// route is one operation. The table of routes is all there is: the router, the tests and the OpenAPI document
// are made from it.
type route struct {
	method, path string
	access       access
	role         auth.Role // the least role; the domain checks what depends on more than the role
	handle       func(*call) (reply, error)
	query        []string // parameters that it takes
	body         bool     // its handler reports problems with the query together with those of the body: decode, act
	limit        int64    // of the body, in bytes; 0 = bodyLimit, or strangerLimit where no credential is needed
	noHead       bool     // GET that changes something
	once         bool     // takes an idempotency key: a write of the floor, which is kept when it is refused, unless it is desk
	desk         bool     // no write of the floor: who sends it sees the answer, and nobody else is told when it is refused
	bearer       bool     // takes the key as a bearer token too
	devices      bool     // devices may use it too
	anyAccount   bool     // a local operation that is about no account
	archived     bool     // a local operation that is about an archived account
	storeless    bool     // answered also when there is no store

	tally *tally
}

// prepare fills in what a route leaves to its defaults.
func (rt *route) prepare(m *meters) {
	if rt.limit == 0 {
		rt.limit = bodyLimit
		if rt.access == open {
			rt.limit = strangerLimit
		}
	}
	if rt.role == "" {
		rt.role = auth.Readonly
	}
	rt.tally = m.of(rt.method, rt.path)
}

// crossSite tells whether a browser could be made to send the request from another site to some effect.
func (rt *route) crossSite() bool { return rt.method != http.MethodGet || rt.noHead }

// routes is the table of what the network may use: http-api.md section 4 and decisions.md sections 3 to 6.
func (a *API) routes() []route {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	return []route{
		{method: get, path: "/account", handle: getAccount},
		{method: post, path: "/account", handle: postAccount, role: auth.Member},
		{method: get, path: "/account/manifest", handle: getManifest},
		{method: put, path: "/account/manifest", handle: putManifest, role: auth.Member, query: []string{"dryrun", "note"}, limit: manifestLimit},
		{method: get, path: "/account/manifest/revisions", handle: getRevisions, query: []string{"limit", "skip"}},
		{method: get, path: "/account/manifest/revisions/:revision", handle: getRevision},
		{method: get, path: "/account/manifest/revisions/:revision/changes", handle: getRevisionChanges, query: []string{"from"}},
		{method: post, path: "/account/manifest/revisions/:revision/restore", handle: postRestore, role: auth.Member, query: []string{"note"}},
		{method: get, path: "/directory", handle: getDirectory},
		{method: get, path: "/station", handle: getStations, query: []string{"plantcode", "groupcode", "stationcodes", "archived"}},
		{method: get, path: "/station/:stationCode", handle: getStation},
		{method: post, path: "/station/:stationCode/operator", handle: postStationOperator, body: true, role: auth.Operator},
		{method: post, path: "/station/:stationCode/alert", handle: postStationAlert, body: true, role: auth.Supervisor},

		{method: get, path: "/schedule", handle: getSchedules, query: append(chosenBy(), "state", "limit", "skip")},
		{method: post, path: "/schedule", handle: postSchedule, body: true, role: auth.Supervisor, once: true, query: []string{"dryrun"}},
		{method: get, path: "/schedule/:scheduleId", handle: getSchedule},
		{method: del, path: "/schedule/:scheduleId", handle: deleteSchedule, role: auth.Supervisor, once: true},
		{method: post, path: "/schedule/:scheduleId/start", handle: startSchedule, body: true, role: auth.Operator, once: true, query: []string{"endrunning"}},
		{method: post, path: "/schedule/:scheduleId/end", handle: endSchedule, body: true, role: auth.Operator, once: true},
		{method: post, path: "/schedule/:scheduleId/move", handle: moveSchedule, body: true, role: auth.Supervisor, once: true, query: []string{"dryrun"}},
		{method: post, path: "/quick-schedule", handle: postQuickSchedule, body: true, role: auth.Operator, once: true, query: []string{"endrunning"}},
		{method: get, path: "/production", handle: getProduction, query: append(chosenBy(), "limit", "skip")},
		{method: post, path: "/production", handle: postProduction, body: true, role: auth.Operator, once: true},
		{method: post, path: "/production/:entryId/undo", handle: undoProduction, body: true, role: auth.Operator, once: true},
		{method: get, path: "/refused", handle: getRefused, role: auth.Supervisor, query: []string{"limit", "skip"}},
		{method: get, path: "/station-window", handle: getStationWindows, query: append(chosenBy(), "resolution", "limit", "skip")},
		{method: get, path: "/timeline", handle: getTimeline, query: []string{"stationcode", "from", "to", "rangecode", "points", "archived"}},
		{method: get, path: "/oee", handle: getOEE, query: append(chosenBy(), "by", "profile")},
		{method: get, path: "/energy", handle: getEnergy, query: append(chosenBy(), "by")},
		{method: get, path: "/pareto", handle: getPareto, query: chosenBy()},
		{method: get, path: "/analysis/cycletime", handle: getCycleTimes, query: chosenBy()},
		{method: get, path: "/analysis/standstill", handle: getStandstill, query: []string{"stationcode", "from", "to", "rangecode", "archived", "limit"}},
		{method: post, path: "/analysis/tuning", handle: postTuning, body: true, role: auth.Supervisor},
		{method: get, path: "/cron", handle: getCron, query: []string{"pattern", "timezone", "count"}},
		{method: get, path: "/export/:table", handle: getExport, query: append(chosenBy(), "resolution")},

		{method: get, path: "/auth/profile", handle: getProfile},
		{method: get, path: "/auth/callback", handle: getCallback, access: open, query: []string{"token"}, noHead: true},
		{method: post, path: "/auth/login", handle: postLogin, body: true, access: open},
		{method: post, path: "/auth/logout", handle: postLogout},
		{method: post, path: "/auth/approve", handle: postApprove, body: true, access: open},
		{method: post, path: "/auth/claim", handle: postClaim, access: open},
		{method: post, path: "/auth/account", handle: postAuthAccount, body: true},

		{method: get, path: "/session", handle: getSessions},
		{method: del, path: "/session", handle: deleteSessions, query: []string{"keepthis"}},
		{method: get, path: "/key", handle: getKeys},
		{method: post, path: "/key", handle: postKey, body: true},
		{method: del, path: "/key/:key", handle: deleteKey},

		{method: get, path: "/user", handle: getUsers, role: auth.Admin},
		{method: post, path: "/user", handle: postUser, body: true, role: auth.Admin},
		{method: get, path: "/user/:email", handle: getUser, role: auth.Admin},
		{method: put, path: "/user/:email", handle: putUser, body: true, role: auth.Admin},
		{method: del, path: "/user/:email", handle: deleteUser, role: auth.Admin},
		{method: del, path: "/user/:email/session", handle: deleteUserSessions, role: auth.Admin},
		{method: get, path: "/login-request", handle: getLoginRequests, role: auth.Admin},
		{method: post, path: "/login-request/:code/link", handle: postLoginLink, role: auth.Admin},
		{method: get, path: "/tablet", handle: getTablets, role: auth.Admin},
		{method: post, path: "/tablet", handle: postTablet, body: true, role: auth.Admin},
		{method: del, path: "/tablet/:id", handle: deleteTablet, role: auth.Admin},
		{method: get, path: "/device", handle: getDevices, role: auth.Admin},
		{method: post, path: "/device", handle: postDevice, body: true, role: auth.Admin},
		{method: del, path: "/device/:device", handle: deleteDevice, role: auth.Admin},
		{method: get, path: "/signal", handle: getSignals, query: []string{"stationcode", "from", "to", "rangecode", "archived", "limit", "skip"}},
		{method: post, path: "/signal", handle: postSignal, role: auth.Member, devices: true, limit: signalLimit},
		{method: get, path: "/task", handle: getTasks, query: append(chosenBy(), "stationcode", "state", "limit", "skip")},
		{method: post, path: "/task/:taskId/complete", handle: completeTask, body: true, role: auth.Operator, once: true},
		{method: post, path: "/task-list/:taskListCode/start", handle: startTaskList, body: true, role: auth.Operator, once: true},
		{method: get, path: "/message", handle: getMessages, query: []string{"plantcode", "groupcode", "stationcodes", "archived", "open", "limit"}},
		{method: post, path: "/message", handle: postMessage, body: true, role: auth.Operator, once: true},
		{method: post, path: "/message/:messageId/done", handle: messageDone, body: true, role: auth.Operator, once: true},
		{method: get, path: "/events", handle: getEvents, query: []string{"types", "stationcodes", "plantcode"}},
		{method: get, path: "/issue", handle: getIssues, query: []string{"limit", "skip", "from", "to", "rangecode", "plantcode", "groupcode", "stationcodes", "archived", "type", "open", "uncaused"}},
		{method: post, path: "/issue", handle: postIssue, body: true, role: auth.Operator, once: true},
		{method: post, path: "/issue/:issueId/acknowledge", handle: acknowledgeIssue, body: true, role: auth.Operator, once: true},
		{method: post, path: "/issue/:issueId/estimate", handle: estimateIssue, body: true, role: auth.Operator, once: true},
		{method: post, path: "/issue/:issueId/escalate", handle: escalateIssue, body: true, role: auth.Operator, once: true},
		{method: post, path: "/issue/:issueId/cause", handle: causeIssue, body: true, role: auth.Operator, once: true},
		{method: post, path: "/issue/:issueId/split", handle: splitIssue, body: true, role: auth.Operator, once: true},
		{method: post, path: "/issue/:issueId/exclude", handle: excludeIssue, body: true, role: auth.Supervisor, once: true},
		{method: get, path: "/correction", handle: getCorrections, role: auth.Admin, query: []string{"limit", "skip"}},
		{method: post, path: "/correction", handle: postCorrection, body: true, role: auth.Admin, once: true, desk: true, query: []string{"dryrun"}},
		{method: post, path: "/correction/:correctionId/undo", handle: postCorrectionUndo, role: auth.Admin, once: true, desk: true, query: []string{"dryrun"}},
		{method: get, path: "/appliance", handle: getAppliance, role: auth.Admin},
		{method: put, path: "/appliance/backup-settings", handle: putBackupSettings, body: true, role: auth.Admin},
		{method: get, path: "/appliance/log", handle: getLog, role: auth.Admin, query: []string{"level", "before", "limit"}},
		{method: get, path: "/audit", handle: getAudit, role: auth.Admin, query: []string{"search", "action", "from", "to", "before", "limit", "skip"}},
		{method: get, path: "/audit/export", handle: exportAudit, role: auth.Admin, query: []string{"search", "action", "from", "to"}},
		{method: get, path: "/backup", handle: getBackups, role: auth.Admin},
		{method: post, path: "/backup", handle: postBackup, role: auth.Admin},
		{method: get, path: "/backup/:name", handle: getBackup, role: auth.Admin},
		{method: put, path: "/backup/:name", handle: putBackup, role: auth.Admin},
		{method: del, path: "/backup/:name", handle: deleteBackup, role: auth.Admin},
		{method: post, path: "/backup/:name/verify", handle: verifyBackup, role: auth.Admin},
		{method: post, path: "/backup/:name/restore", handle: restoreBackup, role: auth.Admin},
		{method: post, path: "/setup", handle: postSetup, body: true, access: open, query: []string{"dryrun"}, limit: bodyLimit},

		{method: get, path: "/health", handle: getHealth, access: open, storeless: true},
		{method: get, path: "/ready", handle: getReady, access: open, storeless: true},
		{method: get, path: "/metrics", handle: getMetrics, bearer: true},
		{method: get, path: "/openapi.json", handle: getOpenAPI, access: open, storeless: true},
	}
}

// localRoutes are for the command line on the machine itself and are never served to the network.
func (a *API) localRoutes() []route {
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{method: post, path: "/local/init", handle: localInit, anyAccount: true, limit: manifestLimit},
		{method: get, path: "/local/account", handle: localAccounts, anyAccount: true},
		{method: post, path: "/local/account", handle: localCreateAccount, anyAccount: true, limit: manifestLimit},
		{method: post, path: "/local/account/archive", handle: localArchive},
		{method: post, path: "/local/account/unarchive", handle: localUnarchive, archived: true},
		{method: post, path: "/local/account/set", handle: localSet},
		{method: post, path: "/local/key", handle: localCreateKey},
		{method: post, path: "/local/login-link", handle: localLoginLink},
		{method: post, path: "/local/reset-admin", handle: localResetAdmin},
		{method: get, path: "/local/status", handle: localStatus, storeless: true},
		{method: post, path: "/local/compact", handle: localCompact, anyAccount: true, storeless: true},
		{method: post, path: "/local/clock/accept", handle: localAcceptClock, anyAccount: true, storeless: true},
		{method: get, path: "/local/contents", handle: localContents, anyAccount: true},
		{method: post, path: "/local/backup", handle: localBackup, anyAccount: true},
		{method: post, path: "/local/backup/keep", handle: localKeepBackup, anyAccount: true},
		{method: post, path: "/local/backup/upgrade", handle: localUpgradeBackup, anyAccount: true},
		{method: post, path: "/local/restore", handle: localRestore, storeless: true},
		{method: get, path: "/local/check", handle: localCheck, anyAccount: true},
	}
}

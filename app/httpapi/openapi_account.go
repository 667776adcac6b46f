package httpapi

import (
	"opsmon/app/auth"
	"opsmon/schema"
)

// accountOperations are about the account, its configuration, and the people, keys, tablets and devices that enter it.
var accountOperations = map[string]operation{
	"GET /account": {
		id: "getAccount", tag: "Account", summary: "Read the account with its whole configuration",
		about:  "Fields that are not set are null. `warehousePassword` is shown to admins only. The entity tag holds the number of the configuration's revision: send it as `If-Match` with a change.",
		answer: "The account.", form: formResult, gives: "Account", tagged: true, also: []int{400, 409},
	},
	"POST /account": {
		id: "updateAccount", tag: "Account", summary: "Change fields of the account", role: auth.Member,
		about: "What is absent stays as it is, null clears. A body that changes nothing is a success and makes no revision. `dashboardConfig` is sent as text that holds a JSON object. The change is seen in the manifest at once.\n\n" +
			"409: the configuration has another revision than `If-Match` says, or the account is archived.",
		answer: "The account as it is now, without its manifest.", body: schema.AccountUpdate, form: formResult, gives: "UpdatedAccount", match: true, also: []int{409},
	},
	"GET /account/manifest": {
		id: "getManifest", tag: "Account", summary: "Read the manifest alone",
		about:  "The document as a file to keep or to edit: no envelope, the order of lists and the digits of numbers as they were sent. It holds no secret.",
		answer: "The manifest.", form: formBare, gives: "Manifest", tagged: true,
	},
	"PUT /account/manifest": {
		id: "applyManifest", tag: "Account", summary: "Replace the manifest", role: auth.Member,
		about: "The document is the whole wanted state: a field that it lacks is unset. It is checked first, and all problems are listed at once. Equal content makes no revision. With `dryrun=true` nothing is written and the answer tells what would change.\n\n" +
			"`id` and `domain` must be the account's own; fields that the system keeps are ignored. 409: they are another account's, there are more stations than `stationCountLimit` allows, the configuration has another revision than `If-Match` says, or the account is archived.",
		answer: "What changed.", body: schema.Manifest, form: formResult, gives: "ApplyResult", sample: applySample, match: true, also: []int{409},
	},
	"GET /account/manifest/revisions": {
		id: "listRevisions", tag: "Account", summary: "List the revisions of the configuration",
		about:  "Every accepted change is a revision, newest first. None is ever overwritten.",
		answer: "A page of revisions.", form: formPage, gives: "Revision", sample: `{"revision":3,"createdAt":"2026-11-20T08:15:30.123Z","author":"planner@acme.example","note":"third packing line"}`, also: []int{400},
	},
	"GET /account/manifest/revisions/:revision": {
		id: "getRevision", tag: "Account", summary: "Read the manifest of a revision",
		about:  "The document as it was, without an envelope.",
		answer: "The manifest of that revision.", form: formBare, gives: "Manifest", tagged: true, also: []int{404},
	},
	"GET /account/manifest/revisions/:revision/changes": {
		id: "compareRevisions", tag: "Account", summary: "Compare a revision with another",
		about:  "What makes the revision `from`, without it the one before, into this one, in the terms in which `PUT /account/manifest` tells what it changes. `from` may be the later one: then it is what going back would change.",
		answer: "The changes.", form: formResult, gives: "Difference", sample: `{"from":3,"to":4,"totalChanges":1,"changes":[{"path":"stations[PACK-1].name","kind":"changed","from":"Packer","to":"Packer 1"}]}`, also: []int{400, 404},
	},
	"POST /account/manifest/revisions/:revision/restore": {
		id: "restoreRevision", tag: "Account", summary: "Apply an earlier revision again", role: auth.Member,
		about:  "The manifest of that revision becomes a new revision. It is checked as any other one is.\n\n409: as for `PUT /account/manifest`.",
		answer: "What changed.", form: formResult, gives: "ApplyResult", sample: applySample, match: true, also: []int{404, 409},
	},
	"GET /directory": {
		id: "getDirectory", tag: "Account", summary: "What codes mean",
		about:  "The names of plants, groups, stations, SKUs and reasons, the shift patterns that stations follow, and what it takes to show times and money: what pages need beside the figures, without the whole manifest.",
		answer: "The names.", form: formResult, gives: "Directory", sample: `{"revision":7,"currency":"GBP","durationFormat":"months","plants":[{"code":"north","name":"North","timezone":"Europe/London","dayStartHour":6,"weekStartDay":0,"groups":[{"code":"packing","name":"Packing","stations":[{"code":"PACK-1","name":"Packer 1","shiftPatternCode":"day"}]}]}],"shiftPatterns":[{"code":"day","title":"Day shift","shifts":[{"name":"Day","startHour":6,"duration":8,"weekDay":"1"}]}],"skus":[{"code":"BOWL","name":"Bowl"}],"reasons":[{"code":"JAM","name":"Jam","parent":null}]}`,
	},
	"GET /auth/profile": {
		id: "getProfile", tag: "Authenticate", summary: "Who is behind this request",
		about:  "The identity, the account that requests work on, the role in it, and the other accounts of the same person.",
		answer: "The profile.", form: formResult, gives: "Profile", sample: profileSample, also: []int{400, 409},
	},
	"GET /auth/callback": {
		id: "callback", tag: "Authenticate", summary: "Use a one-time link",
		about:  "Uses the token up and signs the calling browser in: the cookie `session` is set. It changes something although it is a `GET`, so `HEAD` is 405, and calls from other sites are refused.\n\n403: the link is unknown or has expired. 409: it was used before.",
		answer: "Signed in.", form: formDone, also: []int{400, 403, 409, 429},
	},
	"POST /auth/login": {
		id: "login", tag: "Authenticate", summary: "Ask for a one-time link",
		about:  "A link goes to the address by mail, or waits for an administrator where no mail is set up. The answer's `code` is five digits to compare with those in the message. The cookie `login` lets this browser be let in later.\n\n403: the address is no user of any account here, nor on the domain of one. 429: from one address more than 20 requests came within 15 minutes, or more than 5 for one person; or more than 30 for one person came from addresses that this person has not signed in from for 30 days. So nobody can lock a person out of the addresses they use.",
		answer: "A link is on its way.", body: schema.Login, form: formBare, also: []int{403, 409, 429},
		gives:  "LoginAnswer",
		sample: `{"code":"04817","success":true,"result":{"email":"planner@acme.example","exp":"2026-11-20T08:30:30.123Z","userRole":"customer","accountId":"acme","role":"readonly","featureFlags":[],"type":"login"}}`,
	},
	"POST /auth/logout": {
		id: "logout", tag: "Authenticate", summary: "End the session",
		about:  "Ends the session that calls and clears its cookie. With an API key it is a success and revokes nothing.",
		answer: "Signed out.", form: formDone, also: []int{409},
	},
	"POST /auth/approve": {
		id: "approve", tag: "Authenticate", summary: "Let the waiting browser in",
		about:  "For a link that was opened in another browser than the one that asked: the token is used up, and the browser that shows the five digits may call `POST /auth/claim`. Five wrong codes end the link.\n\n403: the link is unknown or has expired, or the code is wrong. 409: it was used before, or no browser waits.",
		answer: "The waiting browser may come in.", body: schema.Approve, example: `{"token":"opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2","code":"04817"}`, form: formDone, also: []int{403, 409, 429},
	},
	"POST /auth/claim": {
		id: "claim", tag: "Authenticate", summary: "Come in after being approved",
		about:  "For the browser that asked, by its cookie `login`: once its link was used to let it in, it gets its session, once.\n\n403: it did not ask, or its request has expired. 409: nobody has let it in yet.",
		answer: "Signed in.", form: formDone, security: `[{"LoginCookie":[]}]`, also: []int{400, 403, 409, 429},
	},
	"POST /auth/account": {
		id: "switchAccount", tag: "Authenticate", summary: "Enter another account",
		about:  "For a session of a person with several accounts: later requests work on the one named, and the next sign-in enters it.\n\n403: the person is no member of it, or the caller is no session.",
		answer: "The session is in that account now.", body: schema.AccountSwitch, form: formDone, security: `[{"SessionCookie":[]}]`,
	},

	"GET /session": {
		id: "listSessions", tag: "Authenticate", summary: "List where you are signed in",
		about:  "Browsers with a session, used last first. A session that an administrator's link made for one account, and an API key, are shown those of that account alone.",
		answer: "The sessions.", form: formList, gives: "SignedIn",
		sample: `{"id":"t5r9y3h5j2k7","current":true,"accountId":"acme","address":"192.0.2.17","createdAt":"2026-11-18T07:02:11.480Z","lastUsedAt":"2026-11-20T08:00:00.000Z","expiresAt":"2026-12-20T08:00:00.000Z"}`,
	},
	"DELETE /session": {
		id: "endSessions", tag: "Authenticate", summary: "Sign out everywhere",
		about:  "Ends what `GET /session` lists; with `keepthis=true` all but the session that asks. API keys stay.",
		answer: "How many have ended.", form: formResult, gives: "EndedSessions", sample: `{"ended":2}`,
	},
	"DELETE /user/:email/session": {
		id: "endUserSessions", tag: "User", summary: "Sign a user out everywhere",
		about:  "Ends the user's sessions in the caller's account. API keys stay, and the user may sign in again.",
		answer: "How many have ended.", form: formResult, gives: "EndedSessions", sample: `{"ended":2}`, also: []int{404, 409},
	},
	"GET /key": {
		id: "listKeys", tag: "ApiKey", summary: "List API keys",
		about:  "The caller's own keys; an admin's list has the whole account's. Never the keys themselves.",
		answer: "The keys, oldest first.", form: formList, gives: "Key", sample: keySample,
	},
	"POST /key": {
		id: "createKey", tag: "ApiKey", summary: "Issue an API key",
		about:  "The key has the caller's identity and at most its role. It works from the moment of the answer, and it is shown in this answer only. The body may be left out. A person may have 100 keys in an account; one who may change the configuration, 100,000.\n\n403: the wanted role is above the caller's. 409: the account is archived, or the caller has as many keys as one may.",
		answer: "The new key.", body: schema.KeyCreate, optional: true, form: formResult, gives: "NewKey", sample: `{"key":"opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x"}`, location: true, also: []int{409},
	},
	"DELETE /key/:key": {
		id: "revokeKey", tag: "ApiKey", summary: "Revoke an API key",
		about:  "Dead from the moment of the answer, on every connection. Also a success when it was revoked before. Everyone revokes their own keys, an admin every key of the account.\n\n400: it never was a key.",
		answer: "Revoked.", form: formEmpty, also: []int{409},
	},

	"GET /user": {
		id: "listUsers", tag: "User", summary: "List the users of the account",
		about:  "Those who were added. People on the account's domain who were never added may sign in as `readonly` and are not listed.",
		answer: "The users, by address.", form: formList, gives: "User", sample: userSample,
	},
	"POST /user": {
		id: "addUser", tag: "User", summary: "Add a user",
		about:  "409: the address is a user already, or the account is archived.",
		answer: "The new user.", body: schema.UserCreate, form: formResult, gives: "User", sample: userSample, location: true, also: []int{409},
	},
	"GET /user/:email": {
		id: "getUser", tag: "User", summary: "Read a user",
		answer: "The user.", form: formResult, gives: "User", sample: userSample, also: []int{400, 404},
	},
	"PUT /user/:email": {
		id: "setUserRole", tag: "User", summary: "Change a user's role",
		about:  "In force at once for every session and key of the user. Somebody on the account's domain who was never added is added.\n\n409: nobody would be left as an admin, or the account is archived.",
		answer: "The user as it is now.", body: schema.UserUpdate, form: formResult, gives: "User", sample: `{"email":"planner@acme.example","role":"supervisor","createdAt":"2026-11-20T08:15:30.123Z"}`, also: []int{404, 409},
	},
	"DELETE /user/:email": {
		id: "removeUser", tag: "User", summary: "Remove a user",
		about:  "Ends every key and session of the user at once. On the account's domain too, the address is refused until it is added again.\n\n409: nobody would be left as an admin, or the account is archived.",
		answer: "Removed.", form: formEmpty, also: []int{404, 409},
	},
	"GET /login-request": {
		id: "listLoginRequests", tag: "Authenticate", summary: "List who waits to be let in",
		about:  "Requests to sign in whose link was not used yet, of people of this account.",
		answer: "The requests, newest first.", form: formList, gives: "LoginRequest",
		sample: `{"code":"04817","email":"planner@acme.example","role":"member","accountId":"acme","address":"192.0.2.17","createdAt":"2026-11-20T08:15:30.123Z","expiresAt":"2026-11-20T08:30:30.123Z"}`,
	},
	"POST /login-request/:code/link": {
		id: "createLoginLink", tag: "Authenticate", summary: "Make the link of a waiting request",
		about:  "For plants without mail: a link to hand over. An earlier link of the same request stops working. The link opens this account and no other.\n\n409: the account is archived.",
		answer: "The link.", form: formResult, gives: "Link", sample: linkSample, also: []int{404, 409},
	},
	"GET /tablet": {
		id: "listTablets", tag: "Admin", summary: "List the tablets",
		about:  "Also those that have not been paired yet.",
		answer: "The tablets, by name.", form: formList, gives: "Tablet",
		sample: `{"id":"w7p2m5x3c6zd","name":"Packing hall","email":"tablet:packing-hall@acme.example","role":"operator","stationCodes":["PACK-1","PACK-2"],"createdAt":"2026-11-20T08:15:30.123Z","pairedAt":null,"lastUsedAt":null}`,
	},
	"POST /tablet": {
		id: "pairTablet", tag: "Admin", summary: "Add a tablet",
		about:  "Gives a one-time link to open on the tablet within 15 minutes. It is signed in there with its own identity, bound to its stations.\n\n409: another tablet has the name, or the account is archived.",
		answer: "The tablet and its link.", body: schema.TabletCreate, form: formResult, gives: "TabletLink", location: true, also: []int{409},
		sample: `{"id":"w7p2m5x3c6zd","link":"https://plant.example/link#opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2","expiresAt":"2026-11-20T08:30:30.123Z"}`,
	},
	"DELETE /tablet/:id": {
		id: "removeTablet", tag: "Admin", summary: "Remove a tablet",
		about:  "Its session and its link end at once.\n\n409: the account is archived.",
		answer: "Removed.", form: formEmpty, also: []int{404, 409},
	},
	"GET /device": {
		id: "listDevices", tag: "Signal", summary: "List the devices",
		about:  "With what is known of each: when it last sent, how much, how fast, what was wrong, and whether its clock is right. It is kept through restarts of the service.",
		answer: "The devices, by name.", form: formList, gives: "Device",
		sample: `{"id":"acme/press-gateway","name":"press-gateway","stationCodes":["PACK-1","PACK-2"],"createdAt":"2026-11-20T08:15:30.123Z","lastSeenAt":"2026-11-21T06:00:02.040Z","accepted":81204,"refused":1,"throttled":0,"signalsPerSecond":0.2,"clockAheadMs":0,"lastIssue":"rssi must be a number","lastIssueAt":"2026-11-20T17:31:09.412Z","connections":1}`,
	},
	"POST /device": {
		id: "addDevice", tag: "Signal", summary: "Add a device",
		about:  "A device may send the signals of its stations and nothing else. Its token is shown once; it goes into `X-API-KEY`, or over MQTT into the password, with the id as user name.\n\n409: another device has the name, or the account is archived.",
		answer: "The device's id and token.", body: schema.DeviceCreate, form: formResult, gives: "DeviceToken", location: true, also: []int{409},
		sample: `{"id":"acme/press-gateway","token":"opd_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2"}`,
	},
	"DELETE /device/:device": {
		id: "revokeDevice", tag: "Signal", summary: "Revoke a device",
		about:  "Its token is dead, and connections that it has open end at once.\n\n409: the account is archived.",
		answer: "Revoked.", form: formEmpty, also: []int{404, 409},
	},
}

const (
	keySample     = `{"id":"k3v9x2m7q4ab","name":"ERP export","email":"planner@acme.example","role":"readonly","createdAt":"2026-11-20T08:15:30.123Z","lastUsedAt":"2026-11-21T06:00:02.040Z","expiresAt":null}`
	userSample    = `{"email":"planner@acme.example","role":"member","createdAt":"2026-11-20T08:15:30.123Z"}`
	applySample   = `{"revision":4,"changed":true,"totalChanges":1,"changes":[{"path":"stations[PACK-1].name","kind":"changed","from":"Packer","to":"Packer 1"}],"warnings":[]}`
	linkSample    = `{"link":"https://plant.example/link#opl_7xk2v9m4q6w3p5z8c2b7n4t6r9y3h5j2","code":"04817","expiresAt":"2026-11-20T08:30:30.123Z","email":"planner@acme.example","role":"member","account":"acme","from":"192.0.2.17"}`
	profileSample = `{"email":"planner@acme.example","exp":"9999-12-31T23:59:59.000Z","userRole":"customer","accountId":"acme","role":"member","featureFlags":["enableTasks"],"type":"apiKey",` +
		`"accounts":[{"role":"member","accountId":"acme","domain":"acme.example"}],"apiKey":"opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x","account":{"id":"acme","domain":"acme.example","enableLostProductionCost":false,"dashboardConfig":{}}}`
)

package httpapi

import "opsmon/schema"

// applianceOperations are about the appliance: its record of changes, its backups, its first set-up and its health.
var applianceOperations = map[string]operation{
	"GET /appliance": {
		id: "getAppliance", tag: "Admin", summary: "How the appliance is",
		about: "What runs since when and where, the certificate, the store and its disk, backups, how long things are kept, the clock, and what needs a person. `warnings` has the codes `backup`, `noSchedule`, `settings`, `certificate`, `clock`, `clockDoubted`, `timeZone`, `deviceClocks`, `disk`, `storeFull`, `plantBroker` and `address`; more may come. " +
			"Users, tablets and devices are counted in the caller's account.",
		answer: "The appliance.", form: formResult, gives: "Appliance", sample: applianceSample,
	},
	"PUT /appliance/backup-settings": {
		id: "changeBackups", tag: "Admin", summary: "Change how scheduled backups are made",
		about: "What is absent stays as it is. It holds at once, and in `app.yaml`, whose comments and order stay, for later starts. A backup that is due by the new settings is made soon.\n\n" +
			"409: a flag or a variable gives the setting, which counts before `app.yaml`; or that file cannot be changed as it stands; or the account is archived.",
		answer: "How they are made now.", body: schema.BackupSettings, form: formResult, gives: "ApplianceBackup", also: []int{409},
		sample: `{"settings":{"at":"02:15","every":1,"keepDaily":14,"keepWeekly":4,"keepMonthly":6,"maxBytes":0},"fixed":{},"folder":"/var/lib/app/backups","encrypted":false,"running":false,"lastAt":"2026-11-20T01:30:00.000Z","lastName":"app-20261120T013000Z.backup","lastBytes":1846211,"nextAt":"2026-11-21T02:15:00.000Z","overdue":false,"problem":""}`,
	},
	"GET /appliance/log": {
		id: "getLog", tag: "Admin", summary: "Read what the service logged",
		about: "Lines of the last day, newest first, as far as there is room for them in memory: at most 10,000, of which half are for warnings and errors alone, and 4 MiB. A restart begins anew; the machine's own log has the rest. It holds no secret. " +
			"For the lines before those of an answer ask again with `before` and the id of its last one.",
		answer: "Lines of the log.", form: formList, gives: "LogLine", also: []int{400},
		sample: `{"id":1795162530124,"at":"2026-11-20T01:30:02.114Z","level":"info","message":"backup made","attributes":{"file":"/var/lib/app/backups/app-20261120T013000Z.backup","bytes":1846211}}`,
	},
	"GET /audit": {
		id: "listAudit", tag: "Admin", summary: "List what was changed, by whom",
		about:  "Every change is a record, newest first. With `search`, `action`, `from` or `to` records are searched for: one request looks at 50,000 of them, and says in `paging.before` where the next one goes on.",
		answer: "A page of records.", form: formPage, gives: "AuditRecord", also: []int{400},
		sample: `{"seq":812,"at":"2026-11-20T08:15:30.123Z","accountId":"acme","actor":{"email":"planner@acme.example","credential":"key:k3v9x2m7q4ab","address":"192.0.2.17"},"action":"manifest.apply","target":"acme","detail":{"revision":"4","changes":"1","note":""}}`,
	},
	"GET /audit/export": {
		id: "exportAudit", tag: "Admin", summary: "Export the audit as CSV",
		about:  "A file by RFC 4180 with the names of the columns in its first line, sent while it is made, newest record first; the detail as JSON. Texts that a spreadsheet would take for a formula have an apostrophe before them. A connection that is cut means that rows are missing.",
		answer: "The records.", form: formTable, sample: "seq,at,email,credential,address,action,target,detail\r\n812,2026-11-20T08:15:30.123Z,planner@acme.example,key:k3v9x2m7q4ab,192.0.2.17,key.create,planner@acme.example,\r\n", also: []int{400},
	},
	"GET /backup": {
		id: "getBackups", tag: "Admin", summary: "What backups there are, and how they are doing",
		about:  "Every backup that was made here was verified when it got its name; an encrypted one from elsewhere is when it is verified or restored. `problem` says why the newest scheduled one failed, or that it is overdue. `restore` tells of the restore that was begun last.",
		answer: "The folder, its backups with the newest first, and the newest restore.", form: formResult, gives: "BackupOverview", sample: overviewSample, also: []int{503},
	},
	"POST /backup": {
		id: "makeBackup", tag: "Admin", summary: "Make a backup now",
		about:  "Into the folder, encrypted like the scheduled ones. The service goes on meanwhile. The answer comes when the backup is verified.",
		answer: "The backup.", form: formResult, gives: "Backup", sample: backupSample, location: true, also: []int{409},
	},
	"GET /backup/:name": {
		id: "downloadBackup", tag: "Admin", summary: "Fetch a backup",
		answer: "The file.", form: formFile, also: []int{404},
	},
	"PUT /backup/:name": {
		id: "uploadBackup", tag: "Admin", summary: "Bring a backup from elsewhere",
		about:  "Puts it into the folder, so that it can be restored: the way to another PC. Its checksums are compared; those of an encrypted one when it is verified or restored.",
		answer: "The backup.", upload: true, form: formResult, gives: "Backup", sample: backupSample, also: []int{409},
	},
	"DELETE /backup/:name": {
		id: "deleteBackup", tag: "Admin", summary: "Remove a backup",
		about:  "The newest scheduled one stays: 409.",
		answer: "It is gone.", form: formEmpty, also: []int{404, 409},
	},
	"POST /backup/:name/verify": {
		id: "verifyBackup", tag: "Admin", summary: "Verify a backup",
		about:  "Reads every byte of it, and opens, checks and counts the store in it. A damaged one is 409, with the part that is.",
		answer: "It is whole, and this is in it.", body: schema.BackupVerify, optional: true, form: formResult, gives: "VerifiedBackup",
		sample: `{"name":"app-20261120T013000Z.backup","madeAt":"2026-11-20T01:30:00.000Z","app":"1.0.0","counts":{"account":1,"audit":812,"authKey":4,"authUser":9,"revision":31},"files":["app.yaml"],"omitted":["tls/ca.key"]}`,
		also:   []int{404, 409},
	},
	"POST /backup/:name/restore": {
		id: "restoreBackup", tag: "Admin", summary: "Put a backup in the place of the store",
		about:  "All that was changed after the backup is lost, in all accounts. It is verified first; then requests get 503 for a moment. API keys stay valid as they were in the backup; sessions, one-time links and tablets end. What was there before is kept, and comes back by itself when the service does not get ready. `GET /backup` tells how it goes.",
		answer: "It has begun.", body: schema.BackupRestore, form: formResult, gives: "Restore", also: []int{404, 409},
		sample: `{"name":"app-20261120T013000Z.backup","state":"running","startedAt":"2026-11-20T08:15:30.123Z","endedAt":null,"error":"","result":null}`,
	},
	"POST /setup": {
		id: "setUp", tag: "Admin", summary: "Make the first account",
		about:  "On an empty appliance only, which `GET /ready` tells by `result.needsSetUp`. The one-time code is shown on the machine that runs the service. With `plant` the configuration begins with a plant of that name, with so many groups and stations to be renamed; with `signIn` the answer sets the cookie `session` and no API key is made. With `dryrun=true` everything is checked, the code too, and nothing is made.\n\n403: the code is wrong. 409: the appliance is set up already.",
		answer: "The account, its first admin and an API key.", body: schema.Setup, form: formResult, gives: "SetupResult",
		sample: `{"accountId":"acme","email":"planner@acme.example","apiKey":"opk_9m4q6w3p5z8c2b7n4t6r9y3h5j2k7x"}`, also: []int{403, 409, 429},
	},

	"GET /health": {
		id: "getHealth", tag: "Health Check", summary: "Is the process alive?",
		answer: "It is.", form: formDone,
	},
	"GET /ready": {
		id: "getReady", tag: "Health Check", summary: "Can requests be served?",
		about:  "503 while not. Why is told to admins and on the machine itself. When they can, these are told what else to watch: result.",
		answer: "They can.", form: formBare, gives: "Ready", security: `[{},{"ApiKeyAuth":[]}]`,
		sample: `{"isSuccess":true,"result":{"store":{"bytes":1048576,"free":65536,"full":false},"backup":null,"certificate":{"endsAt":"2027-12-22T08:15:30.000Z","fingerprint":"3F:8A:01:5C:77:E2:90:4B:1D:66:AF:23:C8:59:04:BE:92:7D:E1:30:5A:F4:88:6C:0B:D7:19:A3:42:FE:65:9C","problems":[]}}}`,
	},
	"GET /metrics": {
		id: "getMetrics", tag: "Health Check", summary: "Measurements for Prometheus",
		about:  "The text format of Prometheus. The key may come as a bearer token too.",
		answer: "The measurements.", form: formText, sample: "app_http_requests_total{method=\"GET\",route=\"/account\",status=\"2xx\"} 1024\n",
	},
	"GET /openapi.json": {
		id: "getOpenAPI", tag: "OpenAPI", summary: "This description",
		about:  "OpenAPI 3.1, made from the schemas that requests are checked against.",
		answer: "The document.", form: formBare, gives: "OpenAPIDocument", tagged: true,
	},
}

const (
	backupSample   = `{"name":"app-20261120T013000Z.backup","madeAt":"2026-11-20T01:30:00.000Z","bytes":1846211,"origin":"scheduled","encrypted":false,"app":"1.0.0","problem":"","unusableSettings":false}`
	overviewSample = `{"folder":"/var/lib/app/backups","scheduled":true,"lastAt":"2026-11-20T01:30:00.000Z","nextAt":"2026-11-21T01:30:00.000Z","running":false,"overdue":false,"problem":"","restore":null,"backups":[` + backupSample + `]}`
)

// applianceSample is the example of an appliance with something to look into.
const applianceSample = `{"version":"1.0.0","commit":"4b17c2a9d0e5f3861b7a9c2d4e6f80a1b3c5d7e9","platform":"linux/amd64","startedAt":"2026-11-20T06:00:01.250Z","hostName":"plantpc","name":"opsmon.local","dataDir":"/var/lib/app","url":"https://opsmon.local:8443","urls":["https://opsmon.local:8443","https://192.0.2.20:8443"],` +
	`"listen":[{"setting":"listen","address":"[::]:8443","tls":true},{"setting":"clearListen","address":"[::]:8080","tls":false}],"tls":"auto",` +
	`"certificate":{"endsAt":"2027-12-22T08:15:30.000Z","fingerprint":"3F:8A:01:5C:77:E2:90:4B:1D:66:AF:23:C8:59:04:BE:92:7D:E1:30:5A:F4:88:6C:0B:D7:19:A3:42:FE:65:9C","problems":[],"hosts":["opsmon.local","192.0.2.20"],"authority":{"name":"opsmon CA 3F8A","endsAt":"2036-11-17T08:15:30.000Z","pem":"-----BEGIN CERTIFICATE-----\n","pages":["http://opsmon.local:8080/trust"]},"daysLeft":397},` +
	`"store":{"bytes":1048576,"free":65536,"version":12,"full":false},"disk":{"free":9663676416,"total":120034123776},` +
	`"backup":{"settings":{"at":"01:30","every":1,"keepDaily":7,"keepWeekly":4,"keepMonthly":6,"maxBytes":0},"fixed":{"at":"APP_BACKUP_AT"},"folder":"/var/lib/app/backups","encrypted":false,"running":false,"lastAt":"2026-11-20T01:30:00.000Z","lastName":"app-20261120T013000Z.backup","lastBytes":1846211,"nextAt":"2026-11-21T01:30:00.000Z","overdue":false,"problem":""},` +
	`"retention":{"signalDays":400,"windowDays":3653,"auditDays":400},"clock":{"now":"2026-11-20T08:15:30.123Z","zone":"GMT +00:00","believed":true,"devicesAhead":0},"counts":{"accounts":1,"users":9,"tablets":4,"devices":12},` +
	`"warnings":[{"code":"disk","severity":"problem","message":"the disk of /var/lib/app has 9.0 GiB free of 111 GiB: below 10 % no scheduled backup is made, and when it is full nothing can be saved","action":"On the machine: make room: du -xh --max-depth=2 / | sort -h | tail"}]}`

// applianceModels are of the record of changes, backups, the first set-up and the appliance itself.
const applianceModels = `{
"Backup": {"description": "A backup in the folder.", "type": "object", "required": ["name", "madeAt", "bytes", "origin", "encrypted", "app", "problem", "unusableSettings"], "additionalProperties": false, "properties": {
	"name": {"type": "string"}, "madeAt": {"$ref": "#/components/schemas/Moment"},
	"bytes": {"description": "Size of the file.", "type": "integer", "minimum": 0},
	"origin": {"description": "Made by the schedule, asked for by somebody, made before an upgrade, or brought from elsewhere. Scheduled ones are removed by the service itself, and all but the newest three of upgrades by the next one.", "type": "string", "enum": ["scheduled", "manual", "upgrade", "uploaded"]},
	"encrypted": {"type": "boolean"}, "app": {"description": "Version of the program that made it.", "type": "string"},
	"problem": {"description": "Why it cannot be read; empty when it can.", "type": "string"},
	"unusableSettings": {"description": "When it was made, app.yaml could not be used: a restore brings the store, and puts that text beside.", "type": "boolean"}}},
"BackupOverview": {"description": "The backups of the appliance.", "type": "object", "required": ["folder", "scheduled", "lastAt", "nextAt", "running", "overdue", "problem", "restore", "backups"], "additionalProperties": false, "properties": {
	"folder": {"description": "Where they are, on the machine.", "type": "string"},
	"scheduled": {"description": "The service makes backups by itself.", "type": "boolean"},
	"lastAt": {"description": "When the newest one that the service made was made, by schedule or asked for; null when there is none.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"nextAt": {"description": "When the next is due; null: as soon as possible, or never.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"running": {"description": "A scheduled one is being made.", "type": "boolean"},
	"overdue": {"description": "None was made although one has been due for six hours.", "type": "boolean"},
	"problem": {"description": "What has to be looked into; empty when nothing has.", "type": "string"},
	"restore": {"description": "The restore that was begun last; null when there was none since the service started.", "anyOf": [{"$ref": "#/components/schemas/Restore"}, {"type": "null"}]},
	"backups": {"type": "array", "items": {"$ref": "#/components/schemas/Backup"}}}},
"VerifiedBackup": {"description": "What is in a backup that is whole.", "type": "object", "required": ["name", "madeAt", "app", "counts", "files", "omitted"], "additionalProperties": false, "properties": {
	"name": {"type": "string"}, "madeAt": {"$ref": "#/components/schemas/Moment"}, "app": {"description": "Version of the program that made it.", "type": "string"},
	"counts": {"description": "How many records each part of the store has.", "type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
	"files": {"description": "What else is in it.", "type": "array", "items": {"type": "string"}},
	"omitted": {"description": "What was left out: secrets where it is not encrypted, and what could not be read, with the reason in brackets.", "type": "array", "items": {"type": "string"}}}},
"Restore": {"description": "A restore that goes on or has ended.", "type": "object", "required": ["name", "state", "startedAt", "endedAt", "error", "result"], "additionalProperties": false, "properties": {
	"name": {"description": "Of the backup.", "type": "string"},
	"state": {"type": "string", "enum": ["running", "done", "failed"]},
	"startedAt": {"$ref": "#/components/schemas/Moment"},
	"endedAt": {"description": "Null while it goes on.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"error": {"description": "Why it failed; what was there before is in its place. Empty when it did not fail.", "type": "string"},
	"result": {"description": "What it has changed; null unless it is done.", "anyOf": [{"$ref": "#/components/schemas/Restored"}, {"type": "null"}]}}},
"Restored": {"description": "What a restore has changed.", "type": "object", "required": ["madeAt", "app", "previous", "settings", "settingsProblem", "settingsFile", "settingsChanged", "certificatesChanged", "newAuthority", "omitted", "brought", "missing"], "additionalProperties": false, "properties": {
	"madeAt": {"$ref": "#/components/schemas/Moment"}, "app": {"description": "Version of the program that made the backup.", "type": "string"},
	"previous": {"description": "Path of the store that was there before; empty when there was none.", "type": "string"},
	"settings": {"description": "What became of app.yaml: the backup has none; the backup's, whole; the one that was here, since the backup's lacks secrets; the backup's without its secrets, since none was here that can be used; the one that was here, since the backup's cannot be used; none, since neither can: the defaults hold from the next start.", "type": "string", "enum": ["absent", "restored", "kept", "redacted", "unusable", "default"]},
	"settingsProblem": {"description": "What keeps the backup's app.yaml from being used, with the line and the setting; empty when nothing does.", "type": "string"},
	"settingsFile": {"description": "Path of the backup's app.yaml that cannot be used: mend it and make it app.yaml, or remove it; until then no signals, history, audit records and scheduled backups are removed. Empty when it can be used.", "type": "string"},
	"settingsChanged": {"description": "The settings are others than before. They hold from the next start.", "type": "boolean"},
	"certificatesChanged": {"description": "The certificate authority came with the backup.", "type": "boolean"},
	"newAuthority": {"description": "The backup lacks the keys of the certificate authority and there are none here: a new one is made.", "type": "boolean"},
	"omitted": {"description": "What was left out of the backup: secrets, and what could not be read, with the reason in brackets.", "type": "array", "items": {"type": "string"}},
	"brought": {"description": "Files that the backup's settings name and that could not be read here: the backup's are in the data directory now, and the settings name those.", "type": "array", "items": {"type": "object", "required": ["setting", "path", "instead"], "additionalProperties": false, "properties": {
		"setting": {"type": "string"}, "path": {"description": "Where the file is now.", "type": "string"}, "instead": {"description": "Where the backup's settings have it; empty when they cannot be read.", "type": "string"}}}},
	"missing": {"description": "Paths of files that the settings name, that cannot be read here and were not in the backup.", "type": "array", "items": {"type": "string"}}}},
"SetupResult": {"description": "The first account. The key is shown once.", "type": "object", "required": ["accountId", "email", "apiKey"], "additionalProperties": false, "properties": {
	"accountId": {"type": "string"}, "email": {"description": "The first admin.", "type": "string"},
	"apiKey": {"description": "An admin's API key; empty where signIn asked for a session, which is in the cookie.", "type": "string"}}},
"Appliance": {"description": "How the appliance is.", "type": "object", "required": ["version", "commit", "platform", "startedAt", "hostName", "name", "dataDir", "url", "urls", "listen", "tls", "certificate", "store", "disk", "backup", "retention", "clock", "counts", "warnings"], "additionalProperties": false, "properties": {
	"version": {"type": "string"}, "commit": {"description": "Empty when not known.", "type": "string"}, "platform": {"description": "Operating system and architecture.", "type": "string"},
	"startedAt": {"anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"hostName": {"description": "The machine's own name.", "type": "string"},
	"name": {"description": "The name by which the network finds the appliance; null where it answers to none.", "type": ["string", "null"]},
	"dataDir": {"type": "string"}, "url": {"description": "What one-time links start with.", "type": "string"},
	"urls": {"description": "By which people reach the appliance, the best first.", "type": "array", "items": {"type": "string"}},
	"listen": {"description": "What is listened on.", "type": "array", "items": {"type": "object", "required": ["setting", "address", "tls"], "additionalProperties": false, "properties": {
		"setting": {"type": "string"}, "address": {"type": "string"}, "tls": {"type": "boolean"}}}},
	"tls": {"description": "auto: by the appliance's own authority; files: the plant's certificate; proxy: TLS ends before the service.", "type": "string", "enum": ["off", "auto", "files", "proxy"]},
	"certificate": {"description": "Null without TLS.", "type": ["object", "null"], "required": ["endsAt", "fingerprint", "problems", "hosts", "authority", "daysLeft"], "additionalProperties": false, "properties": {
		"endsAt": {"$ref": "#/components/schemas/Moment"}, "daysLeft": {"description": "Whole days; negative when it has ended.", "type": "integer"},
		"fingerprint": {"description": "SHA-256 that people compare: of the authority, or of a certificate from elsewhere.", "type": "string"},
		"problems": {"description": "Sentences that say what to do.", "type": "array", "items": {"type": "string"}},
		"hosts": {"description": "Names and addresses that it is for.", "type": "array", "items": {"type": "string"}},
		"authority": {"description": "The appliance's own; null for a certificate from elsewhere.", "type": ["object", "null"], "required": ["name", "endsAt", "pem", "pages"], "additionalProperties": false, "properties": {
			"name": {"type": "string"}, "endsAt": {"$ref": "#/components/schemas/Moment"}, "pem": {"type": "string"}, "pages": {"description": "Where it is told how to trust it.", "type": "array", "items": {"type": "string"}}}}}},
	"store": {"description": "The store's file.", "type": ["object", "null"], "required": ["bytes", "free", "version", "full"], "additionalProperties": false, "properties": {
		"bytes": {"type": "integer", "minimum": 0}, "free": {"description": "Of these: room for later writes.", "type": "integer", "minimum": 0}, "version": {"type": "integer", "minimum": 0}, "full": {"description": "The last write found the disk full.", "type": "boolean"}}},
	"disk": {"description": "That the store is on, in bytes; null when it cannot be read.", "type": ["object", "null"], "required": ["free", "total"], "additionalProperties": false, "properties": {
		"free": {"type": "integer", "minimum": 0}, "total": {"type": "integer", "minimum": 0}}},
	"backup": {"$ref": "#/components/schemas/ApplianceBackup"},
	"retention": {"description": "How many days things are kept.", "type": "object", "required": ["signalDays", "windowDays", "auditDays"], "additionalProperties": false, "properties": {
		"signalDays": {"type": "integer"}, "windowDays": {"type": "integer"}, "auditDays": {"type": "integer"}}},
	"clock": {"type": "object", "required": ["now", "zone", "believed", "devicesAhead"], "additionalProperties": false, "properties": {
		"now": {"$ref": "#/components/schemas/Moment"}, "zone": {"description": "Of the machine.", "type": "string"},
		"believed": {"description": "It has run evenly, so that what has had its time is removed.", "type": "boolean"},
		"devicesAhead": {"description": "Devices whose clock was more than two minutes ahead when they last sent.", "type": "integer", "minimum": 0}}},
	"counts": {"type": "object", "required": ["accounts", "users", "tablets", "devices"], "additionalProperties": false, "properties": {
		"accounts": {"description": "Of the appliance, archived ones aside.", "type": "integer"}, "users": {"type": "integer"}, "tablets": {"type": "integer"}, "devices": {"type": "integer"}}},
	"warnings": {"description": "What needs a person.", "type": "array", "items": {"type": "object", "required": ["code", "severity", "message", "action"], "additionalProperties": false, "properties": {
		"code": {"type": "string"}, "severity": {"type": "string", "enum": ["warning", "problem"]}, "message": {"type": "string"}, "action": {"description": "What to do.", "type": "string"}}}}}},
"LogLine": {"description": "A line of the service's log.", "type": "object", "required": ["id", "at", "level", "message", "attributes"], "additionalProperties": false, "properties": {
	"id": {"description": "Grows from line to line.", "type": "integer", "minimum": 1}, "at": {"$ref": "#/components/schemas/Moment"},
	"level": {"type": "string", "enum": ["debug", "info", "warn", "error"]}, "message": {"type": "string"}, "attributes": {"description": "By name; of groups with dots between.", "type": "object"}}},
"ApplianceBackup": {"description": "How scheduled backups are made, and how they are doing.", "type": "object", "required": ["settings", "fixed", "folder", "encrypted", "running", "lastAt", "lastName", "lastBytes", "nextAt", "overdue", "problem"], "additionalProperties": false, "properties": {
	"settings": {"$ref": "#/components/schemas/BackupSettingsNow"},
	"fixed": {"description": "Settings that cannot be changed here, and the flag or the variable that gives each.", "type": "object", "additionalProperties": {"type": "string"}},
	"folder": {"type": "string"}, "encrypted": {"type": "boolean"}, "running": {"description": "One is being made.", "type": "boolean"},
	"lastAt": {"description": "Of the newest in the folder, which was verified when it was made; null: none.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"lastName": {"type": "string"}, "lastBytes": {"type": "integer", "minimum": 0},
	"nextAt": {"description": "Null: none is scheduled.", "anyOf": [{"$ref": "#/components/schemas/Moment"}, {"type": "null"}]},
	"overdue": {"type": "boolean"}, "problem": {"description": "Of the last attempt; empty when it went well.", "type": "string"}}},
"BackupSettingsNow": {"description": "When scheduled backups are made, and how many are kept.", "type": "object", "required": ["at", "every", "keepDaily", "keepWeekly", "keepMonthly", "maxBytes"], "additionalProperties": false, "properties": {
	"at": {"description": "Time of day on the machine's clock.", "type": "string"}, "every": {"description": "Days from one to the next; 0: none are made.", "type": "integer", "minimum": 0},
	"keepDaily": {"type": "integer"}, "keepWeekly": {"type": "integer"}, "keepMonthly": {"type": "integer"}, "maxBytes": {"description": "Of all scheduled ones together; 0: no limit.", "type": "integer", "minimum": 0}}},
"Ready": {"description": "Requests can be served. What else to watch is told to admins and on the machine itself.", "type": "object", "required": ["isSuccess"], "additionalProperties": false, "properties": {
	"isSuccess": {"type": "boolean", "const": true},
	"result": {"type": "object", "additionalProperties": false, "properties": {
		"needsSetUp": {"description": "The appliance is empty and waits for POST /setup, which everybody is told; left out otherwise.", "type": "boolean", "const": true},
		"mail": {"description": "One-time links are mailed, which everybody is told; left out where they wait for an administrator.", "type": "boolean", "const": true},
		"store": {"description": "The store's file; null while there is none.", "type": ["object", "null"], "required": ["bytes", "free", "full"], "additionalProperties": false, "properties": {
			"bytes": {"type": "integer", "minimum": 0}, "free": {"description": "Of these: room for later writes.", "type": "integer", "minimum": 0},
			"full": {"description": "The last write found the disk full. Reads go on, and writes do by themselves when there is room.", "type": "boolean"}}},
		"backup": {"description": "The last scheduled backup; null where none is scheduled.", "type": ["object", "null"], "required": ["lastAt", "file", "bytes", "overdue", "problem"], "additionalProperties": false, "properties": {
			"lastAt": {"description": "Of the newest one that was verified; null when there is none.", "type": ["string", "null"], "format": "date-time"},
			"file": {"type": "string"}, "bytes": {"type": "integer", "minimum": 0}, "overdue": {"type": "boolean"},
			"problem": {"description": "Of the last attempt; empty when it went well.", "type": "string"}}},
		"certificate": {"description": "What the service answers with over TLS; null without TLS.", "type": ["object", "null"], "required": ["endsAt", "fingerprint", "problems"], "additionalProperties": false, "properties": {
			"endsAt": {"type": "string", "format": "date-time"},
			"fingerprint": {"description": "SHA-256 of the appliance's own authority, or of a certificate that the plant has brought.", "type": "string"},
			"problems": {"description": "Sentences that say what to do; none when all is well.", "type": "array", "items": {"type": "string"}}}}}}}}
}`

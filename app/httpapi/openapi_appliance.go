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
		sample: `{"isSuccess":true,"result":{"store":{"bytes":1048576,"free":65536,"version":12,"full":false},"backup":null,"certificate":{"endsAt":"2027-12-22T08:15:30.000Z","fingerprint":"3F:8A:01:5C:77:E2:90:4B:1D:66:AF:23:C8:59:04:BE:92:7D:E1:30:5A:F4:88:6C:0B:D7:19:A3:42:FE:65:9C","problems":[]}}}`,
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

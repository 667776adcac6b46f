package appliance

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/host/backup"
	"opsmon/app/httpapi/openapi"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/schema"
)

// backupRoutes are the operations on backups.
func (api *API) backupRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/backup", Handle: api.getBackups, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "getBackups", Tag: "Admin", Summary: "List backups",
				About: "Backups made here were verified when they were made. An encrypted backup from elsewhere is " +
					"verified by `POST /backup/{name}/verify`, or before it is restored. `problem` is the reason " +
					"why the newest scheduled backup failed, or says that it is overdue. `restore` is the state " +
					"of the latest restore.",
				Answer: "The folder, its backups (newest first) and the latest restore.", Form: openapi.FormResult,
				Gives: "BackupOverview", Also: []int{503}, Sample: overviewSample,
			},
		},
		{
			Method: http.MethodPost, Path: "/backup", Handle: api.postBackup, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "makeBackup", Tag: "Admin", Summary: "Make a backup",
				About: "Makes a backup in the folder, encrypted like the scheduled ones, while the service keeps " +
					"running. The answer comes when the backup is verified.",
				Answer: "The backup.", Form: openapi.FormResult, Gives: "Backup", Also: []int{409}, Location: true,
				Sample: backupSample,
			},
		},
		{
			Method: http.MethodGet, Path: "/backup/:name", Handle: api.getBackup, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "downloadBackup", Tag: "Admin", Summary: "Download a backup",
				Answer: "The file.", Form: openapi.FormFile, Also: []int{404},
			},
		},
		{
			Method: http.MethodPut, Path: "/backup/:name", Handle: api.putBackup, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "uploadBackup", Tag: "Admin", Summary: "Upload a backup",
				About: "Adds a backup to the folder, from where it can be restored: the way to another PC. Its " +
					"checksums are compared; those of an encrypted backup when it is verified or restored.",
				Answer: "The backup.", Upload: true, Form: openapi.FormResult, Gives: "Backup", Also: []int{409},
				Sample: backupSample,
			},
		},
		{
			Method: http.MethodDelete, Path: "/backup/:name", Handle: api.deleteBackup, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "deleteBackup", Tag: "Admin", Summary: "Remove a backup",
				About:  "409: the newest scheduled backup cannot be removed.",
				Answer: "Removed.", Form: openapi.FormEmpty, Also: []int{404, 409},
			},
		},
		{
			Method: http.MethodPost, Path: "/backup/:name/verify", Handle: api.verifyBackup, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "verifyBackup", Tag: "Admin", Summary: "Verify a backup",
				About: "Reads the whole backup, then opens, checks and counts the store in it. 409: the backup is " +
					"damaged; the message names the damaged part.",
				Answer: "The backup is intact. The result is its content.", Body: schema.BackupVerify, Optional: true,
				Form: openapi.FormResult, Gives: "VerifiedBackup", Also: []int{404, 409},
				Sample: `{"name":"app-20261120T013000Z.backup","madeAt":"2026-11-20T01:30:00.000Z","app":"1.0.0",
					"counts":{"account":1,"audit":812,"authKey":4,"authUser":9,"revision":31},"files":["app.yaml"],
					"omitted":["tls/ca.key"]}`,
			},
		},
		{
			Method: http.MethodPost, Path: "/backup/:name/restore", Handle: api.restoreBackup, Role: auth.Admin,
			Operation: openapi.Operation{
				ID: "restoreBackup", Tag: "Admin", Summary: "Restore a backup",
				About: "Replaces the store with the backup's. Every change since the backup is lost, in all " +
					"accounts. The backup is verified first; then requests get 503 for a moment. API keys are " +
					"valid as they were in the backup; sessions, one-time links and tablets end. The previous " +
					"store is kept, and is put back automatically if the service does not get ready. A backup " +
					"whose settings cannot be used on this computer is refused, unless `withoutSettings` leaves " +
					"them out. `GET /backup` shows the progress.",
				Answer: "The restore has begun.", Body: schema.BackupRestore, Form: openapi.FormResult, Gives: "Restore",
				Also: []int{404, 409},
				Sample: `{"name":"app-20261120T013000Z.backup","state":"running",
					"startedAt":"2026-11-20T08:15:30.123Z","endedAt":null,"error":"","result":null}`,
			},
		},
	}
}

// The operations in this file are for administrators: a backup holds all accounts of the appliance (decisions.md
// section 6).

// storedBackup is a backup in the folder.
//
//openapi:schema Backup
type storedBackup struct {
	Name   string       `json:"name"`
	MadeAt instant.Time `json:"madeAt"`
	Bytes  int64        `json:"bytes" schema:"min=0"` // size of the file
	// Made by schedule, on request, before an upgrade, or uploaded. The service removes scheduled backups by their
	// retention settings, and all but the newest three of upgrades.
	Origin    backup.Origin `json:"origin"`
	Encrypted bool          `json:"encrypted"`
	App       string        `json:"app"`     // version of the program that made it
	Problem   string        `json:"problem"` // why the backup cannot be read; empty if it can

	// When it was made, app.yaml could not be used: a restore brings the store, and puts that text beside.
	UnusableSettings bool `json:"unusableSettings"`
}

// backupOverview are the backups of the appliance.
//
//openapi:schema BackupOverview
type backupOverview struct {
	Folder    string `json:"folder"`    // where they are, on the machine
	Scheduled bool   `json:"scheduled"` // scheduled backups are on
	// Time of the newest backup that the service made, by schedule or on request; null if there is none.
	LastAt  *instant.Time `json:"lastAt"`
	NextAt  *instant.Time `json:"nextAt"`  // when the next backup is due; null means as soon as possible, or never
	Running bool          `json:"running"` // a scheduled backup is being made
	Overdue bool          `json:"overdue"` // a scheduled backup has been due for six hours
	Problem string        `json:"problem"` // what needs attention; empty if nothing does
	// The latest restore; null if there was none since the service started.
	Restore *RestoreState  `json:"restore"`
	Backups []storedBackup `json:"backups"`
}

// getBackups answers GET /backup: what is in the folder, and how backups and restores are doing.
func (api *API) getBackups(c *rest.Call) (rest.Reply, error) {
	b := api.Backups
	all, err := b.Folder.All()
	if err != nil {
		return rest.Reply{}, errdefs.New(errdefs.Unavailable, "the folder for backups cannot be read: %v", err)
	}
	out := backupOverview{Folder: string(b.Folder), Scheduled: b.Scheduled(), Backups: []storedBackup{}}
	for _, s := range all {
		out.Backups = append(out.Backups, storedBackup{s.Name, instant.Of(s.MadeAt), s.Bytes, s.Origin, s.Encrypted, s.App, s.Problem, s.UnusableSettings})
	}
	if s := b.Keeper.Status(); out.Scheduled {
		out.Running, out.Overdue, out.Problem = s.Running, s.Overdue, s.Problem()
		if s.Newest.Name != "" {
			out.LastAt, out.NextAt = instant.OrNil(s.Newest.MadeAt), instant.OrNil(s.Next)
		}
	}
	if r := api.Restorer; r != nil {
		out.Restore = r.State()
	}
	return rest.OK(out)
}

// busyWithBackups refuses what writable does, and a second long operation on backups at the same time: each reads and
// writes whole stores.
func (api *API) busyWithBackups(c *rest.Call) error {
	if err := c.Writable(); err != nil {
		return err
	}
	if !api.heavy.TryLock() {
		return errdefs.New(errdefs.Conflict, "another backup is being made, verified, sent or fetched; try again when that has ended")
	}
	c.Defer(api.heavy.Unlock)
	return nil
}

// longer extends a connection's deadline for an operation that takes as long as the store is large.
func longer(c *rest.Call) {
	rc, until := http.NewResponseController(c.Writer), time.Now().Add(longestOperation)
	_ = rc.SetReadDeadline(until) // a connection that cannot take one has none to exceed
	_ = rc.SetWriteDeadline(until)
}

const (
	longestOperation = time.Hour
	slowestPiece     = time.Minute // for the next bytes of a backup that is sent or fetched
)

// postBackup answers POST /backup: a backup is made in the folder now.
func (api *API) postBackup(c *rest.Call) (rest.Reply, error) {
	if err := api.busyWithBackups(c); err != nil {
		return rest.Reply{}, err
	}
	longer(c)
	r, err := api.keepBackup(c.Request.Context(), c.Principal.Actor(), "", nil)
	if err != nil {
		return rest.Reply{}, err
	}
	name := filepath.Base(r.File)
	out, err := rest.OK(storedBackup{Name: name, MadeAt: instant.Of(r.Manifest.MadeAt), Bytes: r.Bytes, Origin: backup.Manual, Encrypted: r.Manifest.Encrypted, App: r.Manifest.App, UnusableSettings: r.Manifest.UnusableSettings})
	out.Header = [][2]string{{"Location", "/backup/" + name}}
	return out, err
}

// backupPath returns the path of the backup that the request's path names.
func (api *API) backupPath(c *rest.Call) (name, path string, err error) {
	name = c.Params.ByName("name")
	path, err = api.Backups.Folder.Path(name)
	return name, path, backupError(err)
}

// getBackup answers GET /backup/{name} with the file.
func (api *API) getBackup(c *rest.Call) (rest.Reply, error) {
	name, path, err := api.backupPath(c)
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.Reply{
		Header: [][2]string{{"Content-Disposition", `attachment; filename="` + name + `"`}},
		Send:   func(w http.ResponseWriter, r *http.Request) int { return api.writeBackup(c, w, r, path) },
	}, nil
}

// putBackup answers PUT /backup/{name}: a backup that was made elsewhere is put into the folder, to be restored.
func (api *API) putBackup(c *rest.Call) (rest.Reply, error) {
	b := api.Backups
	if kind, _, err := mime.ParseMediaType(c.Request.Header.Get("Content-Type")); err != nil || kind != fileType {
		return rest.Reply{}, errdefs.New(errdefs.Invalid, "the body must be a backup, declared as Content-Type: %s", fileType)
	}
	name := c.Params.ByName("name")
	path, err := b.Folder.UploadPath(name)
	if err == nil {
		err = b.Prepare()
	}
	if err == nil {
		err = b.Folder.Ready()
	}
	if err != nil {
		return rest.Reply{}, backupError(err)
	}
	if err := api.busyWithBackups(c); err != nil {
		return rest.Reply{}, err
	}
	rc := http.NewResponseController(c.Writer)
	end := time.Now().Add(longestOperation)
	_ = rc.SetWriteDeadline(end.Add(slowestPiece))
	body := readerFunc(func(p []byte) (int, error) {
		// One that comes in drips keeps other backups waiting no longer than an honest one may.
		piece := time.Now().Add(slowestPiece)
		if piece.After(end) {
			piece = end
		}
		_ = rc.SetReadDeadline(piece)
		n, err := c.Request.Body.Read(p)
		if err != nil && err != io.EOF {
			err = &errdefs.Error{Kind: errdefs.Invalid, Message: "the backup did not arrive whole", Err: err}
		}
		return n, err
	})
	r, err := backup.Receive(c.Request.Context(), backup.ReceiveConfig{Path: path, MinFreePercent: uploadFreePercent, Clock: b.Clock}, body)
	if errors.Is(err, backup.ErrDamaged) || errors.Is(err, backup.ErrNewer) {
		return rest.Reply{}, &errdefs.Error{Kind: errdefs.Invalid, Message: "the body is no backup that can be used: " + err.Error()}
	}
	if err != nil {
		return rest.Reply{}, backupError(err)
	}
	b.Note(c.Principal.Actor(), "backup.upload", name, map[string]string{"sha256": r.SHA256})
	return rest.OK(storedBackup{Name: name, MadeAt: instant.Of(r.Manifest.MadeAt), Bytes: r.Bytes, Origin: backup.Uploaded, Encrypted: r.Manifest.Encrypted, App: r.Manifest.App, UnusableSettings: r.Manifest.UnusableSettings})
}

const (
	fileType          = "application/octet-stream"
	uploadFreePercent = 10
)

type readerFunc func(p []byte) (int, error)

// Read implements io.Reader.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// deleteBackup answers DELETE /backup/{name}.
func (api *API) deleteBackup(c *rest.Call) (rest.Reply, error) {
	if err := c.Writable(); err != nil {
		return rest.Reply{}, err
	}
	b, name := api.Backups, c.Params.ByName("name")
	if err := b.Folder.Remove(name); err != nil {
		return rest.Reply{}, backupError(err)
	}
	b.Note(c.Principal.Actor(), "backup.delete", name, nil)
	return rest.Reply{Status: http.StatusNoContent}, nil
}

// passphraseFor returns the passphrase of a request, else the one that is configured for scheduled backups.
func (api *API) passphraseFor(c *rest.Call, given string) (string, error) {
	if given != "" {
		return given, backup.CheckPassphrase(given)
	}
	cfg, err := api.Backups.Source()
	return cfg.Passphrase, err
}

// verifiedBackup is the content of an intact backup.
//
//openapi:schema VerifiedBackup
type verifiedBackup struct {
	Name   string         `json:"name"`
	MadeAt instant.Time   `json:"madeAt"`
	App    string         `json:"app"`                   // version of the program that made it
	Counts map[string]int `json:"counts" schema:"min=0"` // number of records in each part of the store
	Files  []string       `json:"files"`                 // other files in it
	// What the backup omits: secrets if it is not encrypted, and files that could not be read, with the reason in
	// brackets.
	Omitted []string `json:"omitted"`
}

// verifyBackup answers POST /backup/{name}/verify: every byte is read, and the store in it checked and counted.
func (api *API) verifyBackup(c *rest.Call) (rest.Reply, error) {
	var in struct {
		Passphrase string `json:"passphrase"`
	}
	if err := c.Decode(schema.BackupVerify, true, &in); err != nil {
		return rest.Reply{}, err
	}
	name, path, err := api.backupPath(c)
	if err != nil {
		return rest.Reply{}, err
	}
	passphrase, err := api.passphraseFor(c, in.Passphrase)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := api.busyWithBackups(c); err != nil {
		return rest.Reply{}, err
	}
	longer(c)
	m, err := backup.Verify(c.Request.Context(), backup.VerifyConfig{Path: path, Passphrase: passphrase})
	if err != nil {
		return rest.Reply{}, passphraseField(err)
	}
	out := verifiedBackup{Name: name, MadeAt: instant.Of(m.MadeAt), App: m.App, Files: []string{}, Omitted: append([]string{}, m.Omitted...)}
	for _, e := range m.Entries {
		if e.Kind == backup.KindStore {
			out.Counts = e.Counts
			continue
		}
		out.Files = append(out.Files, e.Name)
	}
	return rest.OK(out)
}

// passphraseField is backupError for a request whose body has the field passphrase.
func passphraseField(err error) error {
	if errors.Is(err, backup.ErrPassphrase) {
		return errdefs.InvalidField("passphrase", "does not fit this backup, or is needed: it is encrypted")
	}
	return backupError(err)
}

// restoreBackup answers POST /backup/{name}/restore: it begins, and GET /backup tells how it goes.
func (api *API) restoreBackup(c *rest.Call) (rest.Reply, error) {
	var in struct {
		Confirm         string `json:"confirm"`
		Passphrase      string `json:"passphrase"`
		WithoutSettings bool   `json:"withoutSettings"`
	}
	if err := c.Decode(schema.BackupRestore, false, &in); err != nil {
		return rest.Reply{}, err
	}
	name, path, err := api.backupPath(c)
	if err != nil {
		return rest.Reply{}, err
	}
	if err := c.Writable(); err != nil {
		return rest.Reply{}, err
	}
	if in.Confirm != name {
		return rest.Reply{}, errdefs.InvalidField("confirm", "must be the name of the backup, %s", name)
	}
	passphrase, err := api.passphraseFor(c, in.Passphrase)
	if err != nil {
		return rest.Reply{}, err
	}
	about, err := backup.Inspect(path, passphrase)
	if err == nil && about.Encrypted && passphrase == "" {
		err = backup.ErrPassphrase
	}
	if err != nil {
		return rest.Reply{}, passphraseField(err)
	}
	if api.Restorer == nil {
		return rest.Reply{}, errdefs.New(errdefs.Unavailable, "no service runs that could restore a backup")
	}
	state, err := api.Restorer.Begin(RestoreInput{
		Path: path, Name: name, Passphrase: passphrase, By: c.Principal.Actor(), WithoutSettings: in.WithoutSettings,
	})
	if err != nil {
		return rest.Reply{}, err
	}
	return rest.OK(state)
}

// writeBackup sends a backup as one file, whatever it shares with others in its folder.
func (api *API) writeBackup(c *rest.Call, w http.ResponseWriter, r *http.Request, path string) int {
	to := clientWriter{w: w}
	_, err := backup.Whole(r.Context(), path, func(size int64) io.Writer {
		to.began = true
		h := w.Header()
		h["Cache-Control"] = rest.NoStore
		h.Set("Content-Type", fileType)
		h.Set("Content-Length", strconv.FormatInt(size, 10))
		w.WriteHeader(http.StatusOK)
		if r.Method == http.MethodHead {
			return nil
		}
		return &to
	})
	switch {
	case err == nil || to.gone || to.began && r.Context().Err() != nil: // a client that went away is its own affair
		return http.StatusOK
	case !to.began:
		w.Header().Del("Content-Disposition")
		return c.Fail(w, r, backupError(err))
	}
	api.Log.Error("a backup could not be sent whole: " + err.Error())
	panic(http.ErrAbortHandler) // the client must not take the part for the whole
}

// clientWriter writes to a client for as long as it takes something now and then.
type clientWriter struct {
	w     http.ResponseWriter
	began bool
	gone  bool // the client does not take any more
}

// Write implements io.Writer.
func (c *clientWriter) Write(p []byte) (n int, err error) {
	rc := http.NewResponseController(c.w)
	for n < len(p) && err == nil {
		_ = rc.SetWriteDeadline(time.Now().Add(slowestPiece))
		var m int
		m, err = c.w.Write(p[n:min(n+256<<10, len(p))])
		n += m
	}
	c.gone = err != nil
	return n, err
}

// backupSample is an example of an answer.
const backupSample = `{"name":"app-20261120T013000Z.backup","madeAt":"2026-11-20T01:30:00.000Z","bytes":1846211,
	"origin":"scheduled","encrypted":false,"app":"1.0.0","problem":"","unusableSettings":false}`

// overviewSample is an example of an answer.
const overviewSample = `{"folder":"/var/lib/app/backups","scheduled":true,"lastAt":"2026-11-20T01:30:00.000Z",
	"nextAt":"2026-11-21T01:30:00.000Z","running":false,"overdue":false,"problem":"","restore":null,
	"backups":[` + backupSample + `]}`

package appliance

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/app/host/backup"
	"opsmon/app/host/control"
	"opsmon/app/httpapi/rest"
)

// Backups is what operations on backups need.
type Backups struct {
	Folder    backup.Folder                                                         // that backups are kept in
	Prepare   func() error                                                          // makes the folder, where it is the service's own
	Upgrades  func() (backup.Folder, error)                                         // makes that in the data directory, for upgrades
	Scheduled func() bool                                                           // scheduled backups are on
	Scratch   string                                                                // directory for files that have not become anything yet
	Keeper    *backup.Keeper                                                        // of scheduled ones
	Source    func() (backup.Config, error)                                         // what goes into a backup now, with the passphrase that is configured
	Clock     func() time.Time                                                      // for names
	Note      func(by audit.Actor, action, target string, detail map[string]string) // writes an audit record into every account
	Holds     func(counts map[string]int) map[string]int                            // what of it lasts, by people's names
	HandOver  func(path string) error                                               // gives a file that root has made to the user that the service runs as
}

// passphraseHeader carries a passphrase from the local command line, encoded as in a query.
const passphraseHeader = "X-Backup-Passphrase"

// passphrase reads the header of that name; "" when there is none.
func passphrase(c *rest.Call) (string, error) {
	text, err := url.QueryUnescape(c.Request.Header.Get(passphraseHeader))
	if err == nil && text != "" {
		err = backup.CheckPassphrase(text)
	}
	if err != nil {
		return "", errdefs.InvalidField(passphraseHeader, "cannot be read: %v", err)
	}
	return text, nil
}

// nameHeader carries the name of the file that a backup which is sent goes to or comes from, encoded as in a query.
const nameHeader = "X-Backup-Name"

// backupName reads the header of that name.
func backupName(c *rest.Call) (string, error) {
	name, err := url.QueryUnescape(c.Request.Header.Get(nameHeader))
	if err != nil || name == "" {
		return "", errdefs.InvalidField(nameHeader, "must name the file")
	}
	return name, nil
}

// localContents counts what the store holds: {counts: {bucket: keys}, holds: {name: number}}. The names in holds are
// the same in all versions.
func (api *API) localContents(c *rest.Call) (rest.Reply, error) {
	cfg, err := api.Backups.Source()
	if err != nil {
		return rest.Reply{}, err
	}
	has, err := cfg.Store.Contents()
	if err != nil {
		return rest.Reply{}, err
	}
	out := map[string]any{"counts": has.Counts}
	if says := api.Backups.Holds; says != nil {
		out["holds"] = says(has.Counts)
	}
	return rest.OK(out)
}

// localBackup makes a backup and returns its bytes: whoever asks for it writes it where the service itself may have no
// rights. It is encrypted only with the passphrase that comes with the request.
func (api *API) localBackup(c *rest.Call) (rest.Reply, error) {
	passphrase, err := passphrase(c)
	if err != nil {
		return rest.Reply{}, err
	}
	cfg, err := api.Backups.Source()
	if err != nil {
		return rest.Reply{}, backupError(err)
	}
	name, err := backupName(c)
	if err != nil {
		return rest.Reply{}, err
	}
	cfg.Passphrase, cfg.AllowWeak = passphrase, false
	by, note := c.Principal.Actor(), api.Backups.Note
	return rest.Reply{Stream: func(ctx context.Context, out *control.Stream) (any, error) {
		cfg.Progress = out.Progress
		r, err := backup.Write(ctx, cfg, out)
		if err == nil {
			note(by, "backup.create", name, map[string]string{"sha256": r.SHA256})
		}
		return keptBackup(r), backupError(err)
	}}, nil
}

// keptBackup is what the command line is told of a backup that was made.
func keptBackup(r backup.Result) any {
	return struct {
		backup.Result
		Omitted          []string `json:"omitted"`
		UnusableSettings bool     `json:"unusableSettings"`
	}{r, r.Manifest.Omitted, r.Manifest.UnusableSettings}
}

// localKeepBackup makes a backup in the folder, with the passphrase of the request or the one that is configured.
func (api *API) localKeepBackup(c *rest.Call) (rest.Reply, error) {
	passphrase, err := passphrase(c)
	if err != nil {
		return rest.Reply{}, err
	}
	by := c.Principal.Actor()
	return rest.Reply{Stream: func(ctx context.Context, out *control.Stream) (any, error) {
		r, err := api.keepBackup(ctx, by, passphrase, out.Progress)
		return keptBackup(r), err
	}}, nil
}

// localUpgradeBackup makes the backup that an upgrade goes back to. It is not encrypted, since nobody is there to open
// it, and stays in the data directory, with the store itself, wherever other backups are put.
func (api *API) localUpgradeBackup(c *rest.Call) (rest.Reply, error) {
	by := c.Principal.Actor()
	return rest.Reply{Stream: func(ctx context.Context, out *control.Stream) (any, error) {
		b := api.Backups
		cfg, err := b.Source()
		if err != nil {
			return nil, backupError(err)
		}
		cfg.Passphrase, cfg.Progress = "", out.Progress
		folder, err := b.Upgrades()
		if err != nil {
			return nil, backupError(err)
		}
		r, err := api.createBackup(ctx, by, cfg, folder, folder.UpgradeName(b.Clock()))
		return keptBackup(r), err
	}}, nil
}

// keepBackup makes a backup in the folder that no schedule asked for.
func (api *API) keepBackup(ctx context.Context, by audit.Actor, passphrase string, progress func(done, total int64)) (r backup.Result, err error) {
	b := api.Backups
	cfg, err := b.Source()
	if err != nil {
		return r, backupError(err)
	}
	if passphrase != "" {
		cfg.Passphrase, cfg.AllowWeak = passphrase, false
	}
	cfg.Progress = progress
	return api.createBackup(ctx, by, cfg, b.Folder, b.Folder.NewName(b.Clock()))
}

// createBackup makes a backup of a name in a folder.
func (api *API) createBackup(
	ctx context.Context, by audit.Actor, cfg backup.Config, folder backup.Folder, name string,
) (r backup.Result, err error) {
	b := api.Backups
	if err := folder.Ready(); err != nil {
		return r, backupError(err)
	}
	if r, err = backup.Create(ctx, cfg, filepath.Join(string(folder), name)); err != nil {
		return r, backupError(err)
	}
	if err := b.HandOver(r.File); err != nil {
		return r, err
	}
	b.Keeper.Refresh()
	b.Note(by, "backup.create", name, map[string]string{"sha256": r.SHA256})
	return r, nil
}

// localRestore takes a backup, all of the body, and puts it in the place of the store. It needs no store: this is the
// way out when it is damaged.
func (api *API) localRestore(c *rest.Call) (rest.Reply, error) {
	if api.Restorer == nil {
		return rest.Reply{}, errdefs.New(errdefs.Unavailable, "no service runs that could restore a backup")
	}
	passphrase, err := passphrase(c)
	if err != nil {
		return rest.Reply{}, err
	}
	name, err := backupName(c)
	if err != nil {
		return rest.Reply{}, err
	}
	path, err := backup.Spool(c.Request.Context(), api.Backups.Scratch, "upload-", c.Request.ContentLength, c.Request.Body)
	if err != nil {
		return rest.Reply{}, backupError(err)
	}
	in := RestoreInput{
		Path: path, Name: name, Passphrase: passphrase, By: c.Principal.Actor(), WithoutSettings: c.On("withoutsettings"),
	}
	return rest.Reply{Stream: func(ctx context.Context, out *control.Stream) (any, error) {
		defer os.Remove(path)
		in.Progress = out.Progress
		r, err := api.Restorer.Restore(ctx, in)
		return r, backupError(err)
	}}, nil
}

// backupError returns a failure of package backup with a kind and a text for people. They name files of the appliance,
// which administrators may know.
func backupError(err error) error {
	var known *errdefs.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	for _, known := range []struct {
		target error
		kind   errdefs.Kind
	}{
		{backup.ErrNotReady, errdefs.Unavailable}, {backup.ErrNoRoom, errdefs.Unavailable},
		{backup.ErrNotFound, errdefs.NotFound}, {backup.ErrName, errdefs.Invalid}, {backup.ErrPassphrase, errdefs.Invalid}, {backup.ErrWeak, errdefs.Conflict},
		{backup.ErrExists, errdefs.Conflict}, {backup.ErrBusy, errdefs.Conflict}, {backup.ErrInUse, errdefs.Conflict},
		{backup.ErrSettings, errdefs.Conflict}, {backup.ErrLast, errdefs.Conflict}, {backup.ErrNewer, errdefs.Conflict}, {backup.ErrDamaged, errdefs.Conflict},
	} {
		if errors.Is(err, known.target) {
			return &errdefs.Error{Kind: known.kind, Message: err.Error()}
		}
	}
	if disk := (*os.PathError)(nil); errors.As(err, &disk) { // full, or taken away
		return &errdefs.Error{Kind: errdefs.Unavailable, Message: err.Error()}
	}
	return err
}

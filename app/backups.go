package app

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/app/host/backup"
	"opsmon/app/host/certs"
	"opsmon/app/host/config"
	"opsmon/app/host/datadir"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/kv"
)

const (
	// firstBackupAfter is how long a service that has just started is left alone.
	firstBackupAfter = time.Minute
	// freePercent is how much of the disk backups in the folder leave free.
	freePercent = 10
)

// newKeeper makes what makes scheduled backups of the App's store, once startKeeper lets it, and tells how they are
// doing.
func (a *App) newKeeper() *backup.Keeper {
	schedule, policy := plan(*a.backup.Load())
	return backup.NewKeeper(backup.KeeperConfig{
		Folder:   a.cfg.BackupDir(),
		Schedule: schedule, Policy: policy,
		Backup: backup.Config{Store: a.store, Version: BuildInfo().Version, Clock: a.cfg.Clock},
		Log:    a.log,
		Delay:  firstBackupAfter,
		Before: func(cfg *backup.Config) (err error) {
			*cfg, err = a.backupConfig()
			return err
		},
		Done: func(r backup.Result, failed error) {
			if failed == nil {
				a.note(audit.Actor{Credential: "service"}, "backup.create", filepath.Base(r.File), map[string]string{"sha256": r.SHA256})
			}
		},
	})
}

// plan gives settings as a Keeper takes them.
func plan(b config.Backup) (backup.Schedule, backup.Policy) {
	hour, minute, _ := b.TimeOfDay() // Check refuses what it is not
	return backup.Schedule{Hour: hour, Minute: minute, Days: b.Every, Off: b.Every == 0, Zone: time.Local},
		backup.Policy{Daily: b.KeepDaily, Weekly: b.KeepWeekly, Monthly: b.KeepMonthly, MaxBytes: int64(b.MaxBytes), MinFreePercent: freePercent}
}

// scheduled reports whether the service makes backups by itself.
func (a *App) scheduled() bool { return a.backup.Load().Every > 0 }

// changeBackups changes how scheduled backups are made, in app.yaml and at once. Errors: Invalid (the name of a
// setting), Conflict for one that is given elsewhere and for an app.yaml that cannot be changed, Unavailable.
func (a *App) changeBackups(values map[string]string, by audit.Actor) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	change, err := a.cfg.ChangeBackup(*a.backup.Load(), values)
	if err != nil || len(change.Settings) == 0 {
		return err
	}
	if err := config.Edit(a.cfg.DataDir, change.Settings); err != nil {
		return err
	}
	a.backup.Store(&change.Backup)
	a.keeper.Plan(plan(change.Backup))
	a.log.Info("how scheduled backups are made was changed", slog.String("by", by.Email))
	a.note(by, "backup.settings", config.File, change.Detail)
	return nil
}

// makeBackupDir makes the folder for backups unless another one is configured: that may be a share that is not mounted,
// and backups into its mount point help nobody.
func (a *App) makeBackupDir() error {
	if a.cfg.Backup.Dir != "" {
		return nil
	}
	dir := a.cfg.BackupDir()
	return errors.Join(backup.Folder(dir).Make(), datadir.HandOver(a.cfg.DataDir, dir))
}

// upgradeBackups makes the folder for the backups that upgrades take.
func (a *App) upgradeBackups() (backup.Folder, error) {
	dir := a.cfg.LocalBackups()
	return backup.Folder(dir), errors.Join(backup.Folder(dir).Make(), datadir.HandOver(a.cfg.DataDir, dir))
}

// backupConfig returns what goes into a backup now, with the passphrase that is configured. It makes the folder for
// backups.
func (a *App) backupConfig() (backup.Config, error) {
	cfg := backup.Config{
		Store: a.store, Version: BuildInfo().Version, Clock: a.cfg.Clock,
		SecretSettings: secretSettings, MinFreePercent: freePercent, AllowWeak: true, WorkFactor: a.cfg.WorkFactor,
		Usable: func(text []byte) error {
			err := a.cfg.Unusable(text)
			if err != nil {
				a.log.Error("a backup is made with settings that cannot be used, also not by the next start of the service: see app doctor", slog.String("at", config.Where(err)))
			}
			return err
		},
	}
	if err := a.makeBackupDir(); err != nil {
		return cfg, err
	}
	keys, err := keyFiles(a.cfg.DataDir)
	if err != nil {
		return cfg, err
	}
	cfg.Files = append(keys, a.namedFiles(keys)...)
	if cfg.Passphrase, err = a.cfg.BackupPassphrase(); err != nil {
		err = &errdefs.Error{Kind: errdefs.Unavailable, Message: err.Error(), Err: err}
	}
	return cfg, err
}

// secretSettings are the settings that hold a secret.
var secretSettings = []string{"smtp.password"}

// keyFiles are the files of the certificate authority. Without its key a certificate is of no use, so all of them are
// secret.
func keyFiles(dataDir string) (files []backup.File, err error) {
	entries, err := os.ReadDir(filepath.Join(dataDir, CertificateDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if entry.Type().IsRegular() && (strings.HasSuffix(entry.Name(), ".key") || strings.HasSuffix(entry.Name(), ".crt")) {
			files = append(files, backup.File{Name: CertificateDir + "/" + entry.Name(), Secret: true})
		}
	}
	for _, name := range []string{certs.CAFile, certs.CAKeyFile} {
		// One without the other is of no use, and whoever needs the backup must know.
		f := backup.File{Name: CertificateDir + "/" + name, Secret: true}
		if len(files) > 0 && !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	return files, err
}

// note writes an audit record into every account: what is done to the appliance concerns each of them. It has been done
// already, so a record that cannot be written is told by the log.
func (a *App) note(by audit.Actor, action, target string, detail map[string]string) {
	err := a.store.Update(func(tx *kv.Tx) error { return noteAll(tx, by, action, target, detail) })
	if err != nil {
		a.log.Error("the audit record could not be written", slog.String("action", action), slog.String("target", target), slog.Any("error", err))
	}
}

func noteAll(tx *kv.Tx, by audit.Actor, action, target string, detail map[string]string) error {
	ids, err := account.IDs(tx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := audit.Put(tx, id, by, action, target, detail); err != nil {
			return err
		}
	}
	return nil
}

// startKeeper begins to make scheduled backups, as long as there are to be any.
func (a *App) startKeeper() {
	if err := a.cfg.PassphraseProblem(); err != nil && a.scheduled() {
		a.log.Error("the passphrase of scheduled backups needs somebody", slog.Any("error", err))
	}
	ctx, cancel := context.WithCancel(context.Background())
	a.endKeeper = cancel
	a.keeping.Go(func() { a.keeper.Run(ctx) })
}

// backupStatus returns how the scheduled backups are doing, nil when none are made.
func (a *App) backupStatus() *appliance.BackupStatus {
	if !a.scheduled() {
		return nil
	}
	if a.endKeeper == nil {
		a.keeper.Refresh()
	}
	s := a.keeper.Status()
	out := &appliance.BackupStatus{File: s.Newest.Name, Bytes: s.Newest.Bytes, Overdue: s.Overdue, Problem: a.backupProblem(s)}
	if s.Newest.Name != "" {
		out.LastAt = new(instant.Format(s.Newest.MadeAt))
	}
	return out
}

// backupProblem returns what is wrong with the scheduled backups, "" when nothing is.
func (a *App) backupProblem(s backup.Status) string {
	if problem := s.Problem(); problem != "" {
		return problem
	}
	if err := a.cfg.PassphraseProblem(); err != nil {
		return err.Error()
	}
	return ""
}

// backupGauges measures the scheduled backups for /metrics.
func (a *App) backupGauges() []rest.Gauge {
	if !a.scheduled() {
		return nil
	}
	s := a.keeper.Status()
	list := []rest.Gauge{
		{Name: "app_backup_failures", Help: "Scheduled backups that failed since the store was opened.", Value: float64(s.Failures)},
		{Name: "app_backup_overdue", Help: "1 when no backup was made although one has been due for six hours.", Value: map[bool]float64{true: 1}[s.Overdue]},
		{Name: "app_backup_failing", Help: "1 when the last scheduled backup failed, or old ones could not be removed.", Value: map[bool]float64{true: 1}[s.Error != "" || s.CleaningErr != ""]},
	}
	weak := rest.Gauge{
		Name: "app_backup_passphrase_problem", Help: "1 when the passphrase of scheduled backups cannot be read, or is too short.",
	}
	if a.cfg.PassphraseProblem() != nil {
		weak.Value = 1
	}
	list = append(list, weak)
	if s.Newest.Name != "" {
		list = append(list,
			rest.Gauge{Name: "app_backup_last_success_timestamp_seconds", Help: "When the newest backup in the folder was made, in seconds since 1970.", Value: float64(s.Newest.MadeAt.Unix())},
			rest.Gauge{Name: "app_backup_age_seconds", Help: "Age of the newest backup in the folder.", Value: a.cfg.Clock().Sub(s.Newest.MadeAt).Seconds()},
			rest.Gauge{Name: "app_backup_bytes", Help: "Size of the newest backup in the folder.", Value: float64(s.Newest.Bytes)},
		)
	}
	return list
}

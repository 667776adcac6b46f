package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/auth"
	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/host/control"
	"opsmon/app/instant"
)

func (e *env) restore() *cobra.Command {
	var to string
	var yes, withoutSettings bool
	var passphrase passphraseFlag
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Restore a backup, also while the service runs", Args: cobra.ExactArgs(1),
		Long: `Verifies the backup, shows what is in it and what would be lost, asks, unless the data directory is empty, and replaces the
store. A running service answers 503 for that moment and then continues with the restored store. The previous store is
kept next to it, and comes back automatically if the service does not become ready. API keys stay valid; sessions, one-time
links and the pairing of tablets end.

A backup whose app.yaml cannot be used on this computer is refused, and nothing is changed. With --without-settings it is
restored without its app.yaml and the files that it names: those of this computer stay, or the defaults apply. Before
the service starts, set in app.yaml how long data is kept (signals.days, windows.days, auditDays, backup): what is older
than the settings say is removed. To see the settings in the backup: app backup inspect FILE --settings`,
		Example: `  app restore /mnt/usb/plant.backup
  app restore plant.backup --to /srv/app-copy
  app restore plant.backup --without-settings`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("to") {
				if to == "" {
					return &usageError{cmd.CommandPath(), errors.New("--to must not be empty")}
				}
				e.dataDir = to
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			secret, m, err := e.verifyWith(ctx, args[0], &passphrase)
			if err != nil {
				return err
			}
			if known := app.StoreVersion(); m.Store > known {
				return fmt.Errorf("%s was made by a newer version: its store has version %d and this program knows versions up to %d; install version %s or a later one", args[0], m.Store, known, m.App)
			}
			if err := e.confirmRestore(ctx, args[0], m, yes); err != nil {
				return err
			}
			r, err := e.restoreFile(ctx, args[0], secret, withoutSettings)
			if err != nil {
				return err
			}
			return e.print(r, func(w io.Writer) { e.describeRestored(w, r) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "data `directory` to restore to, instead of --data-dir; created if missing")
	f.BoolVar(&yes, "yes", false, "do not ask")
	f.BoolVar(&withoutSettings, "without-settings", false, "leave the settings in the backup")
	passphrase.flag(cmd)
	return cmd
}

// confirmRestore shows what a restore would do and asks.
func (e *env) confirmRestore(ctx context.Context, file string, m backup.Manifest, yes bool) error {
	has := m.Entries[0].Counts
	had, err := e.present()
	w := e.stderr
	fmt.Fprintf(w, "%s is whole. It was made at %s (%s) by app %s.\n", file, instant.Format(m.MadeAt), ago(time.Since(m.MadeAt)), m.App)
	switch {
	case err != nil:
		fmt.Fprintf(w, "The present store in %s cannot be read (%v); it is kept next to the restored one.\n", e.dataDir, err)
	case had == nil:
		fmt.Fprintf(w, "There is no store in %s yet.\n", e.dataDir)
	default:
		fmt.Fprintf(w, "\n")
		rows := lost(has, had)
		table(w, "WHAT\tIN THE BACKUP\tNOW", len(rows), func(i int) []any { return rows[i][:] })
		fmt.Fprintf(w, "\nAll that was changed and all that came of machines after the backup will be lost. The present store of %s is kept next to it.\n", e.dataDir)
	}
	if yes || e.nothingToLose() {
		return nil
	}
	if terminal(e.stdin) == nil {
		return errors.New("nothing was done: to restore without being asked, say --yes")
	}
	fmt.Fprint(w, "Restore it? Type yes: ")
	answer, err := waitFor(ctx, func() (string, error) { return bufio.NewReader(e.stdin).ReadString('\n') })
	if strings.TrimSpace(answer) != "yes" || err != nil {
		return errNothingDone
	}
	return nil
}

// nothingToLose reports whether the data directory is missing, or holds nothing that a restore would replace.
func (e *env) nothingToLose() bool {
	entries, err := os.ReadDir(e.dataDir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		return filepath.Ext(entry.Name()) != ".lock" // made by commands that look
	})
}

// present counts what the store holds now; nil when there is none.
func (e *env) present() (map[string]int, error) {
	if _, err := os.Lstat(filepath.Join(e.dataDir, app.StoreFile)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var out struct {
		Counts map[string]int `json:"counts"`
	}
	err := e.with(false, func(c *client) error { return c.call(http.MethodGet, "/local/contents", nil, nil, &out) })
	return out.Counts, err
}

// restored is what a restore has done, as --json prints it.
type restored struct {
	File string `json:"file"`
	app.Restored
	ServiceRuns bool `json:"serviceRuns"` // and continues with the restored store
}

// restoreFile makes the running service restore a backup, or restores it itself when none runs.
func (e *env) restoreFile(ctx context.Context, file, passphrase string, withoutSettings bool) (restored, error) {
	r := restored{File: file}
	tell, end := e.progress("Restoring")
	defer end()
	channel, err := control.Client(e.dataDir)
	o := ownerOf(e.dataDir)
	if errors.Is(err, control.ErrNotRunning) && o != nil {
		c, err := e.asOwner(o, ownFiles)
		if err != nil {
			return r, err
		}
		err = c.restore(ctx, file, passphrase, withoutSettings, tell, &r.Restored)
		return r, errors.Join(err, c.close())
	}
	if errors.Is(err, control.ErrNotRunning) {
		cfg, err := e.readConfig()
		if err != nil { // the restore may replace the settings
			cfg = config.Defaults()
			cfg.DataDir = e.dataDir
		}
		r.Restored, err = app.Restore(ctx, cfg, app.RestoreInput{
			Path: file, Name: filepath.Base(file), Passphrase: passphrase, By: auth.Local("").Actor(), Progress: tell,
			WithoutSettings: withoutSettings,
		})
		return r, err
	}
	if err != nil {
		return r, err
	}
	c := &client{http: channel}
	defer channel.CloseIdleConnections()
	r.ServiceRuns = true
	return r, c.restore(ctx, file, passphrase, withoutSettings, tell, &r.Restored)
}

// restore sends a backup to be restored.
func (c *client) restore(
	ctx context.Context, file, passphrase string, withoutSettings bool, tell func(done, total int64), out *app.Restored,
) error {
	f, size, err := backup.OpenWhole(ctx, file) // with the parts that backups of its folder share
	if err != nil {
		return err
	}
	defer f.Close()
	header := sent(file, passphrase)
	header["Content-Type"] = "application/octet-stream"
	path := "/local/restore"
	if withoutSettings {
		path += "?withoutsettings=true"
	}
	return c.stream(ctx, streaming{path: path, header: header, body: f, size: size, progress: tell}, out)
}

// restoredFile describes a file that came with the backup because its settings name it. unnamed is whether they do not
// name its new place.
func restoredFile(f app.BroughtFile, unnamed bool) string {
	switch {
	case unnamed:
		return fmt.Sprintf("%s came with the backup, since %s cannot be read here: name it in app.yaml, which could not be changed.", f.Path, f.Instead)
	case f.Path == f.Instead:
		return f.Path + " came with the backup."
	}
	return fmt.Sprintf("%s came with the backup, since %s cannot be read here, and app.yaml names it now.", f.Path, f.Instead)
}

// describeRestored writes what was done and what is left to do.
func (e *env) describeRestored(w io.Writer, r restored) {
	fmt.Fprintf(w, "Restored: %s now has the store of %s.\n", e.dataDir, instant.Format(r.MadeAt.Time))
	if r.Previous != "" {
		fmt.Fprintf(w, "The store that was there before is kept as %s\n", r.Previous)
	}
	fmt.Fprintln(w, "API keys are valid as before. Sessions and one-time links have ended; tablets must be paired again.")
	e.printSettings(w, r)
	if len(r.Missing) > 0 {
		fmt.Fprintf(w, "The settings name files that are neither in the backup nor here, or cannot be read: bring %s before the next start.\n", list(r.Missing))
	}
	switch {
	case r.NewAuthority:
		fmt.Fprintln(w, "The backup lacks the keys of the plant's certificate authority: with tls: auto a new one is made, which devices must trust again.")
	case r.CertificatesChanged:
		fmt.Fprintln(w, "The plant's certificate authority came with the backup: devices that trust it still do.")
	}
	switch {
	case r.ServiceRuns && (r.SettingsChanged || r.CertificatesChanged):
		fmt.Fprintln(w, "The service continues with the restored store. Settings and certificates apply from its next start.")
	case r.ServiceRuns:
		fmt.Fprintln(w, "The service continues with it.")
	default:
		fmt.Fprintf(w, "No service runs on it. Start it, or run: app serve%s\n", e.dirFlag())
	}
}

// printSettings writes how the restore changed app.yaml and the files that it names.
func (e *env) printSettings(w io.Writer, r restored) {
	switch r.Settings {
	case backup.SettingsRestored:
		if r.SettingsChanged {
			fmt.Fprintln(w, "app.yaml came with the backup and differs from what was here before.")
		}
	case backup.SettingsKept:
		fmt.Fprintf(w, "app.yaml is the one that was here: the backup lacks %s.\n", list(r.Omitted))
	case backup.SettingsRedacted:
		fmt.Fprintf(w, "app.yaml came with the backup, which lacks %s: set what is needed again.\n", list(r.Omitted))
	case backup.SettingsAbsent:
		if slices.Contains(r.Omitted, config.File) {
			fmt.Fprintln(w, "The backup lacks app.yaml, because it could not be used when the backup was made, and may hold a secret: set what is needed again.")
		}
	case backup.SettingsLeft:
		fmt.Fprintln(w, "The settings were left in the backup: those of this computer apply.")
	}
	for _, f := range r.Brought {
		fmt.Fprintln(w, f.Setting+": "+restoredFile(f, slices.Contains(r.Missing, f.Instead)))
	}
}

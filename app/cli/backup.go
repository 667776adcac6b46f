package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/instant"
)

// made is the output of `app backup` (decisions.md section 7).
type made struct {
	File    string   `json:"file"`
	Bytes   int64    `json:"bytes"`
	SHA256  string   `json:"sha256"`
	Omitted []string `json:"-"`

	UnusableSettings bool `json:"-"`
}

func (e *env) backup() *cobra.Command {
	var encrypt, overwrite bool
	var passphrase passphraseFlag
	cmd := &cobra.Command{
		Use: "backup [FILE]", Short: "Make a verified backup, also while the service runs", Args: cobra.MaximumNArgs(1),
		Long: `Makes a backup of the store and the settings in one file, verifies it, and only then gives it its name. The service
keeps running. Without FILE the backup goes into the service's own backup folder. FILE may be a directory, where the
backup gets a dated name, or - for standard output.

Only encrypted backups contain private keys (of the certificate authority), the password in app.yaml, and the files that
app.yaml names (the plant's own certificate and key, passwords).`,
		Example: `  app backup
  app backup /mnt/usb/plant.backup --encrypt
  app backup - --passphrase-file secret.txt > plant.backup`,
		RunE: func(cmd *cobra.Command, args []string) error {
			file := ""
			if len(args) > 0 {
				if file = args[0]; file == "" {
					return &usageError{cmd.CommandPath(), errors.New("FILE must not be empty")}
				}
			}
			if file == "-" && e.json {
				return &usageError{cmd.CommandPath(), errors.New("--json and a backup on standard output do not go together")}
			}
			if file == "-" && terminal(e.stdout) != nil {
				return &usageError{cmd.CommandPath(), errors.New("a backup is not for a terminal: send standard output to a file or a program")}
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			secret, err := passphrase.forNew(ctx, e, encrypt)
			if err != nil {
				return err
			}
			if info, err := os.Stat(file); file != "-" && err == nil && info.IsDir() {
				file = filepath.Join(file, backup.ManualName(time.Now()))
			}
			return e.with(false, func(c *client) error {
				out, err := e.makeBackup(ctx, c, file, secret, overwrite)
				if out.UnusableSettings {
					fmt.Fprintln(e.stderr, "WARNING: the settings cannot be used: the next start of the service and a restore of this backup will refuse them. To see what is wrong: app doctor"+e.dirFlag())
				}
				if err != nil || file == "-" {
					return err
				}
				return e.print(out, func(w io.Writer) {
					fmt.Fprintf(w, "%s is made: %s, verified.\nSHA-256 %s\n", out.File, size(out.Bytes), out.SHA256)
					if len(out.Omitted) > 0 && secret != "" {
						fmt.Fprintf(w, "It lacks %s.\n", list(reasons(out.Omitted)))
					} else if len(out.Omitted) > 0 {
						fmt.Fprintf(w, "It is not encrypted, so it lacks %s. An encrypted backup (--encrypt) has those that can be read, except other passphrases.\n", list(out.Omitted))
					}
				})
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&encrypt, "encrypt", false, "encrypt with a passphrase, which is asked for")
	f.BoolVar(&overwrite, "overwrite", false, "replace FILE if it exists")
	passphrase.flag(cmd)
	cmd.AddCommand(e.verifyBackup(), e.inspectBackup())
	return cmd
}

// reasons returns for each file missing in an encrypted backup why it is missing.
func reasons(omitted []string) (said []string) {
	for _, name := range omitted {
		if !strings.HasSuffix(name, ")") { // a missing file of the service itself
			name += " (it is not there: see app doctor)"
		}
		said = append(said, name)
	}
	return said
}

// outside refuses a backup file among the service's own files, because it could overwrite the store.
func (e *env) outside(file string) error {
	read := e.readConfig
	if o := ownerOf(e.dataDir); o != nil {
		read = func() (config.Settings, error) { return e.readOwners(o) }
	}
	cfg, err := read()
	if err != nil { // reported later by the backup itself
		cfg = config.Defaults()
		cfg.DataDir = e.dataDir
	}
	at := resolved(filepath.Dir(file))
	if data := resolved(e.dataDir); inside(at, data) && !inside(at, resolved(cfg.BackupDir())) {
		return fmt.Errorf("%s lies in the data directory, among the files of the service; choose a place outside of it, or leave FILE out", file)
	}
	return nil
}

// resolved returns a path with its existing part resolved from symbolic links.
func resolved(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// makeBackup lets the owner of the store make a backup, and writes it as the caller: the service needs no permissions
// in the target folder.
func (e *env) makeBackup(ctx context.Context, c *client, file, passphrase string, overwrite bool) (out made, err error) {
	tell, end := e.progress("Backing up")
	defer end()
	request := streaming{path: "/local/backup", header: sent(file, passphrase), progress: tell}
	switch file {
	case "":
		request.path = "/local/backup/keep"
		return c.made(ctx, request)
	case "-":
		request.data = e.stdout
		return c.made(ctx, request)
	}
	if err := e.outside(file); err != nil {
		return out, err
	}
	if _, err := os.Lstat(file); err == nil && !overwrite {
		return out, fmt.Errorf("%s exists already: choose another name, or say --overwrite", file)
	}
	from, to := io.Pipe()
	request.data = to
	asked := make(chan error, 1)
	go func() {
		err := c.stream(ctx, request, &out)
		to.CloseWithError(err) // nil ends the stream
		asked <- err
	}()
	r, err := backup.Receive(ctx, backup.ReceiveConfig{Path: file, Overwrite: overwrite, Passphrase: passphrase}, from)
	from.CloseWithError(errors.New("it could not be written")) // ends the request if writing failed
	if failed := <-asked; err == nil {
		err = failed
	}
	return made{File: r.File, Bytes: r.Bytes, SHA256: r.SHA256, Omitted: r.Manifest.Omitted, UnusableSettings: r.Manifest.UnusableSettings}, err
}

// made requests a backup that the service stores, or that is written to a writer, and returns the answer.
func (c *client) made(ctx context.Context, request streaming) (made, error) {
	var out struct {
		made
		Omitted          []string `json:"omitted"`
		UnusableSettings bool     `json:"unusableSettings"`
	}
	err := c.stream(ctx, request, &out)
	out.made.Omitted, out.made.UnusableSettings = out.Omitted, out.UnusableSettings
	return out.made, err
}

// sent returns the headers of a backup request.
func sent(file, passphrase string) map[string]string {
	return map[string]string{"X-Backup-Passphrase": url.QueryEscape(passphrase), "X-Backup-Name": url.QueryEscape(filepath.Base(file))}
}

func (e *env) verifyBackup() *cobra.Command {
	var passphrase passphraseFlag
	cmd := &cobra.Command{
		Use: "verify FILE", Short: "Verify a backup and the store in it", Args: cobra.ExactArgs(1),
		Long: `Reads the whole backup, compares all checksums, unpacks it, and checks and counts every value of the store in it. It
writes nothing and needs neither a service nor a store. A backup in a folder needs the directory "parts" next to it.`,
		Example: "  app backup verify plant.backup",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			m, err := e.verify(ctx, args[0], &passphrase)
			if err != nil {
				return err
			}
			return e.print(described{args[0], true, m, instant.Of(m.MadeAt)}, func(w io.Writer) {
				fmt.Fprintf(w, "%s is whole.\n\n", args[0])
				describe(w, m)
			})
		},
	}
	passphrase.flag(cmd)
	return cmd
}

// verify verifies a backup and returns its manifest.
func (e *env) verify(ctx context.Context, file string, passphrase *passphraseFlag) (backup.Manifest, error) {
	_, m, err := e.verifyWith(ctx, file, passphrase)
	return m, err
}

// verifyWith is verify that also returns the passphrase.
func (e *env) verifyWith(ctx context.Context, file string, passphrase *passphraseFlag) (string, backup.Manifest, error) {
	header, err := backup.Inspect(file, "")
	if err != nil {
		return "", header, err
	}
	secret, err := passphrase.forFile(ctx, e, header.Encrypted)
	if err != nil {
		return "", header, err
	}
	tell, end := e.progress("Verifying")
	defer end()
	m, err := backup.Verify(ctx, backup.VerifyConfig{Path: file, Passphrase: secret, Progress: tell})
	return secret, m, err
}

// described is the output of verify and inspect.
type described struct {
	File     string `json:"file"`
	Verified bool   `json:"verified"`
	backup.Manifest
	MadeAt instant.Time `json:"madeAt"` // in the format of all times
}

func (e *env) inspectBackup() *cobra.Command {
	var passphrase passphraseFlag
	var settings bool
	cmd := &cobra.Command{
		Use: "inspect FILE", Short: "Show a backup's description without verifying it", Args: cobra.ExactArgs(1),
		Long: `Shows when the backup was made, by which version, and its content. For an encrypted backup the content is shown only
if its passphrase is given. With --settings only the app.yaml in the backup is written, as it is.`,
		Example: `  app backup inspect plant.backup --passphrase-file secret.txt
  app backup inspect plant.backup --settings > app.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			secret, err := passphrase.given(e)
			if err != nil {
				return err
			}
			if settings {
				text, err := backup.ReadSettings(cmd.Context(), args[0], secret)
				if err == nil {
					_, err = e.stdout.Write(text)
				}
				return err
			}
			m, err := backup.Inspect(args[0], secret)
			if err != nil {
				return err
			}
			return e.print(described{args[0], false, m, instant.Of(m.MadeAt)}, func(w io.Writer) { describe(w, m) })
		},
	}
	cmd.Flags().BoolVar(&settings, "settings", false, "write the app.yaml in the backup, and nothing else")
	passphrase.flag(cmd)
	return cmd
}

// describe writes the content of a backup.
func describe(w io.Writer, m backup.Manifest) {
	encrypted := "no"
	if m.Encrypted {
		encrypted = "yes"
	}
	fmt.Fprintf(w, "made       %s, %s\nby         app %s\nstore      version %d\nencrypted  %s\n", instant.Format(m.MadeAt), ago(time.Since(m.MadeAt)), m.App, m.Store, encrypted)
	for _, entry := range m.Entries {
		note := ""
		if entry.Kind == backup.KindRedacted {
			note = ", without secrets and comments"
		}
		if entry.Name == config.File && m.UnusableSettings {
			note += ", which could not be used when the backup was made"
		}
		fmt.Fprintf(w, "holds      %s, %s%s\n", entry.Name, size(entry.Size), note)
	}
	for _, name := range m.Omitted {
		fmt.Fprintf(w, "left out   %s\n", name)
	}
	if len(m.Entries) > 0 {
		counts := m.Entries[0].Counts
		fmt.Fprintln(w)
		table(w, "WHAT\tHOW MANY", len(notable), func(i int) []any { return []any{notable[i].what, counts[notable[i].bucket]} })
	}
	if m.Encrypted && len(m.Entries) == 0 {
		fmt.Fprintf(w, "What is in it is shown with its passphrase: --passphrase-file FILE or %s.\n", passphraseVariable)
	}
}

// notable are the buckets whose counts mean something to people. Signals are packed; the number of windows represents
// them.
var notable = []struct{ bucket, what string }{
	{"account", "accounts"}, {"revision", "revisions of configurations"}, {"authUser", "users"}, {"authKey", "API keys"}, {"authTablet", "tablets"}, {"authDevice", "devices"}, {"audit", "audit records"},
	{"historyDetail", "station days of windows"}, {"schedule", "schedules"}, {"production", "entries of operators"}, {"issue", "stops that people spoke of"}, {"task", "Tasks"}, {"message", "messages"}, {"correction", "corrections"},
}

// size formats a number of bytes for people.
func size(n int64) string {
	if n < 1000 {
		return count(int(n), "byte", "bytes")
	}
	v, unit := float64(n), 0
	for v >= 999.5 && unit < 4 {
		v, unit = v/1000, unit+1
	}
	return fmt.Sprintf("%.3g %s", v, []string{"", "kB", "MB", "GB", "TB"}[unit])
}

// ago formats an age approximately.
func ago(d time.Duration) string {
	switch {
	case d < 0:
		return "in the future: a clock is wrong"
	case d < 2*time.Minute:
		return "just now"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// list joins words with commas and "and".
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// lost returns the differences of two stores in notable buckets.
func lost(has, had map[string]int) (rows [][3]any) {
	for _, n := range notable {
		rows = append(rows, [3]any{n.what, has[n.bucket], had[n.bucket]})
	}
	return rows
}

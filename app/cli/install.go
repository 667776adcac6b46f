package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/host/config"
	"opsmon/app/host/service"
)

// readyLimit is how long a service may take to become ready after its start.
const readyLimit = time.Minute

// stepLine is a step in the output.
type stepLine struct {
	What string `json:"what"`
	Done bool   `json:"done"` // it was done before
}

// take executes the steps, or only lists them for a dry run.
func (e *env) take(ctx context.Context, steps []service.Step, dry bool) ([]stepLine, error) {
	lines := []stepLine{}
	for _, s := range steps {
		lines = append(lines, stepLine{s.What, s.Done})
		if !e.json {
			done := ""
			if s.Done {
				done = " (is so already)"
			}
			if err := e.write([]byte("- " + s.What + done + "\n")); err != nil {
				return lines, err
			}
		}
		if dry {
			continue
		}
		err := s.Run(ctx)
		if err != nil && !s.Optional {
			return lines, err
		}
		if err != nil {
			fmt.Fprintf(e.stderr, "warning: %v\n", err)
		}
	}
	return lines, nil
}

func (e *env) install() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "install", Short: "Install the service on this machine, or update its installation", Args: cobra.NoArgs,
		Long: `Copies this program to its place, creates the data directory for the service's own user, writes app.yaml, registers the
service with the system, starts it and waits until it is ready. Running it again updates what has changed and leaves the
rest; an existing app.yaml is never changed.`,
		Example: "  app install\n  app install --dry-run\n  app install --data-dir /srv/opsmon",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := service.Allowed("install"); err != nil {
				return err
			}
			dir, err := e.installDir(cmd.Flags().Changed("data-dir"))
			if err != nil {
				return err
			}
			return e.installService(cmd.Context(), dir, dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be done, but do nothing")
	return cmd
}

// installed is the JSON output of install.
type installed struct {
	Steps     []stepLine `json:"steps"`
	DryRun    bool       `json:"dryRun"`
	DataDir   string     `json:"dataDir"`
	URLs      []string   `json:"urls"`
	SetupCode string     `json:"setupCode,omitempty"`
}

// installDir returns the data directory to install for: the given one, else that of the installed service, because a
// new program must continue with the plant's data.
func (e *env) installDir(given bool) (string, error) {
	if !given && e.getenv("APP_DATA_DIR") == "" {
		s, err := service.Find()
		if err == nil {
			st, err := s.State()
			return e.serviceDir(st), err
		}
		if !errors.Is(err, service.ErrNotInstalled) {
			return "", err
		}
	}
	return filepath.Abs(e.dataDir)
}

func (e *env) installService(ctx context.Context, dir string, dry bool) error {
	cfg, err := config.LoadInstalled(dir)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return fmt.Errorf("find this program's file: %w", err)
	}
	steps, err := service.Install(service.InstallConfig{
		Program: program, DataDir: dir, Settings: config.InstalledText(), Folders: []string{cfg.BackupDir()}, Ports: cfg.Ports(),
	})
	if err != nil {
		return err
	}
	began := time.Now()
	out := installed{DryRun: dry, DataDir: dir, URLs: []string{}}
	if out.Steps, err = e.take(ctx, steps, dry); err != nil {
		return withLastWords(err, began)
	}
	if dry {
		return e.print(out, func(io.Writer) {})
	}
	st, err := waitReady(ctx, dir)
	if err != nil {
		return withLastWords(err, began)
	}
	out.URLs, out.SetupCode = st.URLs, st.SetupCode
	e.dataDir = dir
	e.warnUncheckable()
	return e.print(out, func(w io.Writer) { welcome(w, st, dir, e.dirFlag(), len(cfg.Ports()) > 0) })
}

// welcome prints the addresses of the installed service and the next steps; lan: other computers can reach it.
func welcome(w io.Writer, st *serviceStatus, dir, flag string, lan bool) {
	fmt.Fprintf(w, "\nThe service runs, and starts with this machine.\n\n")
	for i, url := range st.URLs {
		heading := ""
		switch {
		case i == 0 && lan:
			heading = "On the LAN:"
		case i == 0:
			heading = "Only on this machine:"
		}
		fmt.Fprintf(w, "%-12s%s\n", heading, url)
	}
	fmt.Fprintf(w, "Data:       %s\nSettings:   %s\n\nNext:\n", dir, filepath.Join(dir, config.File))
	if st.Certificate != nil && st.Certificate.Authority != nil {
		fmt.Fprintf(w, "- let the devices trust the plant's certificate: app trust%s\n", flag)
		for _, page := range st.Certificate.Authority.Pages {
			fmt.Fprintf(w, "    %s\n", page)
		}
	}
	if st.SetupCode != "" {
		fmt.Fprintf(w, "- set the plant up: in a browser, open /welcome at the address above and type the one-time code %s\n  or here: app init --domain DOMAIN --email EMAIL%s\n", st.SetupCode, flag)
	}
	fmt.Fprintf(w, "- see how the service is: app status\n")
}

// waitReady waits until the installed service is ready and returns its state. It returns early if the service has
// ended.
func waitReady(ctx context.Context, dir string) (*serviceStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			s, err := service.Find()
			if err != nil {
				return
			}
			if st, err := s.State(); err == nil && !st.Running {
				cancel()
			}
		}
	}()
	if err := service.WaitReady(ctx, dir); err != nil {
		return nil, err
	}
	return askStatus(dir)
}

// withLastWords adds the service's log output since a time to the error of its start.
func withLastWords(err error, since time.Time) error {
	words := strings.TrimSpace(service.LastWords(since))
	if words == "" {
		return err
	}
	return fmt.Errorf("%w\nIts last words in the system's log:\n  %s", err, strings.ReplaceAll(words, "\n", "\n  "))
}

func (e *env) uninstall() *cobra.Command {
	var dry, purge, yes bool
	cmd := &cobra.Command{
		Use: "uninstall", Short: "Uninstall the service; data stay", Args: cobra.NoArgs,
		Long: `Stops the service and removes it, its program and everything else that was set up for it. The data stay, unless --purge
is given, which removes the data directory with everything in it.`,
		Example: "  app uninstall\n  app uninstall --purge",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if yes && !purge {
				return &usageError{cmd.CommandPath(), errors.New("--yes is for --purge")}
			}
			return e.uninstallService(cmd.Context(), dry, purge, yes)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&dry, "dry-run", false, "show what would be done, but do nothing")
	f.BoolVar(&purge, "purge", false, "remove the data directory with everything in it, and the service's user")
	f.BoolVar(&yes, "yes", false, "with --purge: do not ask")
	return cmd
}

// uninstalled is the JSON output of uninstall.
type uninstalled struct {
	Steps   []stepLine `json:"steps"`
	DryRun  bool       `json:"dryRun"`
	DataDir string     `json:"dataDir"`
	Purged  bool       `json:"purged"`
}

func (e *env) uninstallService(ctx context.Context, dry, purge, yes bool) error {
	if err := service.Allowed("uninstall"); err != nil {
		return err
	}
	steps, st, err := service.Uninstall()
	if err != nil {
		return err
	}
	if purge {
		if err := ours(st.DataDir); err != nil {
			return err
		}
		steps = append(steps, service.Act("remove "+st.DataDir+" with everything in it", func(context.Context) error { return os.RemoveAll(st.DataDir) }))
		steps = append(steps, service.RemoveUser()...)
		if !dry && !yes {
			if err := e.confirm(st.DataDir); err != nil {
				return err
			}
		}
	}
	out := uninstalled{DryRun: dry, DataDir: st.DataDir, Purged: purge && !dry}
	if out.Steps, err = e.take(ctx, steps, dry); err != nil {
		return err
	}
	return e.print(out, func(w io.Writer) {
		switch {
		case dry:
		case purge:
			fmt.Fprintf(w, "The service and its data are gone.\n")
		default:
			remove := "rm -r "
			if runtime.GOOS == "windows" {
				remove = "rmdir /s "
			}
			fmt.Fprintf(w, "The service is gone. Its data are kept in %s; a new app install uses them again.\nRemove them with: %s%s\n", st.DataDir, remove, app.Quote(st.DataDir))
		}
	})
}

// ours checks that a folder to remove is a data directory.
func ours(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, name := range []string{app.StoreFile, config.File} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s holds neither %s nor %s, so it may be another directory than meant; remove it by hand, and run app uninstall without --purge", dir, app.StoreFile, config.File)
}

// confirm asks before the data is deleted.
func (e *env) confirm(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	names := []string{}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	fmt.Fprintf(e.stderr, "%s holds: %s\nAll of it is removed for good, backups in it too.\n", dir, strings.Join(names, ", "))
	if terminal(e.stdin) == nil {
		return errors.New("nothing was done: to remove the data without being asked, say --yes")
	}
	fmt.Fprint(e.stderr, "Remove it? Type yes: ")
	answer, err := bufio.NewReader(e.stdin).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" || err != nil {
		return errors.New("nothing was done")
	}
	return nil
}

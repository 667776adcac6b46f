package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/host/control"
	"opsmon/app/host/service"
	"opsmon/app/host/upgrade"
	"opsmon/kv"
)

// upgradeFlags are the common flags of `upgrade` and `rollback`.
type upgradeFlags struct {
	binary string
	yes    bool
}

func (f *upgradeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.binary, "binary", "", "`path` of the installed program, if no installed service runs it")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
}

func (e *env) upgrade() *cobra.Command {
	var flags upgradeFlags
	var unsigned bool
	cmd := &cobra.Command{
		Use: "upgrade FILE", Short: "Upgrade the installed version, and roll back if the new one does not get ready", Args: one("file"),
		Long: `FILE is a newer program, or a tar.gz or zip package with it. Its signature is checked, a verified backup is made, and the
new version checks a copy of the store. Then the service stops, the programs are exchanged, and the service starts. It is
observed for a minute: if it does not get or stay ready, or its store lacks data, the old program is put back
automatically, with the present store or, if necessary, the one from before. The old program is kept for app rollback.

An installation from a system package (.deb, .rpm, .msi) is upgraded with a package: the error names the command.`,
		Example: "  app upgrade app_1.4.0_linux_amd64.tar.gz\n  app upgrade ./app-new --unsigned --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			cfg, err := e.upgradeConfig(cmd, flags)
			if err != nil {
				return err
			}
			e.warnUncheckable()
			r, err := upgrade.Upgrade(ctx, cfg, args[0], unsigned)
			if err != nil {
				return err
			}
			return e.print(r, func(w io.Writer) {
				fmt.Fprintf(w, "Version %s is installed. Version %s is kept; go back to it with: app rollback%s\n", r.To, r.From, e.dirFlag())
				if cfg.Service == nil {
					fmt.Fprintln(w, "No service was stopped or started: whoever runs it starts it again.")
				}
			})
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&unsigned, "unsigned", false, "accept a file without a signature; a wrong signature is still refused")
	return cmd
}

// warnUncheckable warns about a build that cannot verify upgrades.
func (e *env) warnUncheckable() {
	if text := upgrade.Uncheckable(); text != "" {
		fmt.Fprintln(e.stderr, "WARNING: "+text)
	}
}

func (e *env) rollback() *cobra.Command {
	var flags upgradeFlags
	cmd := &cobra.Command{
		Use: "rollback", Short: "Roll back to the version before the last upgrade", Args: cobra.NoArgs,
		Long: `Puts the previous program back: with the present store if that program can read it, otherwise with the backup made
before the upgrade. In that case everything written since is lost, so the command asks first; the store that it replaces
is kept next to it. It also rolls back an upgrade that was interrupted, for example by a power cut.`,
		Example: "  app rollback",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			cfg, err := e.upgradeConfig(cmd, flags)
			if err != nil {
				return err
			}
			r, err := upgrade.Rollback(ctx, cfg, e.storeVersion(cfg.DataDir))
			if err != nil {
				return err
			}
			return e.print(r, func(w io.Writer) {
				fmt.Fprintf(w, "Version %s is installed again; version %s is kept as %s.\n", r.To, r.From, r.Previous)
				if r.Backup != "" {
					fmt.Fprintf(w, "The store is that of %s.\n", r.Backup)
				}
			})
		},
	}
	flags.add(cmd)
	return cmd
}

// upgradeConfig determines the installed program, its service and its data directory.
func (e *env) upgradeConfig(cmd *cobra.Command, flags upgradeFlags) (c upgrade.Config, err error) {
	found, err := e.installed(flags)
	if err != nil {
		return c, err
	}
	if found.service != nil {
		if cmd.Flags().Changed("data-dir") && filepath.Clean(e.dataDir) != filepath.Clean(found.dataDir) {
			return c, &usageError{cmd.CommandPath(), fmt.Errorf("the installed service uses %s and not %s; leave --data-dir out, or name another program with --binary", found.dataDir, e.dataDir)}
		}
		e.dataDir = found.dataDir
	}
	cfg, err := e.storeConfig()
	if err != nil {
		return c, err
	}
	c = app.UpgradeConfig(cfg)
	c.Binary = found.binary
	if found.service != nil {
		c.Service = &runner{Service: found.service, dataDir: found.dataDir}
	}
	c.Say = func(text string) { fmt.Fprintln(e.stderr, text+" …") }
	c.Confirm = func(question string) error { return e.agree(question, flags.yes) }
	c.Backup = func(ctx context.Context) (path string, err error) {
		err = e.with(false, func(client *client) error {
			tell, end := e.progress("Backing up")
			defer end()
			out, err := client.made(ctx, streaming{path: "/local/backup/upgrade", progress: tell})
			path = out.File
			return err
		})
		return path, err
	}
	return c, nil
}

// installation is a program with the service that runs it.
type installation struct {
	binary, dataDir string
	service         *service.Service // nil: no service
}

// installed finds the installed program: that of the service, or the named one.
func (e *env) installed(flags upgradeFlags) (i installation, err error) {
	named := flags.binary
	if named != "" {
		if named, err = filepath.Abs(named); err != nil {
			return i, err
		}
		if named, err = filepath.EvalSymlinks(named); err != nil {
			return i, err
		}
	}
	s, err := service.Find()
	if errors.Is(err, service.ErrNotInstalled) || errors.Is(err, service.ErrUnsupported) {
		if named == "" {
			return i, fmt.Errorf("%w; or name the program that is to be replaced with --binary PATH", err)
		}
		return installation{binary: named}, nil
	}
	if err != nil {
		return i, err
	}
	st, err := s.State()
	if err != nil {
		return i, err
	}
	if named != "" && named != st.Binary {
		return installation{binary: named}, nil
	}
	if st.Package != "" {
		return i, fmt.Errorf("%s was installed by a package (%s): upgrade it, or go back, with a package of the version that you want: %s", st.Binary, st.Package, upgrade.PackageCommand(st.Package, "FILE"))
	}
	return installation{binary: st.Binary, dataDir: e.serviceDir(st), service: s}, nil
}

// runner adapts the installed service for an upgrade.
type runner struct {
	*service.Service
	dataDir string
	began   time.Time // of the last start
}

// Stop implements upgrade.Service.
func (r *runner) Stop(ctx context.Context) error { return stop(ctx, r.Service) }

// Start implements upgrade.Service.
func (r *runner) Start(ctx context.Context) error {
	r.began = time.Now()
	return r.explained(r.Service.Start(ctx))
}

// WaitReady implements upgrade.Service.
func (r *runner) WaitReady(ctx context.Context) error {
	return r.explained(service.WaitReady(ctx, r.dataDir))
}

func (r *runner) explained(err error) error {
	if err == nil {
		return nil
	}
	return withLastWords(err, r.began)
}

// agree asks for confirmation, unless it was given by a flag.
func (e *env) agree(question string, yes bool) error {
	fmt.Fprintln(e.stderr, question)
	if yes {
		return nil
	}
	if terminal(e.stdin) == nil {
		return errors.New("nothing was done: to go on without being asked, say --yes")
	}
	fmt.Fprint(e.stderr, "Go on? Type yes: ")
	answer, err := bufio.NewReader(e.stdin).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" || err != nil {
		return errors.New("nothing was done")
	}
	return nil
}

// storeVersion returns the version of the store; 0: unknown.
func (e *env) storeVersion(dir string) int {
	st, err := askStatus(dir)
	switch {
	case err == nil && st.Store != nil:
		return st.Store.Version
	case err == nil, !errors.Is(err, control.ErrNotRunning):
		return 0
	}
	n, err := kv.VersionOf(filepath.Join(dir, app.StoreFile))
	if err != nil {
		return 0
	}
	return n
}

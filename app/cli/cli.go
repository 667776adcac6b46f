// Package cli is the command line of app. Each command sends a request to the API's local side: that of the running
// service over its control channel, or that of a temporary service in the process if none is running. A command
// therefore does the same in both cases.
package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"opsmon/app/errdefs"
	"opsmon/app/host/service"
)

// Exit statuses (decisions.md section 7).
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// Main runs the command line of the process and returns its exit status.
func Main() int { return Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr) }

// Run runs a command line and returns its exit status: 0, 1 or 2 (decisions.md section 7). serve and demo run until ctx
// ends or the process gets a signal.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stderr = printable{stderr}
	e := &env{stdin: stdin, stdout: stdout, stderr: stderr, getenv: os.Getenv}
	root := e.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			holder(cmd)
		}
	}
	markUsage(root)
	err := root.ExecuteContext(ctx)
	var usage *usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		service.Complain(stderr, fmt.Sprintf("app: %v\nSee: %s --help\n", usage.err, usage.command))
		if service.Managed() {
			return service.ExitPermanent
		}
		return exitUsage
	case errors.Is(err, errReported):
		return exitFailed
	}
	var said strings.Builder
	fmt.Fprintf(&said, "app: %v\n", err)
	var e2 *errdefs.Error
	if errors.As(err, &e2) {
		for _, d := range errdefs.Cap(e2.Details) {
			if line := fieldLine(d); len(e2.Details) > 1 || !strings.HasSuffix(e2.Message, line) {
				fmt.Fprintf(&said, "  %s\n", line)
			}
		}
	}
	service.Complain(stderr, said.String())
	var permanent *service.PermanentError
	if service.Managed() && errors.As(err, &permanent) {
		return service.ExitPermanent
	}
	return exitFailed
}

func fieldLine(d errdefs.Detail) string {
	if d.Field == "" {
		return d.Issue
	}
	return d.Field + " " + d.Issue
}

// printable replaces control characters in text for people: names and notes come from others, and a terminal interprets
// some of them as commands.
type printable struct{ w io.Writer }

// Write implements io.Writer.
func (p printable) Write(b []byte) (int, error) {
	clean := bytes.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, b)
	if _, err := p.w.Write(clean); err != nil {
		return 0, err
	}
	return len(b), nil
}

// errReported ends a command whose output already has the error.
var errReported = errors.New("reported")

// usageError is an error in the command line itself.
type usageError struct {
	command string
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }

// env has the streams and the global flags of the commands.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	dataDir string
	account string
	json    bool
}

func (e *env) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "app",
		Short: "Manufacturing operations monitoring for one plant",
		Long: `app monitors the production of one plant: it collects signals, calculates figures, and serves an API and pages. All data
is in one file.

Try it:            app demo
Set it up:         app init --domain plant.example --email it@plant.example
Run it:            app serve`,
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.NoArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if e.dataDir == "" {
				return &usageError{cmd.CommandPath(), errors.New("--data-dir must not be empty")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	fallback := e.getenv("APP_DATA_DIR")
	if fallback == "" {
		fallback = defaultDataDir(e.getenv)
	}
	flags := root.PersistentFlags()
	flags.StringVar(&e.dataDir, "data-dir", fallback, "`directory` of the store and app.yaml; also APP_DATA_DIR")
	flags.BoolVar(&e.json, "json", false, "print only one JSON value on standard output")
	flags.StringVar(&e.account, "account", "", "account `ID`; required only when there are several")
	root.AddCommand(
		e.demo(), e.init(), e.serve(), e.accountCommands(), e.userCommands(), e.keyCommands(), e.deviceCommands(), e.loginLink(), e.resetAdmin(),
		e.manifestCommands(), e.backup(), e.restore(), e.trust(), e.doctor(), e.check(), e.clock(), e.compact(), e.install(), e.uninstall(), e.version(),
		e.upgrade(), e.rollback(), e.ownersProcess(), e.simulate(), e.replay(),
	)
	root.AddCommand(e.serviceCommands()...)
	root.AddCommand(transformWorker())
	e.completions(root)
	return root
}

// markUsage turns errors in flags and arguments of every command into usage errors.
func markUsage(cmd *cobra.Command) {
	wrap := func(cmd *cobra.Command, err error) error {
		if err == nil {
			return nil
		}
		return &usageError{cmd.CommandPath(), err}
	}
	cmd.SetFlagErrorFunc(wrap)
	if args := cmd.Args; args != nil {
		cmd.Args = func(cmd *cobra.Command, list []string) error { return wrap(cmd, args(cmd, list)) }
	}
	for _, sub := range cmd.Commands() {
		markUsage(sub)
	}
}

// group returns a command that only has subcommands.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: use, Short: short}
	g.AddCommand(commands...)
	return holder(g)
}

// holder makes a missing subcommand a usage error.
func holder(g *cobra.Command) *cobra.Command {
	g.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("%q is not a command of %q", args[0], cmd.CommandPath())
		}
		return errors.New("name one of its commands")
	}
	g.RunE = func(*cobra.Command, []string) error { return nil }
	return g
}

func defaultDataDir(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		if dir := getenv("ProgramData"); dir != "" {
			return filepath.Join(dir, "app")
		}
		return `C:\ProgramData\app`
	}
	return "/var/lib/app"
}

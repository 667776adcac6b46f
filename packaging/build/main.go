// Command build makes all files of a release from the source in the current directory: archives, packages for Debian
// and Red Hat systems, an installer for Windows, checksums, SBOMs and signatures.
//
// It runs on any system that has Go and git, starts no shell, and is reproducible: two runs at one commit produce the
// same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command runs the program and returns its exit status: 0 success, 1 failure, 2 wrong usage.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		if err = release(ctx, o, stdout); err == nil {
			return 0
		}
		fmt.Fprintln(stderr, "build:", err)
		return 1
	}
	fmt.Fprintln(stderr, "build:", err)
	return 2
}

// target is a system for which a binary is built.
type target struct{ OS, Arch string }

func (t target) String() string { return t.OS + "/" + t.Arch }

// exe returns the file name of the binary.
func (t target) exe() string {
	if t.OS == "windows" {
		return "app.exe"
	}
	return "app"
}

// targets are the systems of a release.
var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}}

// format is a kind of file that contains a binary.
type format struct {
	name  string
	os    string
	build func(context.Context, *product) error
}

// formats returns the formats of each system.
func formats() []format {
	return []format{
		{"tar.gz", "linux", tarball}, {"deb", "linux", debianPackage}, {"rpm", "linux", rpmPackage},
		{"zip", "windows", zipArchive}, {"msi", "windows", installer},
	}
}

// options are the command's flags.
type options struct {
	Version string // "" = derived from git
	Out     string
	Targets []target
	Formats []string // empty = all for which the machine has the tools
	SignKey string   // file of a minisign secret key; "" = do not sign
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: go run ./packaging/build [flags]")
		flags.PrintDefaults()
	}
	flags.StringVar(&o.Version, "version", "", "`version`, such as 1.4.0; without it, from git's tags")
	flags.StringVar(&o.Out, "out", "dist", "`directory` that the files are written to")
	wanted := flags.String("targets", "", "systems, of "+join(targets)+"; all without it")
	kinds := flags.String("formats", "", "formats, of tar.gz,deb,rpm,zip,msi; without it all, less those whose tool is missing")
	flags.StringVar(&o.SignKey, "sign-key", "", "`file` of a minisign secret key that signs every file; its password, if it has one, comes from the variable APP_SIGN_PASSWORD")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("takes only flags; remove %q", flags.Arg(0))
	}
	for _, name := range list(*wanted) {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return o, fmt.Errorf("unknown target %q; the targets are %s", name, join(targets))
		}
		o.Targets = append(o.Targets, targets[i])
	}
	if len(o.Targets) == 0 {
		o.Targets = targets
	}
	for _, name := range list(*kinds) {
		if !slices.ContainsFunc(formats(), func(f format) bool { return f.name == name }) {
			return o, fmt.Errorf("unknown format %q; the formats are tar.gz, deb, rpm, zip, msi", name)
		}
		o.Formats = append(o.Formats, name)
	}
	if o.Version != "" && !semantic.MatchString(o.Version) {
		return o, fmt.Errorf("--version must be of the form 1.4.0 or 1.4.0-rc.1; it is %q", o.Version)
	}
	return o, nil
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func join(all []target) string {
	var names []string
	for _, t := range all {
		names = append(names, t.String())
	}
	return strings.Join(names, ",")
}

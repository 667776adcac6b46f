package cli

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"opsmon/app"
)

// TestHelp: every command describes its effect, and one whose arguments are not obvious has a valid example.
func TestHelp(t *testing.T) {
	e := &env{getenv: func(string) string { return "" }}
	root := e.root()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Short == "" {
			t.Errorf("%s says nothing about itself", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s says nothing about itself", cmd.CommandPath(), f.Name)
			}
		})
		if strings.Contains(cmd.Use, " ") && cmd.Example == "" {
			t.Errorf("%s takes arguments and shows no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			args := words(line[strings.Index(line, "app ")+len("app "):])
			found, rest, err := root.Find(args)
			if err != nil || found != cmd {
				t.Errorf("%s: the example %q is of another command", cmd.CommandPath(), line)
				continue
			}
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("%s: the example %q: %v", cmd.CommandPath(), line, err)
			}
			if err := found.Args(found, found.Flags().Args()); err != nil {
				t.Errorf("%s: the example %q: %v", cmd.CommandPath(), line, err)
			}
			found.Flags().VisitAll(func(f *pflag.Flag) { _ = f.Value.Set(f.DefValue) }) // reset for the next example
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// words splits an example like a shell, as far as the examples need.
func words(line string) []string {
	line, _, _ = strings.Cut(strings.TrimSpace(line), " > ")
	var out []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

// TestOutputLost: a key that could not be printed is an error.
func TestOutputLost(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this system has no device that is always full")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	dir := t.TempDir()
	for _, args := range [][]string{
		{"init", "--domain", "northgate.example", "--email", "it@northgate.example"},
		{"key", "create", "--email", "it@northgate.example", "--json"},
		{"manifest", "export"},
	} {
		var stderr bytes.Buffer
		if status := Run(t.Context(), append(args, "--data-dir", dir), nil, full, &stderr); status != exitFailed || !strings.Contains(stderr.String(), "the output could not be written") {
			t.Errorf("%v: status %d, %q", args, status, stderr.String())
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"/var/lib/app": "/var/lib/app", "Störung": "Störung", "two words": "'two words'", "a'b": `'a'\''b'`, "$HOME": "'$HOME'"} {
		if got := app.Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"opsmon/app/host/backup"
)

// passphraseVariable is the environment variable with a backup's passphrase.
const passphraseVariable = "APP_BACKUP_PASSPHRASE"

// passphraseFlag is the source of a backup's passphrase. It is never an argument, because those appear in shell
// histories and in the list of processes.
type passphraseFlag struct{ file string }

func (p *passphraseFlag) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.file, "passphrase-file", "", "`file` whose first line is the passphrase; also "+passphraseVariable)
}

// given returns the passphrase from the file or the environment; "": none.
func (p *passphraseFlag) given(e *env) (string, error) {
	if p.file != "" {
		passphrase, err := backup.ReadPassphrase(p.file)
		if err != nil {
			return "", fmt.Errorf("--passphrase-file: %w", err)
		}
		return passphrase, nil
	}
	passphrase := e.getenv(passphraseVariable)
	if passphrase == "" {
		return "", nil
	}
	if err := backup.CheckPassphrase(passphrase); err != nil {
		return "", fmt.Errorf("%s %w", passphraseVariable, err)
	}
	return passphrase, nil
}

// forFile returns the passphrase of an encrypted backup, and asks for it if necessary.
func (p *passphraseFlag) forFile(ctx context.Context, e *env, encrypted bool) (string, error) {
	if !encrypted {
		return "", nil
	}
	if passphrase, err := p.given(e); passphrase != "" || err != nil {
		return passphrase, err
	}
	return e.askSecret(ctx, "Passphrase of the backup: ")
}

// forNew returns the passphrase for a new backup; "": not encrypted. It asks twice for a new one, because a typing
// error could not be detected otherwise.
func (p *passphraseFlag) forNew(ctx context.Context, e *env, encrypt bool) (string, error) {
	passphrase, err := p.given(e)
	switch {
	case err != nil || passphrase == "" && !encrypt:
		return "", err
	case passphrase == "":
		return e.askNew(ctx)
	}
	if err := backup.CheckNewPassphrase(passphrase); err != nil {
		return "", fmt.Errorf("%s %w", p.origin(), err)
	}
	return passphrase, nil
}

// origin names the source of a given passphrase.
func (p *passphraseFlag) origin() string {
	if p.file != "" {
		return "the first line of " + p.file
	}
	return passphraseVariable
}

// askNew asks twice for a new passphrase.
func (e *env) askNew(ctx context.Context) (string, error) {
	first, err := e.askSecret(ctx, "New passphrase: ")
	if err != nil {
		return "", err
	}
	if err := backup.CheckNewPassphrase(first); err != nil {
		return "", fmt.Errorf("what was typed %w", err)
	}
	second, err := e.askSecret(ctx, "Once more: ")
	if err == nil && first != second {
		err = errors.New("the two passphrases differ; nothing was done")
	}
	return first, err
}

// askSecret asks for a line at the terminal without echo. The echo is restored when ctx ends.
func (e *env) askSecret(ctx context.Context, prompt string) (line string, err error) {
	screen := terminal(e.stdin)
	if screen == nil {
		return "", fmt.Errorf("a passphrase is needed and there is no terminal to ask for it: give --passphrase-file FILE or %s", passphraseVariable)
	}
	before, err := term.GetState(int(screen.Fd()))
	if err != nil {
		return "", fmt.Errorf("read the passphrase: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(int(screen.Fd()), before)) }()
	if err := hide(screen); err != nil { // before the prompt, so that early input is not shown either
		return "", fmt.Errorf("read the passphrase: %w", err)
	}
	fmt.Fprint(e.stderr, prompt)
	line, err = waitFor(ctx, func() (string, error) {
		b, err := term.ReadPassword(int(screen.Fd()))
		return string(b), err
	})
	fmt.Fprintln(e.stderr)
	if ctx.Err() != nil {
		return "", errNothingDone
	}
	if err != nil {
		return "", fmt.Errorf("read the passphrase: %w", err)
	}
	return line, nil
}

var errNothingDone = errors.New("nothing was done")

// waitFor waits for input or for the end of ctx; the process ends soon after that.
func waitFor(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	came := make(chan answer, 1)
	go func() {
		text, err := read()
		came <- answer{text, err}
	}()
	select {
	case a := <-came:
		return a.text, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// terminal returns the file of a stream if it is a terminal; else nil.
func terminal(stream any) *os.File {
	if p, ok := stream.(printable); ok {
		stream = p.w
	}
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// progress returns a function that shows progress on a terminal, and one that ends the line. Without a terminal both do
// nothing.
func (e *env) progress(what string) (tell func(done, total int64), end func()) {
	screen := terminal(e.stderr)
	if screen == nil {
		return func(int64, int64) {}, func() {}
	}
	last := int64(-1)
	return func(done, total int64) {
			if total <= 0 {
				return
			}
			if percent := min(100*done/total, 100); percent != last {
				last = percent
				fmt.Fprintf(screen, "\r%s: %3d %%", what, percent)
			}
		}, func() {
			if last >= 0 {
				io.WriteString(screen, "\r\x1b[K")
			}
			last = -1
		}
}

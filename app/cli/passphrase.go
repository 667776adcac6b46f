package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"opsmon/app/backup"
)

// passphraseVariable is the environment variable that a passphrase of a backup can come in.
const passphraseVariable = "APP_BACKUP_PASSPHRASE"

// passphraseFlag is where the passphrase of a backup comes from. It is never an argument: those stand in histories and
// in the list of processes.
type passphraseFlag struct{ file string }

func (p *passphraseFlag) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.file, "passphrase-file", "", "`file` whose first line is the passphrase; also "+passphraseVariable)
}

// given gives the passphrase from the file or the environment, "" when there is none.
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

// forFile gives the passphrase of an encrypted backup, asking for it when it must.
func (p *passphraseFlag) forFile(e *env, encrypted bool) (string, error) {
	if !encrypted {
		return "", nil
	}
	if passphrase, err := p.given(e); passphrase != "" || err != nil {
		return passphrase, err
	}
	return e.askSecret("Passphrase of the backup: ")
}

// forNew gives the passphrase of a backup that is to be made, "" for one that is not encrypted. A new one is asked for
// twice: nothing else could find a slip of the finger.
func (p *passphraseFlag) forNew(e *env, encrypt bool) (string, error) {
	if passphrase, err := p.given(e); passphrase != "" || err != nil || !encrypt {
		return passphrase, err
	}
	first, err := e.askSecret("New passphrase: ")
	if err != nil {
		return "", err
	}
	if err := backup.CheckPassphrase(first); err != nil {
		return "", fmt.Errorf("what was typed %w", err)
	}
	second, err := e.askSecret("Once more: ")
	if err == nil && first != second {
		err = errors.New("the two passphrases differ; nothing was done")
	}
	return first, err
}

// askSecret asks at the terminal for a line that is not shown.
func (e *env) askSecret(prompt string) (string, error) {
	in, ok := e.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return "", fmt.Errorf("a passphrase is needed and there is no terminal to ask for it: give --passphrase-file FILE or %s", passphraseVariable)
	}
	fmt.Fprint(e.stderr, prompt)
	line, err := term.ReadPassword(int(in.Fd()))
	fmt.Fprintln(e.stderr)
	if err != nil {
		return "", fmt.Errorf("read the passphrase: %w", err)
	}
	return string(line), nil
}

// terminal gives the file behind a stream when it is a terminal, else nil.
func terminal(stream any) *os.File {
	if p, ok := stream.(printable); ok {
		stream = p.w
	}
	if f, ok := stream.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// progress gives a function that shows on a terminal how far something is, and one that ends the line. Without a
// terminal nothing is shown.
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

package backup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"opsmon/app/namedfile"
)

// maxPassphrase is how long a passphrase may be, in bytes.
const maxPassphrase = 1024

// ReadPassphrase reads a passphrase from the first line of a file. The error says what is wrong with the file and never
// what is in it.
func ReadPassphrase(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPassphrase+3))
	if err != nil {
		return "", err
	}
	line := namedfile.FirstLine(text)
	if err := CheckPassphrase(line); err != nil {
		return "", fmt.Errorf("the first line of %s %w", path, err)
	}
	return line, nil
}

// CheckPassphrase tells what keeps a text from being a passphrase.
func CheckPassphrase(text string) error {
	switch {
	case text == "":
		return errors.New("must be a passphrase; it is empty")
	case len(text) > maxPassphrase:
		return fmt.Errorf("must be a passphrase of %d bytes or fewer", maxPassphrase)
	case !utf8.ValidString(text):
		return errors.New("must be a passphrase in UTF-8")
	}
	return nil
}

package backup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"opsmon/app/host/namedfile"
)

const (
	maxPassphrase = 1024 // bytes of any passphrase
	minPassphrase = 12   // characters of one that encrypts; a shorter one still opens what it has encrypted before
)

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

// CheckNewPassphrase returns what keeps a text from encrypting a backup. Whoever has the file can try passphrases for
// as long as they like, so that a short one protects nothing.
func CheckNewPassphrase(text string) error {
	if err := CheckPassphrase(text); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(text); n < minPassphrase {
		return fmt.Errorf("must be a passphrase of %d characters or more; it has %d", minPassphrase, n)
	}
	return nil
}

// CheckPassphrase returns what keeps a text from being a passphrase.
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

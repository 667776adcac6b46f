package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// InstallConfig describes the service to install.
type InstallConfig struct {
	Program  string   // the program to install: the one that runs, as an absolute path
	DataDir  string   // absolute
	Settings []byte   // of app.yaml, written if it does not exist
	Folders  []string // outside of DataDir that the service writes to, absolute
	Ports    []int    // of TCP that the LAN may reach
}

// Step is one thing that is done to the machine.
type Step struct {
	What string // "write /etc/systemd/system/app.service"
	Done bool   // it is as it should be already
	// Optional says that the service runs without it: a failure is told and the next steps are taken all the same.
	Optional bool
	do       func(context.Context) error
}

// Act returns a step that is not about the service itself.
func Act(what string, do func(context.Context) error) Step { return Step{What: what, do: do} }

// Run does the step, unless it is done already.
func (s Step) Run(ctx context.Context) error {
	if s.Done {
		return nil
	}
	if err := s.do(ctx); err != nil {
		return fmt.Errorf("%s: %w", s.What, err)
	}
	return nil
}

// checkPath refuses a path that a service cannot be given.
func checkPath(what, p string) error {
	switch {
	case !filepath.IsAbs(p):
		return fmt.Errorf("%s must be an absolute path; it is %q", what, p)
	case !utf8.ValidString(p) || strings.ContainsAny(p, "\r\n\x00"):
		return fmt.Errorf("%s must be valid UTF-8 without line ends; it is %q", what, p)
	}
	return nil
}

// sameFile reports whether two files hold the same bytes.
func sameFile(a, b string) (bool, error) {
	x, err := digest(a)
	if err != nil {
		return false, err
	}
	y, err := digest(b)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return bytes.Equal(x, y), err
}

func digest(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}

// holds reports whether a file has exactly this text.
func holds(name, text string) bool {
	b, err := os.ReadFile(name)
	return err == nil && string(b) == text
}

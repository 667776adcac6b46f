package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"aead.dev/minisign"
)

// product is one target's binary and the content of its packages.
type product struct {
	source
	target
	root     string // directory of the module
	dir      string // temporary directory of this target
	out      string // directory of finished files
	binary   string // file
	sig      []byte // of the binary; nil if not signed
	modules  []module
	licences []byte // text of every licence in the binary
	made     []string
}

// file returns the path of a finished file by name, and records it.
func (p *product) file(name string) string {
	p.made = append(p.made, name)
	return filepath.Join(p.out, name)
}

// release builds everything in a staging directory next to Out, and moves it to Out when all is complete: the
// checksums last.
func release(ctx context.Context, o options, say io.Writer) (err error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	src, err := describe(ctx, root, o.Version)
	if err != nil {
		return err
	}
	key, err := readKey(o.SignKey)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return err
	}
	out, err := os.MkdirTemp(o.Out, ".building-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
	scratch, err := os.MkdirTemp("", "app-build-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()

	fmt.Fprintf(say, "app %s, commit %s, of %s\n", src.Version, src.Commit, src.Time.Format("2006-01-02T15:04:05Z"))
	var made []string
	for _, t := range o.Targets {
		p := &product{source: src, target: t, root: root, out: out, dir: filepath.Join(scratch, t.OS+"-"+t.Arch)}
		if err := p.make(ctx, o, key, say); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		made = append(made, p.made...)
	}
	if made, err = finish(out, made, src, key); err != nil {
		return err
	}
	for _, name := range made {
		if err := os.Rename(filepath.Join(out, name), filepath.Join(o.Out, name)); err != nil {
			return err
		}
		fmt.Fprintln(say, filepath.Join(o.Out, name))
	}
	return nil
}

// make builds a target's binary and its packages.
func (p *product) make(ctx context.Context, o options, key *minisign.PrivateKey, say io.Writer) error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	if err := p.compile(ctx, publicKey(key)); err != nil {
		return err
	}
	if key != nil {
		b, err := os.ReadFile(p.binary)
		if err != nil {
			return err
		}
		p.sig = sign(*key, b, p.exe(), p.source)
	}
	if err := p.findModules(ctx); err != nil {
		return err
	}
	if err := p.collectLicences(ctx); err != nil {
		return err
	}
	if err := p.writeSBOM(); err != nil {
		return err
	}
	for _, f := range formats() {
		asked := slices.Contains(o.Formats, f.name)
		if f.os != p.OS || len(o.Formats) > 0 && !asked {
			continue
		}
		err := f.build(ctx, p)
		if errors.Is(err, errNoTool) && !asked && os.Getenv("CI") != "true" {
			fmt.Fprintf(say, "left out: %s: %v\n", f.name, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// finish writes the checksums, and the signatures of all files. It returns all files of the release, in the order in
// which they are to be moved.
func finish(out string, made []string, src source, key *minisign.PrivateKey) ([]string, error) {
	slices.Sort(made)
	var sums bytes.Buffer
	for _, name := range made {
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		fmt.Fprintf(&sums, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	checksums := "app_" + src.Version + "_SHA256SUMS"
	if err := os.WriteFile(filepath.Join(out, checksums), sums.Bytes(), 0o644); err != nil {
		return nil, err
	}
	made = append(made, checksums)
	if key == nil {
		return made, nil
	}
	all := make([]string, 0, 2*len(made))
	for _, name := range made {
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(out, name+".minisig"), sign(*key, b, name, src), 0o644); err != nil {
			return nil, err
		}
		all = append(all, name+".minisig", name)
	}
	return all, nil
}

// moduleRoot returns the directory of the current module.
func moduleRoot(ctx context.Context) (string, error) {
	mod, err := output(ctx, "", nil, "go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	root := filepath.Dir(strings.TrimSpace(mod))
	if _, err := os.Stat(filepath.Join(root, "packaging", "build")); err != nil {
		return "", errors.New("this directory is not in the source of app; run from there: go run ./packaging/build")
	}
	return root, nil
}

// output runs a program in a directory and returns its standard output; standard error becomes the error. The
// variables are added to the environment, from which those that affect the output of the Go command are removed.
func output(ctx context.Context, dir string, variables []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if n, _, _ := strings.Cut(v, "="); !slices.Contains([]string{"GOFLAGS", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140", "GOWORK", "CGO_ENABLED", "GODEBUG", "TZ", "LC_ALL"}, n) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GOWORK=off", "TZ=UTC", "LC_ALL=C")
	cmd.Env = append(cmd.Env, variables...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%s %w", name, errNoTool)
	}
	if err != nil {
		if said := strings.TrimSpace(stderr.String()); said != "" {
			return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(name), args[0], err, said)
		}
		return "", fmt.Errorf("%s %s: %w", filepath.Base(name), args[0], err)
	}
	return stdout.String(), nil
}

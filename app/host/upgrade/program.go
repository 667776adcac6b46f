package upgrade

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// Program is a program's description of itself (app version --json).
type Program struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Store   int    `json:"store"`   // version of the store that it works with: how many migrations it knows
	History int    `json:"history"` // format of the days that it computes

	sum [32]byte // of the file
}

// product is the path of the main package, which every build carries in itself.
const product = "opsmon"

// askTime is how long a program may take to describe itself.
const askTime = 30 * time.Second

// identify returns the description of a program. It checks the file before it runs it.
func identify(ctx context.Context, path string) (p Program, err error) {
	built, err := buildinfo.ReadFile(path)
	if err != nil || built.Path != product {
		return p, errors.New("it is not this product")
	}
	settings := map[string]string{}
	for _, s := range built.Settings {
		settings[s.Key] = s.Value
	}
	if system, arch := settings["GOOS"], settings["GOARCH"]; system != runtime.GOOS || arch != runtime.GOARCH {
		return p, fmt.Errorf("it is for %s/%s, and this machine is %s/%s", system, arch, runtime.GOOS, runtime.GOARCH)
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	out, err := run(ctx, path, "version", "--json")
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(out, &p); err != nil || p.Version == "" {
		return p, errors.New("it does not say which version it is")
	}
	p.sum, err = sumOf(path)
	return p, err
}

// run runs a program without an environment and gives its standard output. What it says on standard error is the error.
func run(ctx context.Context, path string, args ...string) ([]byte, error) {
	for try := 0; ; try++ {
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Env = []string{} // nil would be this process's
		cmd.Dir = filepath.Dir(path)
		cmd.WaitDelay = time.Second
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		switch {
		case err == nil:
			return stdout.Bytes(), nil
		case busy(err) && try < 20:
			time.Sleep(50 * time.Millisecond) // another thread has just begun a process, which still holds the file
		case ctx.Err() != nil:
			return nil, fmt.Errorf("app %s did not end in time: %w", args[0], ctx.Err())
		default:
			said := strings.TrimSpace(stdout.String() + stderr.String())
			if len(said) > 2000 {
				said = said[:2000] + " …"
			}
			return nil, fmt.Errorf("app %s: %w: %s", args[0], err, said)
		}
	}
}

func sumOf(path string) (sum [32]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [32]byte(h.Sum(nil)), nil
}

// older reports whether a program is older than another one: by the version of its store, and otherwise by its version
// if both can be compared.
func (p Program) older(than Program) bool {
	if p.Store != than.Store {
		return p.Store < than.Store
	}
	a, b := comparable(p.Version), comparable(than.Version)
	return semver.IsValid(a) && semver.IsValid(b) && semver.Compare(a, b) < 0
}

func comparable(version string) string { return "v" + strings.TrimPrefix(version, "v") }

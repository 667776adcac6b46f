package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	osuser "os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/host/config"
	"opsmon/kv"
)

// owner is the owner of a data directory when root uses it and is not the owner. The owner can change what a name in
// the directory refers to at any moment, so root must not open files there. A process of the owner does the work, and
// root sends requests to it as to a running service.
type owner struct{ uid, gid uint32 }

// What a process of the owner serves.
const (
	ownStore    = "store"     // the API's local side, with the existing store
	ownNewStore = "new-store" // the same, creating a missing store
	ownFiles    = "files"     // operations without an open store: app.Offline
)

// asOwner starts a process of the owner and returns a client of it. Closing the client ends the process. Errors: those
// of opening the store, of the kinds in opening.
func (e *env) asOwner(o *owner, what string) (c *client, err error) {
	data, err := filepath.Abs(e.dataDir)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "app-root-") // only root can access it
	if err != nil {
		return nil, err
	}
	gone := func() error { return os.RemoveAll(dir) }
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	if err != nil {
		return nil, errors.Join(err, gone())
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	socket, err := l.File()
	if err != nil {
		return nil, errors.Join(err, gone())
	}
	defer socket.Close()
	var stderr bytes.Buffer
	cmd := o.command(asOwnerCommand, what, "--data-dir", data)
	cmd.Dir, cmd.Env, cmd.ExtraFiles, cmd.Stderr = "/", ownersEnvironment(os.Environ()), []*os.File{socket}, &stderr
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err, err2); err != nil {
		return nil, errors.Join(err, gone())
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("work as the owner of %s: %w", data, err), gone())
	}
	end := func() error {
		in.Close()
		err := cmd.Wait()
		if text := strings.TrimPrefix(strings.TrimSpace(stderr.String()), "app: "); err != nil && text != "" {
			err = errors.New(text)
		}
		return errors.Join(err, gone())
	}
	var began beginning
	if err := json.NewDecoder(out).Decode(&began); err != nil {
		return nil, errors.Join(fmt.Errorf("the process that works as the owner of %s did not start: %w", data, err), end())
	}
	if err := began.err(); err != nil {
		_ = end() // its error is already known
		return nil, err
	}
	path := filepath.Join(dir, "s")
	h := &http.Client{Timeout: 10 * time.Minute, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	return &client{http: h, account: e.account, close: func() error { h.CloseIdleConnections(); return end() }}, nil
}

// name returns the owner's name, or the number of a user without a name.
func (o *owner) name() string {
	id := strconv.FormatUint(uint64(o.uid), 10)
	if u, err := osuser.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// problems returns the problems of a store that cannot be opened, as found by a process of the owner.
func (o *owner) problems(dataDir string) ([]string, error) {
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, err
	}
	var stdout, stderr bytes.Buffer
	cmd := o.command("check", "--json", "--data-dir", dataDir)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", ownersEnvironment(os.Environ()), &stdout, &stderr
	failed := cmd.Run() // it exits with 1 if there are problems
	var out struct{ Problems []string }
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		return nil, fmt.Errorf("check as the owner of %s: %w: %s", dataDir, errors.Join(failed, err), strings.TrimSpace(stderr.String()))
	}
	return out.Problems, nil
}

// ownersEnvironment returns the part of root's environment for a process of the owner, whose environment other
// processes of that user can read.
func ownersEnvironment(all []string) (some []string) {
	for _, variable := range all {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "APP_") && name != passphraseVariable || slices.Contains([]string{"PATH", "TZ", "LANG"}, name) {
			some = append(some, variable)
		}
	}
	return some
}

// opening are the errors of opening a store that callers distinguish.
var opening = []error{kv.ErrLocked, kv.ErrDamaged, kv.ErrNewer, errNoStore}

// beginning is the first message of a process of the owner.
type beginning struct {
	Failure string `json:"failure"` // "": it serves
	Kind    int    `json:"kind"`    // index in opening, from 1; 0: other errors
}

func newBeginning(err error) (b beginning) {
	if err == nil {
		return b
	}
	b.Failure = err.Error()
	b.Kind = 1 + slices.IndexFunc(opening, func(kind error) bool { return errors.Is(err, kind) })
	return b
}

func (b beginning) err() error {
	if b.Failure == "" {
		return nil
	}
	e := &ownersError{text: b.Failure}
	if b.Kind > 0 && b.Kind <= len(opening) {
		e.kind = opening[b.Kind-1]
	}
	return e
}

// ownersError is an error of a process of the owner.
type ownersError struct {
	text string
	kind error // of opening; nil: other errors
}

func (e *ownersError) Error() string { return e.text }
func (e *ownersError) Unwrap() error { return e.kind }

// asOwnerCommand is the name of the hidden command for such a process.
const asOwnerCommand = "as-owner"

// ownersProcess serves on its inherited socket until its standard input ends.
func (e *env) ownersProcess() *cobra.Command {
	return &cobra.Command{
		Use: asOwnerCommand, Short: "Work in a data directory as its owner, for root", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			// root's process gets the signal, too, and decides
			signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			l, err := net.FileListener(os.NewFile(3, "socket"))
			if err != nil {
				return err
			}
			handler, closing, err := e.owned(args[0])
			if said := json.NewEncoder(e.stdout).Encode(newBeginning(err)); said != nil || err != nil {
				return errors.Join(err, said)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			s := &http.Server{Handler: handler, BaseContext: func(net.Listener) context.Context { return ctx }, ReadHeaderTimeout: time.Minute}
			go s.Serve(l)
			_, err = io.Copy(io.Discard, e.stdin)
			cancel()
			return errors.Join(err, s.Shutdown(context.Background()), closing())
		},
	}
}

// owned returns the handler of a process of the owner.
func (e *env) owned(what string) (h http.Handler, closing func() error, err error) {
	log := slog.New(slog.DiscardHandler)
	if what == ownFiles {
		cfg, err := e.readConfig()
		if err != nil { // the settings may be what has to be repaired
			cfg = config.Defaults()
			cfg.DataDir = e.dataDir
		}
		return app.Offline(cfg, log), func() error { return nil }, nil
	}
	cfg, err := e.storeConfig()
	if err != nil && (what != ownNewStore || !errors.Is(err, errNoStore)) {
		return nil, nil, err
	}
	a, err := app.Open(cfg, log)
	if err != nil {
		return nil, nil, err
	}
	return a.Local(), a.Close, nil
}

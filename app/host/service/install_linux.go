package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"opsmon/kv/file"
)

const (
	installedBinary = "/usr/local/bin/app"
	unitDir         = "/etc/systemd/system"
	foldersDropIn   = unitDir + "/" + unitName + ".d/50-folders.conf"
	userLimit       = 1000 // user ids below are the system's
)

// machine is what Install and Uninstall change.
type machine struct {
	service *Service
	state   State
}

// Allowed reports whether this user may install services; command is what is to be run with more rights. Error:
// ErrUnsupported, or what to do.
func Allowed(command string) error {
	if err := supported(); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("only root may do this; run: sudo app %s", command)
	}
	return nil
}

// newMachine looks at the machine.
func newMachine() (*machine, error) {
	s, err := open()
	if err != nil {
		return nil, err
	}
	st, err := s.State()
	return &machine{s, st}, err
}

// Install returns the steps that bring the service to what cfg says; the last one has it running. They may be taken any
// number of times: what is there already is left, or brought up to date.
func Install(cfg InstallConfig) ([]Step, error) {
	if err := checkDataDir(cfg.DataDir); err != nil {
		return nil, err
	}
	m, err := newMachine()
	if err != nil {
		return nil, err
	}
	if err := m.fits(cfg); err != nil {
		return nil, err
	}
	binary := installedBinary
	if m.state.Package != "" {
		binary = m.state.Binary
	}
	var steps []Step
	add := func(done bool, do func(context.Context) error, format string, args ...any) {
		steps = append(steps, Step{What: fmt.Sprintf(format, args...), Done: done, do: do})
	}
	_, err = user.Lookup(User)
	add(err == nil, func(context.Context) error { return makeUser() }, "make the system user %s", User)
	if m.state.Package == "" {
		same, err := sameFile(cfg.Program, binary)
		if err != nil {
			return nil, err
		}
		add(same, func(context.Context) error { return copyProgram(cfg.Program, binary) }, "copy %s to %s", cfg.Program, binary)
	}
	owned, _ := ownedByUser(cfg.DataDir)
	add(owned, func(context.Context) error { return makeDataDir(cfg.DataDir) }, "make the data directory %s for the user %s alone", cfg.DataDir, User)
	settings := filepath.Join(cfg.DataDir, "app.yaml")
	add(file.Exists(settings), func(context.Context) error { return writeSettings(cfg.DataDir, cfg.Settings) }, "write %s", settings)
	changed := false
	write := func(name, text string) {
		if step, needed := writeStep(name, text); needed {
			changed = changed || !step.Done
			steps = append(steps, step)
		}
	}
	if m.state.Package == "" {
		write(filepath.Join(unitDir, unitName), Unit(UnitConfig{Binary: binary, DataDir: cfg.DataDir}))
	}
	write(foldersDropIn, FoldersUnit(cfg.DataDir, cfg.Folders))
	if changed {
		add(false, func(context.Context) error { return run("systemctl", "daemon-reload") }, "tell systemd of it")
	}
	add(m.state.Enabled, func(context.Context) error { return run("systemctl", "enable", "--quiet", unitName) }, "start the service with the machine")
	fresh := true // nothing has changed that the running service would have to be started again for
	for _, s := range steps {
		fresh = fresh && s.Done
	}
	add(fresh && m.state.Running, func(ctx context.Context) error { return m.restart(ctx) }, "start the service")
	return steps, nil
}

// checkDataDir refuses a data directory that does not last.
func checkDataDir(dataDir string) error {
	if err := checkPath("the data directory", dataDir); err != nil {
		return err
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev", "/run", "/proc", "/sys"} {
		if below(filepath.Clean(dataDir), dir) {
			return fmt.Errorf("the data directory must not be below %s, which does not last; choose another with --data-dir", dir)
		}
	}
	return nil
}

// fits returns an error if cfg does not fit the service of an installed package.
func (m *machine) fits(cfg InstallConfig) error {
	if m.state.Package == "" {
		return nil
	}
	if m.state.Binary != cfg.Program {
		return fmt.Errorf("the service is that of the %s package, which runs %s; update it with the package manager, or remove the package before installing without it", m.state.Package, m.state.Binary)
	}
	if m.state.DataDir != cfg.DataDir && (m.state.DataDir != "" || cfg.DataDir != defaultDataDir) {
		return fmt.Errorf("the service of the %s package keeps its data in %s; leave out --data-dir, or remove the package before installing without it", m.state.Package, or(m.state.DataDir, defaultDataDir))
	}
	return nil
}

// writeStep returns the step that writes a file, or removes it if text is empty; needed is false if there is nothing to
// report.
func writeStep(name, text string) (step Step, needed bool) {
	step = Step{do: func(context.Context) error { return putText(name, text) }}
	if text == "" {
		step.What, step.Done = fmt.Sprintf("remove %s, which is not needed", name), !file.Exists(name)
		return step, !step.Done
	}
	step.What, step.Done = "write "+name, holds(name, text)
	return step, true
}

// MayWrite reports whether the installed service may write to folders outside of its data directory; Install lets it.
func MayWrite(dataDir string, folders []string) bool {
	text := FoldersUnit(dataDir, folders)
	return text == "" || holds(foldersDropIn, text)
}

// restart restarts the service, also if systemd gave up on it before.
func (m *machine) restart(ctx context.Context) error {
	_ = run("systemctl", "reset-failed", unitName) // fails when there is nothing to forget
	return within(ctx, "app.service", func() error { return told("install", m.service.manager.Restart()) })
}

func run(name string, args ...string) error {
	_, err := output(name, args...)
	return err
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// makeUser has systemd-sysusers make the user: it comes with systemd, takes the one declaration that packages use as
// well, and does nothing when the user is there.
func makeUser() error {
	cmd := exec.Command("systemd-sysusers", "-")
	cmd.Stdin = strings.NewReader(Sysusers)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("systemd-sysusers: %w: %s", err, strings.TrimSpace(string(out)))
	}
	_, _, err := ids()
	return err
}

// ids returns the numbers of the service's user and group. A person's account of that name is refused: the person would
// own the plant's data.
func ids() (uid, gid int, err error) {
	u, err := user.Lookup(User)
	if err != nil {
		return 0, 0, err
	}
	if uid, err = strconv.Atoi(u.Uid); err != nil {
		return 0, 0, err
	}
	if gid, err = strconv.Atoi(u.Gid); err != nil {
		return 0, 0, err
	}
	if uid >= userLimit && uid < 60000 {
		return 0, 0, fmt.Errorf("the user %s is a person's account (number %d), and the service needs a system user of that name; rename the account first: usermod --login NEW %s", User, uid, User)
	}
	return uid, gid, nil
}

// copyProgram puts a program in its place for everybody to run.
func copyProgram(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return file.Replace(to, f, file.Options{Mode: 0o755})
}

// putText writes a file of the system's configuration, or removes it when there is nothing to say.
func putText(name, text string) error {
	if text == "" {
		return os.Remove(name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return file.Replace(name, strings.NewReader(text), file.Options{Mode: 0o644})
}

// ownedByUser reports whether a directory is there and the service's user's.
func ownedByUser(dir string) (bool, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return false, fmt.Errorf("it is no directory; choose another with --data-dir")
	}
	uid, _, err := ids()
	if err != nil {
		return false, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == uid, nil
}

// makeDataDir makes the directory for the service's user alone. One that is there keeps its owner and its rights.
func makeDataDir(dir string) error {
	uid, gid, err := ids()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if file.Exists(dir) {
		owned, err := ownedByUser(dir)
		if err == nil && !owned {
			err = fmt.Errorf("it is there already and belongs to another user; give it to the service with: %s; or choose another with --data-dir", GiveBack(dir))
		}
		return err
	}
	// It gets its name when it has its owner: one that is left between the two would be somebody else's at the next
	// try.
	beside := filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".new")
	if err := os.Mkdir(beside, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Lchown(beside, uid, gid); err != nil {
		return err
	}
	return file.Rename(beside, dir)
}

// GiveBack is the command that lets the service use everything in a directory.
func GiveBack(dir string) string {
	return fmt.Sprintf("chown -R %s:%s %s", User, User, shellWord(dir))
}

func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// writeSettings writes app.yaml. The directory is another user's: nothing in it is followed that could lead elsewhere.
func writeSettings(dir string, content []byte) (err error) {
	uid, gid, err := ids()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	const name, beside = "app.yaml", ".app.yaml.new"
	if err := root.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chown(uid, gid), f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(beside, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(beside))
	}
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Uninstall returns the steps that take the service off the machine. The data stay; Purge takes them. The error is
// ErrNotInstalled when there is nothing to take.
func Uninstall() ([]Step, State, error) {
	m, err := newMachine()
	if err != nil {
		return nil, State{}, err
	}
	st := m.state
	if !st.Installed {
		return nil, st, ErrNotInstalled
	}
	st.DataDir = or(st.DataDir, defaultDataDir)
	if st.Package != "" {
		remove := map[string]string{"dpkg": "apt remove", "rpm": "dnf remove"}[st.Package]
		return nil, st, fmt.Errorf("the service was installed by the %s package; remove it with: %s app", st.Package, remove)
	}
	steps := []Step{
		{What: "stop the service", Done: !st.Running, do: m.service.Stop},
		{What: "no longer start it with the machine", Done: !st.Enabled, do: func(context.Context) error { return run("systemctl", "disable", "--quiet", unitName) }},
		{What: "remove " + filepath.Join(unitDir, unitName), do: func(context.Context) error { return removeUnit() }},
	}
	if st.Binary == installedBinary {
		steps = append(steps, Step{What: "remove " + installedBinary, Done: !file.Exists(installedBinary), do: func(context.Context) error { return os.Remove(installedBinary) }})
	}
	return steps, st, nil
}

// removeUnit removes the unit and our drop-in; a drop-in of the administrator's stays.
func removeUnit() error {
	for _, name := range []string{foldersDropIn, filepath.Join(unitDir, unitName)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	_ = os.Remove(filepath.Dir(foldersDropIn)) // when it is empty
	_ = run("systemctl", "reset-failed", unitName)
	return run("systemctl", "daemon-reload")
}

// RemoveUser returns the step that removes the service's user, once nothing of it is left.
func RemoveUser() []Step {
	_, _, err := ids()
	return []Step{{What: "remove the system user " + User, Done: err != nil, do: func(context.Context) error { return run("userdel", User) }}}
}

// LastWords returns what the service has said last since a time: its errors, else its last lines, else what systemd
// itself says of it.
func LastWords(since time.Time) string {
	_ = run("journalctl", "--sync")
	show := []string{"--no-pager", "--quiet", "--output=cat", "--lines=10", "--since=@" + strconv.FormatInt(since.Unix(), 10)}
	own := "_SYSTEMD_UNIT=" + unitName
	for _, which := range [][]string{{"--priority=3", own}, {own}, {"--unit=" + unitName}} {
		if out, err := output("journalctl", append(show, which...)...); err == nil && strings.TrimSpace(out) != "" {
			return out
		}
	}
	return ""
}

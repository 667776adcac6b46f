package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	kardianos "github.com/kardianos/service"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc/eventlog"
	"golang.org/x/sys/windows/svc/mgr"

	"opsmon/kv/file"
)

// realSCM is this machine.
type realSCM struct{ service *Service }

// Install returns the steps that bring the service to what cfg says; the last one has it running. They may be taken any
// number of times: what is there already is left, or brought up to date.
func Install(cfg InstallConfig) ([]Step, error) {
	if err := checkPath("the data directory", cfg.DataDir); err != nil {
		return nil, err
	}
	m, st, err := newMachine()
	if err != nil {
		return nil, err
	}
	target, err := installedBinary()
	if err != nil {
		return nil, err
	}
	same, err := sameFile(cfg.Program, target)
	if err != nil {
		return nil, err
	}
	if same {
		cfg.Program = target
	} else if st.Package != "" && st.Installed {
		return nil, errors.New("the service was installed by an MSI, which keeps account of its program; bring it up to date with a newer MSI, or remove that in Settings, Apps, before installing without it")
	}
	fresh := same && st.Installed && strings.EqualFold(st.Binary, target) && st.DataDir == cfg.DataDir
	_, err = os.Stat(filepath.Join(cfg.DataDir, "app.yaml"))
	return scmInstall(m, cfg, target, st, fresh, err == nil), nil
}

// Uninstall returns the steps that take the service off the machine. The data stay. The error is ErrNotInstalled when
// there is nothing to take.
func Uninstall() ([]Step, State, error) {
	m, st, err := newMachine()
	if err != nil {
		return nil, st, err
	}
	if !st.Installed {
		return nil, st, ErrNotInstalled
	}
	return scmUninstall(m, st), st, nil
}

// MayWrite returns true: on Windows the rights of a folder alone count.
func MayWrite(string, []string) bool { return true }

// RemoveUser returns no step: Windows removes the virtual account with the service.
func RemoveUser() []Step { return nil }

// Allowed reports whether this user may install services; command is what is to be run with more rights.
func Allowed(command string) error {
	m, err := mgr.Connect()
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return fmt.Errorf("only an administrator may do this; open a terminal with Run as administrator and run there: app %s", command)
	}
	if err != nil {
		return fmt.Errorf("reach the service control manager: %w", err)
	}
	return m.Disconnect()
}

// newMachine looks at the machine.
func newMachine() (*realSCM, State, error) {
	s, err := open()
	if err != nil {
		return nil, State{}, err
	}
	st, err := s.State()
	return &realSCM{s}, st, err
}

// installedBinary is where the program is installed.
func installedBinary() (string, error) {
	dir, err := windows.KnownFolderPath(windows.FOLDERID_ProgramFiles, windows.KF_FLAG_DEFAULT)
	if err != nil {
		return "", fmt.Errorf("find the directory of programs: %w", err)
	}
	return filepath.Join(dir, Name, "app.exe"), nil
}

// start starts the service. Programs of before are removed, now that none of them runs.
func (m *realSCM) start(ctx context.Context) error {
	if target, err := installedBinary(); err == nil {
		old, _ := filepath.Glob(oldProgram(target) + "*")
		for _, name := range old {
			_ = os.Remove(name) // the next install tries again
		}
	}
	return within(ctx, Name, func() error { return m.service.start(ctx) })
}

func (m *realSCM) stop(ctx context.Context) error {
	return within(ctx, Name, func() error { return m.service.stop(ctx) })
}

// register makes the service with the library when there is none, and then sets what the library cannot set or change.
func (m *realSCM) register(r registration) error {
	manager, err := mgr.Connect()
	if err != nil {
		return err
	}
	defer manager.Disconnect()
	s, err := manager.OpenService(Name)
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		k, err := kardianos.New(nil, &kardianos.Config{
			Name: Name, DisplayName: r.Display, Description: r.Description, UserName: r.Account, Executable: r.Binary, Arguments: r.Args,
		})
		if err != nil {
			return err
		}
		if err := k.Install(); err != nil {
			return err
		}
		s, err = manager.OpenService(Name)
		if err != nil {
			return err
		}
		defer s.Close()
		return m.configure(s, r)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	if err := eventlog.InstallAsEventCreate(Name, eventlog.Error|eventlog.Warning|eventlog.Info); err != nil && !strings.Contains(err.Error(), "exists") {
		return fmt.Errorf("make the event source: %w", err)
	}
	return m.configure(s, r)
}

// configure sets everything of a service that is there.
func (m *realSCM) configure(s *mgr.Service, r registration) error {
	words := []string{windows.ComposeCommandLine(append([]string{r.Binary}, r.Args...)), r.Account, r.Display, r.Description}
	texts := make([]*uint16, len(words))
	for i, word := range words {
		var err error
		if texts[i], err = windows.UTF16PtrFromString(word); err != nil {
			return err
		}
	}
	command, account, display, text := texts[0], texts[1], texts[2], texts[3]
	if err := windows.ChangeServiceConfig(s.Handle, windows.SERVICE_WIN32_OWN_PROCESS, windows.SERVICE_AUTO_START, windows.SERVICE_ERROR_NORMAL, command, nil, nil, nil, account, nil, display); err != nil {
		return err
	}
	sid := uint32(windows.SERVICE_SID_TYPE_NONE)
	if r.OwnSID {
		sid = windows.SERVICE_SID_TYPE_UNRESTRICTED
	}
	var delayed windows.SERVICE_DELAYED_AUTO_START_INFO
	if r.DelayedStart {
		delayed.IsDelayedAutoStartUp = 1
	}
	return errors.Join(
		set(s, windows.SERVICE_CONFIG_DESCRIPTION, unsafe.Pointer(&windows.SERVICE_DESCRIPTION{Description: text})),
		set(s, windows.SERVICE_CONFIG_DELAYED_AUTO_START_INFO, unsafe.Pointer(&delayed)),
		set(s, windows.SERVICE_CONFIG_SERVICE_SID_INFO, unsafe.Pointer(&sid)),
	)
}

// set sets an option of a service that some versions of Windows do not know, and ignores the error.
func set(s *mgr.Service, what uint32, value unsafe.Pointer) error {
	err := windows.ChangeServiceConfig2(s.Handle, what, (*byte)(value))
	if errors.Is(err, windows.ERROR_INVALID_LEVEL) {
		return nil
	}
	return err
}

func (m *realSCM) recover(r recoveryActions) error {
	manager, err := mgr.Connect()
	if err != nil {
		return err
	}
	defer manager.Disconnect()
	s, err := manager.OpenService(Name)
	if err != nil {
		return err
	}
	defer s.Close()
	actions := make([]mgr.RecoveryAction, len(r.Restart))
	for i, delay := range r.Restart {
		actions[i] = mgr.RecoveryAction{Type: mgr.ServiceRestart, Delay: delay}
	}
	if err := s.SetRecoveryActions(actions, uint32(r.Reset/time.Second)); err != nil {
		return err
	}
	var always windows.SERVICE_FAILURE_ACTIONS_FLAG
	if r.NonCrash {
		always.FailureActionsOnNonCrashFailures = 1
	}
	return set(s, windows.SERVICE_CONFIG_FAILURE_ACTIONS_FLAG, unsafe.Pointer(&always))
}

func (m *realSCM) unregister() error { return m.service.manager.Uninstall() }

func (m *realSCM) makeDataDir(dir, rights, sid string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	descriptor, err := windows.SecurityDescriptorFromString(rights)
	if err != nil {
		return fmt.Errorf("describe its rights: %w", err)
	}
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return err
	}
	attributes := &windows.SecurityAttributes{SecurityDescriptor: descriptor}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	err = windows.CreateDirectory(name, attributes)
	if !errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		return err
	}
	has, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION|windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("read its rights: %w", err)
	}
	owner, _, err := has.Owner()
	if err != nil {
		return fmt.Errorf("read its owner: %w", err)
	}
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("find out who this is: %w", err)
	}
	if !mayOwn(owner.String(), me.User.Sid.String(), sid) {
		return fmt.Errorf(`it is there already and belongs to another user (%s), who could change what is in it; give it to the administrators with: icacls "%s" /setowner *%s /T; or choose another with --data-dir`, owner, dir, administrators)
	}
	if !admits(has.String(), sid) {
		return fmt.Errorf("it is there already and the service may not use it; let it with: %s; or choose another with --data-dir", GiveBack(dir))
	}
	return nil
}

// GiveBack is the command that lets the service use everything in a directory.
func GiveBack(dir string) string {
	return fmt.Sprintf(`icacls "%s" /grant "%s:(OI)(CI)F" /T`, dir, Account)
}

// oldProgram is the name that a program which runs still is moved to.
func oldProgram(path string) string { return path + ".old" }

func (m *realSCM) copyProgram(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return file.Replace(to, f, file.Options{Mode: 0o755, Rename: replace})
}

// replace renames a file to its name. A running program cannot be replaced, but it can be renamed.
func replace(from, to string) error {
	old := oldProgram(to)
	if err := file.Remove(old); err != nil {
		old = fmt.Sprintf("%s-%d", old, time.Now().UnixNano()) // that one still runs as well
	}
	if err := os.Rename(to, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := file.Rename(from, to); err != nil {
		return errors.Join(err, os.Rename(old, to))
	}
	return nil
}

func (m *realSCM) writeSettings(dir string, content []byte) error {
	return file.Replace(filepath.Join(dir, "app.yaml"), bytes.NewReader(content), file.Options{})
}

// removeProgram removes the program and its directory. One that runs, as the one that does this may, goes when Windows
// starts next.
func (m *realSCM) removeProgram(path string) error {
	gone := path + ".removed"
	if err := os.Rename(path, gone); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, p := range []string{gone, filepath.Dir(path)} {
		if os.Remove(p) == nil {
			continue
		}
		name, err := windows.UTF16PtrFromString(p)
		if err != nil {
			return err
		}
		if err := windows.MoveFileEx(name, nil, windows.MOVEFILE_DELAY_UNTIL_REBOOT); err != nil {
			return err
		}
	}
	return nil
}

func (m *realSCM) run(name string, args ...string) error {
	_, err := output(name, args...)
	return err
}

// output runs a program of the system and gives what it writes. netsh complains on standard output.
func output(name string, args ...string) (string, error) {
	dir, err := windows.GetSystemDirectory() // and no other program of that name
	if err != nil {
		return "", err
	}
	cmd := exec.Command(filepath.Join(dir, name+".exe"), args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", &commandError{fmt.Sprintf("%s: %v: %s", name, err, strings.TrimSpace(string(out)))}
	}
	return string(out), err
}

// LastWords returns the last events that the service has left in the event log since a time.
func LastWords(since time.Time) string {
	query := fmt.Sprintf("/q:*[System[Provider[@Name='%s'] and TimeCreated[@SystemTime >= '%s']]]", Name, since.UTC().Format("2006-01-02T15:04:05.000Z"))
	out, err := output("wevtutil", "qe", "Application", query, "/c:5", "/rd:true", "/f:xml")
	if err != nil {
		return ""
	}
	return strings.Join(eventTexts(out), "\n")
}

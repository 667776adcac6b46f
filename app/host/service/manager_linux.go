package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const unitName = Name + ".service"

// supported reports whether systemd runs this machine.
func supported() error {
	if info, err := os.Stat("/run/systemd/system"); err != nil || !info.IsDir() {
		return ErrUnsupported
	}
	return nil
}

func (s *Service) start(context.Context) error { return told("start", s.manager.Start()) }
func (s *Service) stop(context.Context) error  { return told("stop", s.manager.Stop()) }

// told returns a readable error of systemctl; the library's only has the exit status.
func told(command string, err error) error {
	var exit *exec.ExitError
	switch {
	case !errors.As(err, &exit):
		return err
	case os.Geteuid() != 0:
		return fmt.Errorf("systemd refused it; run: sudo app %s", command)
	}
	return errors.New("systemd says that it failed")
}

// State asks the service manager. What it cannot read it leaves at zero.
func (s *Service) State() (State, error) {
	out, err := output("systemctl", "show", unitName, "--property=LoadState,ActiveState,UnitFileState,MainPID,ExecMainStartTimestamp")
	if err != nil {
		return State{}, err
	}
	props := map[string]string{}
	for line := range strings.Lines(out) {
		if name, value, found := strings.Cut(strings.TrimRight(line, "\n"), "="); found {
			props[name] = value
		}
	}
	if load := props["LoadState"]; load == "not-found" || load == "" {
		return State{}, nil
	}
	st := State{Installed: true, Enabled: props["UnitFileState"] == "enabled", Failed: props["ActiveState"] == "failed"}
	if st.PID, _ = strconv.Atoi(props["MainPID"]); st.PID != 0 {
		st.Running = true
		st.Since, _ = time.Parse("Mon 2006-01-02 15:04:05 MST", props["ExecMainStartTimestamp"])
	}
	text, err := output("systemctl", "cat", unitName)
	if err != nil {
		return State{}, err
	}
	if argv := execStart(text); len(argv) > 0 {
		st.Binary, st.DataDir = argv[0], dataDirOf(argv)
	}
	st.Package = packageOf(st.Binary)
	return st, nil
}

// output runs a program and gives what it writes to standard output. Its own words on standard error are the error.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC", "SYSTEMD_COLORS=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if said := strings.TrimSpace(stderr.String()); said != "" {
			err = errors.New(said)
		}
		return stdout.String(), fmt.Errorf("%s: %w", name, err)
	}
	return stdout.String(), nil
}

// packageOf returns which package manager a file belongs to.
func packageOf(path string) string {
	if path == "" {
		return ""
	}
	for _, ask := range [][]string{{"dpkg", "-S", path}, {"rpm", "-qf", path}} {
		if _, err := exec.LookPath(ask[0]); err != nil {
			continue
		}
		if _, err := output(ask[0], ask[1:]...); err == nil {
			return ask[0]
		}
	}
	return ""
}

//go:build linux

package boottest

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// controlGroups makes control groups for one machine, of one name in each hierarchy that systemd keeps its units in,
// and removes them at the end. Without, all machines that run at a time keep their units of one name in one group, and
// whoever stops his takes it from the others.
func controlGroups(t *testing.T) ([]string, error) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("boottest-%x", rand.Uint64())
	var made []string
	for line := range strings.Lines(string(mounts)) {
		where, what, _ := strings.Cut(line, " - ")
		hierarchy := "0::"
		if strings.HasPrefix(what, "cgroup ") && strings.Contains(what, "name=systemd") {
			hierarchy = "name=systemd:"
		} else if !strings.HasPrefix(what, "cgroup2 ") {
			continue
		}
		dir := filepath.Join(strings.Fields(where)[4], memberOf(string(own), hierarchy), name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, err
		}
		t.Cleanup(func() {
			if err := removeGroups(dir); err != nil {
				t.Errorf("the control groups of the machine: %v", err)
			}
		})
		made = append(made, dir)
	}
	if made == nil {
		return nil, errors.New("no hierarchy of control groups is mounted")
	}
	return made, nil
}

// memberOf returns the group of a process in a hierarchy, from what /proc/PID/cgroup says.
func memberOf(groups, hierarchy string) string {
	for line := range strings.Lines(groups) {
		if _, path, found := strings.Cut(line, hierarchy); found {
			return strings.TrimSpace(path)
		}
	}
	return ""
}

// removeGroups removes a control group and those in it. The kernel's own files in them are no hindrance.
func removeGroups(dir string) error {
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		if err := os.Remove(dir); err != nil {
			return fmt.Errorf("a process of the machine may be left: %w", err)
		}
	}
	return nil
}

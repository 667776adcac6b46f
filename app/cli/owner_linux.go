package cli

import (
	"os"
	"os/exec"
	"syscall"
)

// ownerOf returns the user of a directory when root works on another user's, and nil otherwise.
func ownerOf(dir string) *owner {
	info, err := os.Stat(dir)
	if os.Geteuid() != 0 || err != nil {
		return nil
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok || is.Uid == 0 {
		return nil
	}
	return &owner{uid: is.Uid, gid: is.Gid}
}

// command makes this program's command that runs as the owner, who need not be able to reach it by its name. It has a session
// of its own: a process of the owner's that has root's terminal could type into it.
func (o owner) command(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: o.uid, Gid: o.gid}, Setsid: true}
	return cmd
}

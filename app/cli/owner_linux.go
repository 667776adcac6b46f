package cli

import (
	"os"
	"os/exec"
	"syscall"
)

// ownerOf returns the owner of a directory if root is running and not the owner; else nil.
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

// command returns a command that runs this program as the owner, who may have no access to the program's path. It has
// its own session, because a process of the owner with root's terminal could inject input into it.
func (o owner) command(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: o.uid, Gid: o.gid}, Setsid: true}
	return cmd
}

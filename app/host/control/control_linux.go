package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

const socketName = "control.sock"

// Listen opens the channel of a data directory. The caller holds the store's lock, so a socket that is there
// already was left by a service that was killed.
func Listen(dataDir string) (net.Listener, error) {
	path := filepath.Join(dataDir, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove old control socket: %w", err)
	}
	var l *net.UnixListener
	err := short(dataDir, func(dir string) (err error) {
		// Between bind and chmod the umask decides; the check of the peer's user holds at any time.
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, socketName), Net: "unix"})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open control socket: %w", err)
	}
	l.SetUnlinkOnClose(false) // its name may be a short one that is gone by then
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("protect control socket: %w", err)
	}
	return &listener{l, path}, nil
}

// listener lets in root and the service's own user only.
type listener struct {
	*net.UnixListener
	path string
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if uid, err := peer(c); err == nil && (uid == 0 || uid == os.Geteuid()) {
			return c, nil
		}
		c.Close()
	}
}

func (l *listener) Close() error {
	err := l.UnixListener.Close()
	if e := os.Remove(l.path); e != nil && !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

func dial(dataDir string) (net.Conn, error) {
	var c net.Conn
	err := short(dataDir, func(dir string) (err error) {
		c, err = net.Dial("unix", filepath.Join(dir, socketName))
		return err
	})
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR):
		return nil, ErrNotRunning
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("the service on %s may only be spoken to by root and by the user it runs as: %w", dataDir, err)
	case err != nil:
		return nil, fmt.Errorf("reach the running service: %w", err)
	}
	return c, nil
}

// longestSocket is the longest path that a Unix socket's address holds.
const longestSocket = 107

// short calls fn with a name of dir that is short enough for a socket in it: the directory's own, or the one
// that the kernel gives an open directory.
func short(dir string, fn func(dir string) error) error {
	if len(dir)+1+len(socketName) <= longestSocket {
		return fn(dir)
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return fn(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
}

// peer returns the user at the other end.
func peer(c *net.UnixConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if credErr != nil {
		return 0, credErr
	}
	return int(cred.Uid), nil
}

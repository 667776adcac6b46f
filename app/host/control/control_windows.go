package control

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// nameFile holds the pipe's name. The name is new at every start and cannot be guessed, so nobody can open a
// pipe of that name first; whoever can read the file may read the store as well.
const nameFile = "control.pipe"

// Listen opens the channel of a data directory.
func Listen(dataDir string) (net.Listener, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("find own user: %w", err)
	}
	name := `\\.\pipe\app-` + rand.Text()
	// Protected: administrators, the system and the service's own user, nobody else; never from the network.
	access := "D:P(D;;GA;;;NU)(A;;GA;;;BA)(A;;GA;;;SY)(A;;GA;;;" + user.User.Sid.String() + ")"
	l, err := winio.ListenPipe(name, &winio.PipeConfig{SecurityDescriptor: access, InputBufferSize: 64 << 10, OutputBufferSize: 64 << 10})
	if err != nil {
		return nil, fmt.Errorf("open control pipe: %w", err)
	}
	path := filepath.Join(dataDir, nameFile)
	if err := os.WriteFile(path, []byte(name+"\r\n"), 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("write control pipe's name: %w", err)
	}
	return &listener{l, path}, nil
}

type listener struct {
	net.Listener
	path string
}

func (l *listener) Close() error {
	err := l.Listener.Close()
	if e := os.Remove(l.path); e != nil && !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}

func dial(dataDir string) (net.Conn, error) {
	name, err := os.ReadFile(filepath.Join(dataDir, nameFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrNotRunning
	}
	if err != nil {
		return nil, fmt.Errorf("the service on %s may only be spoken to by an administrator and by the user it runs as: %w", dataDir, err)
	}
	timeout := 5 * time.Second
	c, err := winio.DialPipe(strings.TrimSpace(string(name)), &timeout)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, ErrNotRunning
	case err != nil:
		return nil, fmt.Errorf("reach the running service: %w", err)
	}
	return c, nil
}

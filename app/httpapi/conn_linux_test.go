package httpapi

import (
	"bufio"
	"fmt"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"opsmon/app/auth"
)

// TestAStreamEndsWithADeadClient: a client whose computer lost its network acknowledges nothing, while small writes to
// it succeed for long. Its stream must end anyway.
func TestAStreamEndsWithADeadClient(t *testing.T) {
	s := newServer(t, options{})
	quick(s)
	s.api.events.streams.times.beat, s.api.events.streams.times.dead = 50*time.Millisecond, 500*time.Millisecond
	c, err := net.Dial("tcp", s.http.Listener.Addr().String())
	s.must(nil, err)
	defer c.Close()
	fmt.Fprintf(c, "GET /events HTTP/1.1\r\nHost: %s\r\nX-API-KEY: %s\r\n\r\n", s.http.Listener.Addr(), s.roleKey(auth.Readonly))
	in := bufio.NewReader(c)
	for line := ""; line != "event: beat\n"; { // the stream has begun
		line, err = in.ReadString('\n')
		s.must(nil, err)
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	s.must(nil, err)
	// drops every packet, as if the computer had lost its network
	nothing := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K}}
	var failed error
	s.must(nil, raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(nothing)), Filter: &nothing[0]})
	}))
	s.must(nil, failed)
	for end := time.Now().Add(20 * time.Second); s.api.events.streams.count() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the stream goes on with a client that is gone")
		}
	}
}

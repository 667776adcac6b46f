package auth

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"mime/quotedprintable"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// smtpServer implements enough SMTP to accept a message. reply returns the answer to the end of DATA.
type smtpServer struct {
	t       testing.TB
	tls     *tls.Config // nil: plain only
	wrapped bool        // TLS from the start
	auth    bool        // offers and demands AUTH PLAIN
	reply   func(n int, body string) string

	listener net.Listener
	work     sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]bool
	taken    int
	received chan mailed
}

// mailed is one message as received.
type mailed struct {
	from, to, login string
	text            string // raw
	body            string // decoded
	secure          bool
}

func serveSMTP(t testing.TB, s *smtpServer) *smtpServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.t, s.listener, s.received, s.conns = t, listener, make(chan mailed, 1000), map[net.Conn]bool{}
	s.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[conn] = true
			s.mu.Unlock()
			s.work.Go(func() { s.talk(conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		s.mu.Lock()
		for conn := range s.conns {
			conn.Close()
		}
		s.mu.Unlock()
		s.work.Wait()
	})
	return s
}

func (s *smtpServer) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

func (s *smtpServer) talk(conn net.Conn) {
	defer conn.Close()
	secure := false
	if s.wrapped {
		conn, secure = tls.Server(conn, s.tls), true
	}
	in := bufio.NewReader(conn)
	say := func(line string) { fmt.Fprintf(conn, "%s\r\n", line) }
	say("220 mail.test ESMTP")
	var m mailed
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO":
			say("250-mail.test")
			if s.tls != nil && !secure {
				say("250-STARTTLS")
			}
			if s.auth {
				say("250-AUTH PLAIN")
			}
			say("250 8BITMIME")
		case "STARTTLS":
			say("220 go ahead")
			conn, secure = tls.Server(conn, s.tls), true
			in = bufio.NewReader(conn)
		case "AUTH":
			data, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(rest, "PLAIN "))
			m.login = string(data)
			say("235 welcome")
		case "MAIL":
			if s.auth && m.login == "" {
				say("530 who are you")
				continue
			}
			m.from = rest
			say("250 fine")
		case "RCPT":
			m.to = rest
			say("250 fine")
		case "DATA":
			say("354 go on")
			var text strings.Builder
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				text.WriteString(line)
			}
			m.text, m.secure = text.String(), secure
			if _, body, found := strings.Cut(m.text, "\r\n\r\n"); found && strings.Contains(m.text, "Content-Transfer-Encoding: quoted-printable\r\n") {
				decoded, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(body)))
				if err != nil {
					s.t.Errorf("body: %v", err)
				}
				m.body = string(decoded)
			}
			s.mu.Lock()
			s.taken++
			n := s.taken
			s.mu.Unlock()
			answer := "250 taken"
			if s.reply != nil {
				answer = s.reply(n, m.body)
			}
			say(answer)
			if strings.HasPrefix(answer, "250") {
				s.received <- m
			}
		case "QUIT":
			say("221 bye")
			return
		default: // NOOP, RSET
			say("250 fine")
		}
	}
}

// wait returns the next accepted message.
func (s *smtpServer) wait() mailed {
	s.t.Helper()
	select {
	case m := <-s.received:
		return m
	case <-time.After(20 * time.Second):
		s.t.Fatal("no mail came")
		return mailed{}
	}
}

// throwAwayCertificate returns a certificate for 127.0.0.1 and a pool that trusts it.
func throwAwayCertificate(t testing.TB) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, pool
}

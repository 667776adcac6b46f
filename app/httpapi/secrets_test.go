package httpapi

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"opsmon/app/auth"
)

// gossip is a mail server that accepts a message and then refuses it with an error that quotes the message.
type gossip struct {
	net.Listener
	heard chan string // the text of each message
}

func newGossip(t *testing.T) *gossip {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gossip{l, make(chan string, 10)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.talk(c)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return g
}

func (g *gossip) talk(c net.Conn) {
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	r := bufio.NewReader(c)
	say := func(text string) { fmt.Fprintf(c, "%s\r\n", text) }
	say("220 gossip")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch command, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.ToUpper(command) {
		case "EHLO":
			say("250-gossip\r\n250 AUTH PLAIN LOGIN CRAM-MD5")
		case "AUTH":
			say("334 " + base64.StdEncoding.EncodeToString([]byte("<1@gossip>")))
			if _, err := r.ReadString('\n'); err != nil {
				return
			}
			say("235 welcome")
		case "DATA":
			say("354 go on")
			var text strings.Builder
			for {
				if line, err = r.ReadString('\n'); err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				text.WriteString(line)
			}
			g.heard <- text.String()
			say("550 I do not take this: " + strings.Join(strings.Fields(text.String()), " "))
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 fine")
		}
	}
}

// The secrets of a day, including mail, are in no log, header, error, metric or audit record: newServer looks for each
// of them when the test ends.
func TestSecretsStaySecret(t *testing.T) {
	g := newGossip(t)
	const password = "smtp-password-of-the-test"
	s := newServer(t, options{mailer: func(log *slog.Logger) *auth.Mailer {
		m, err := auth.NewMailer(auth.MailConfig{
			Host: "127.0.0.1", Port: g.Addr().(*net.TCPAddr).Port, Username: "opsmon", Password: password, From: "opsmon@acme.example", TLS: auth.NoTLS,
			Retries: []time.Duration{}, Log: log,
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}})
	s.hide(password)
	s.hide(base64.StdEncoding.EncodeToString([]byte("\x00opsmon\x00" + password)))
	s.hide(base64.StdEncoding.EncodeToString([]byte(password)))
	admin := s.roleKey(auth.Admin)

	s.login(mailOf(auth.Member))
	var mailed string
	select {
	case text := <-g.heard:
		mailed = regexp.MustCompile(`opl_[a-z2-7]+`).FindString(strings.ReplaceAll(text, "=\r\n", ""))
	case <-time.After(time.Minute):
		t.Fatal("no message was sent")
	}
	s.hide(mailed)
	if in := s.do(ask{method: "GET", path: "/auth/callback?token=" + mailed}).want(t, 200); s.hide(in.cookies["session"].Value) == "" {
		t.Error("no session")
	}
	_, code, waiting := s.login(mailOf(auth.Member))
	<-g.heard
	token := s.tokenFor(admin, code)
	s.do(ask{method: "POST", path: "/auth/approve", body: `{"token":"` + token + `","code":"` + code + `"}`}).want(t, 200)
	session := s.hide(s.do(ask{method: "POST", path: "/auth/claim", login: waiting}).want(t, 200).cookies["session"].Value)
	reset := s.do(ask{method: "POST", path: "/account", body: `{"resetWarehousePassword":true}`, key: admin}).want(t, 200)
	warehouse := s.hide(reset.text("result", "warehousePassword"))
	key := s.hide(s.do(ask{method: "POST", path: "/key", session: session}).want(t, 200).text("result", "key"))

	// Each in the wrong place: in bodies, queries, headers and paths.
	for _, secret := range []string{key, session, token, mailed, warehouse, password, waiting} {
		for _, a := range []ask{
			{method: "GET", path: "/auth/callback?token=" + secret + "x"}, {method: "POST", path: "/auth/approve", body: `{"token":"` + secret + `x","code":"12345"}`},
			{method: "GET", path: "/account", key: secret + "x"}, {method: "GET", path: "/account", session: secret + "x"}, {method: "DELETE", path: "/key/" + secret + "x", key: admin},
			{method: "GET", path: "/" + secret}, {method: "GET", path: "/health?x=" + secret}, {method: "POST", path: "/auth/claim", login: secret + "x"},
			{method: "GET", path: "/metrics", header: map[string]string{"Authorization": "Bearer " + secret + "x"}}, {method: "GET", path: "/health", header: map[string]string{"Referer": secret, "User-Agent": secret}},
			{method: "GET", path: "/account", key: admin, header: map[string]string{"If-None-Match": secret}}, {method: "POST", path: "/account", body: `{}`, key: admin, header: map[string]string{"If-Match": secret}},
			{method: "POST", path: "/auth/account", body: `{"accountId":"` + secret + `"}`, session: session}, {method: "POST", path: "/login-request/" + secret + "/link", key: admin},
		} {
			a.from = s.address()
			s.do(a)
		}
	}
	for _, a := range []ask{{method: "GET", path: "/audit?limit=1000", key: admin}, {method: "GET", path: "/metrics", key: admin}, {method: "GET", path: "/key", key: admin}, {method: "GET", path: "/login-request", key: admin}, {method: "GET", path: "/user", key: admin}} {
		s.shown.Write(s.do(a).want(t, 200).body)
	}
	if log := s.logged.String(); !strings.Contains(log, "could not be mailed") || !strings.Contains(log, "level=DEBUG") {
		t.Error("the log is not the whole log")
	}
}

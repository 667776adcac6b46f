package auth

import (
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/mail"
	"regexp"
	"strings"
	"testing"
	"time"

	"opsmon/app/errdefs"
)

func newTestMailer(t testing.TB, s *smtpServer, mode TLSMode, change func(*MailConfig)) (*Mailer, *syncBuffer) {
	t.Helper()
	logged := &syncBuffer{}
	cfg := MailConfig{
		Host: "127.0.0.1", Port: s.port(), From: "Plant <app@plant.example>", TLS: mode,
		Retries: []time.Duration{time.Millisecond, time.Millisecond}, Log: slog.New(slog.NewTextHandler(logged, nil)),
	}
	if change != nil {
		change(&cfg)
	}
	m, err := NewMailer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m, logged
}

var linkInMail = regexp.MustCompile(`http://plant\.local:8080/link#(opl_[a-z2-7]{40})\r\n`)

func TestLoginByMail(t *testing.T) {
	server, pool := throwAwayCertificate(t)
	for _, c := range []struct {
		mode TLSMode
		auth bool
	}{{NoTLS, false}, {StartTLS, false}, {StartTLS, true}, {TLS, true}} {
		t.Run(fmt.Sprintf("%s auth %v", c.mode, c.auth), func(t *testing.T) {
			s := &smtpServer{auth: c.auth, wrapped: c.mode == TLS}
			if c.mode != NoTLS {
				s.tls = server
			}
			serveSMTP(t, s)
			mailer, logged := newTestMailer(t, s, c.mode, func(cfg *MailConfig) {
				cfg.RootCAs = pool
				if c.auth {
					cfg.Username, cfg.Password = "user", "correct horse"
				}
			})
			f := newMailFixture(t, mailer)
			r, err := f.Login(LoginRequest{Destination: "Boss@a.example", Address: "10.0.0.7", BaseURL: "http://plant.local:8080/"})
			f.want(err, none)
			m := s.wait()
			if m.secure != (c.mode != NoTLS) || (m.login == "\x00user\x00correct horse") != c.auth {
				t.Errorf("secure %v, login %q", m.secure, m.login)
			}
			if !strings.HasPrefix(m.to, "TO:<boss@a.example>") || !strings.HasPrefix(m.from, "FROM:<app@plant.example>") {
				t.Errorf("from %q to %q", m.from, m.to)
			}
			parsed, err := mail.ReadMessage(strings.NewReader(m.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := parsed.Header.Get("Subject"); got != "Your link to sign in" {
				t.Errorf("subject %q", got)
			}
			if got := parsed.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/plain") {
				t.Errorf("content type %q", got)
			}
			found := linkInMail.FindStringSubmatch(m.body)
			if found == nil || !strings.Contains(m.body, r.Code) || !strings.Contains(m.body, "10.0.0.7") ||
				!strings.Contains(m.body, "2026-11-20T08:30:30.123Z") {
				t.Fatalf("the message:\n%s", m.text)
			}
			if grant := f.open1(found[1]); grant.Principal.Email != boss {
				t.Errorf("%+v", grant.Principal)
			}
			if text := logged.String() + f.logged.String(); text != "" {
				t.Errorf("logged: %s", text)
			}
		})
	}
}

// TestMailIsTriedAgain checks that a temporarily rejected message is sent again, and a permanently rejected one is
// not.
func TestMailIsTriedAgain(t *testing.T) {
	for _, c := range []struct {
		reply string
		tries int // out of three
	}{{"451 later", 3}, {"550 never", 1}} {
		s := serveSMTP(t, &smtpServer{reply: func(n int, body string) string {
			return c.reply + " " + strings.TrimSpace(linkInMail.FindString(body)) // servers quote the message
		}})
		mailer, logged := newTestMailer(t, s, NoTLS, nil)
		f := newMailFixture(t, mailer)
		r, err := f.Login(LoginRequest{Destination: boss, BaseURL: "http://plant.local:8080"})
		f.want(err, none)
		mailer.work.Wait()
		s.mu.Lock()
		taken := s.taken
		s.mu.Unlock()
		if taken != c.tries {
			t.Errorf("%s: %d tries, want %d", c.reply, taken, c.tries)
		}
		text := logged.String()
		if !strings.Contains(text, "could not be mailed; an administrator has to pass it on") || !strings.Contains(text, ": "+c.reply[:3]) {
			t.Errorf("logged: %s", text)
		}
		if strings.Contains(text, prefixLink) || strings.Contains(text, r.Code) {
			t.Errorf("the link or its code is in the log: %s", text)
		}
		f.open1(f.linkFor(f.admin, r.Code).Token) // the administrator can still pass on a link
	}
}

func TestMailComesThroughAtLast(t *testing.T) {
	s := serveSMTP(t, &smtpServer{reply: func(n int, _ string) string {
		if n < 3 {
			return "451 later"
		}
		return "250 taken"
	}})
	mailer, _ := newTestMailer(t, s, NoTLS, nil)
	f := newMailFixture(t, mailer)
	_, err := f.Login(LoginRequest{Destination: boss, BaseURL: "http://plant.local:8080"})
	f.want(err, none)
	f.open1(linkInMail.FindStringSubmatch(s.wait().body)[1])
}

// TestMailIsNotSentInsecurely checks that nothing is sent to a server with an untrusted certificate or without
// STARTTLS, not even unencrypted.
func TestMailIsNotSentInsecurely(t *testing.T) {
	server, _ := throwAwayCertificate(t)
	for i, s := range []*smtpServer{{tls: server}, {}, {tls: server, auth: true}, {auth: true}} {
		serveSMTP(t, s)
		mailer, logged := newTestMailer(t, s, StartTLS, func(cfg *MailConfig) {
			cfg.RootCAs = x509.NewCertPool()
			if s.auth {
				cfg.Username, cfg.Password = "user", "correct horse"
			}
		})
		mailer.send(message{to: boss, code: "12345", url: "u"})
		mailer.work.Wait()
		s.mu.Lock()
		if s.taken != 0 {
			t.Errorf("%d: it was sent", i)
		}
		s.mu.Unlock()
		if text := logged.String(); !strings.Contains(text, "level=ERROR") || strings.Contains(text, "correct horse") {
			t.Errorf("%d: logged: %s", i, text)
		}
	}
}

// TestMailServerHangs checks that an unresponsive mail server blocks neither requests nor Close, and does not fill
// the memory.
func TestMailServerHangs(t *testing.T) {
	hold, asked := make(chan struct{}), make(chan struct{}, maxSending)
	s := serveSMTP(t, &smtpServer{reply: func(int, string) string { asked <- struct{}{}; <-hold; return "250 taken" }})
	t.Cleanup(func() { close(hold) })
	mailer, logged := newTestMailer(t, s, NoTLS, nil)
	start := time.Now()
	for range maxWaiting + 5 {
		mailer.send(message{to: boss, code: "12345", url: "u"})
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("sending took %v", d)
	}
	if n := strings.Count(logged.String(), "mail queue is full"); n != 5 {
		t.Errorf("%d were dropped, want 5", n)
	}
	<-asked // and does not answer
	start = time.Now()
	mailer.Close()
	if d := time.Since(start); d > mailTimeout/2 {
		t.Errorf("the end took %v", d)
	}
	mailer.Close()
	mailer.send(message{to: boss}) // does nothing
	if n := strings.Count(logged.String(), "before shutdown"); n != maxWaiting {
		t.Errorf("%d were given up, want %d", n, maxWaiting)
	}
}

func TestMailConfig(t *testing.T) {
	good := MailConfig{Host: "mail.example", From: "a@b.example", TLS: StartTLS}
	for _, c := range []struct {
		change func(*MailConfig)
		want   string
	}{
		{func(*MailConfig) {}, ""},
		{func(c *MailConfig) { c.Host = "" }, "mail: host"},
		{func(c *MailConfig) { c.Host = "unix:///x" }, "mail: host"},
		{func(c *MailConfig) { c.From = "x" }, "mail: from"},
		{func(c *MailConfig) { c.From = "a@b.example\r\nBcc: c@d.example" }, "mail: from"},
		{func(c *MailConfig) { c.TLS = "" }, "mail: tls"},
		{func(c *MailConfig) { c.Port = 70000 }, "mail: "},
	} {
		cfg := good
		c.change(&cfg)
		m, err := NewMailer(cfg)
		if c.want == "" {
			if err != nil {
				t.Error(err)
			}
			m.Close()
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestMailHeaders checks that every address that ParseEmail accepts is one address in one header.
func TestMailHeaders(t *testing.T) {
	m, err := NewMailer(MailConfig{Host: "127.0.0.1", From: "a@b.example", TLS: NoTLS})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, email := range []string{"!#$%&'*+-/=?^_`{|}~@x.example", "a.b@localhost", "x@" + strings.Repeat("a", 63) + ".example"} {
		checked, err := ParseEmail(email)
		if errdefs.KindOf(err) == errdefs.Invalid && err != nil {
			t.Fatal(err)
		}
		text, err := m.compose(message{to: checked, code: "12345", url: "http://x/link#t", from: "evil\r\nBcc: x@y.example"})
		if err != nil {
			t.Fatalf("%s: %v", email, err)
		}
		var b strings.Builder
		if _, err := text.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		parsed, err := mail.ReadMessage(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		to, err := parsed.Header.AddressList("To")
		if err != nil || len(to) != 1 || to[0].Address != checked || parsed.Header.Get("Bcc") != "" || strings.Contains(b.String(), "evil") {
			t.Errorf("%s: %v, %v\n%s", email, to, err, b.String())
		}
	}
}

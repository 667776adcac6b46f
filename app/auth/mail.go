package auth

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/wneessen/go-mail"

	"opsmon/app/instant"
)

// TLSMode is how the connection to the mail server is protected.
type TLSMode string

// The modes.
const (
	StartTLS TLSMode = "starttls" // starts unencrypted and requires TLS before any command
	TLS      TLSMode = "tls"      // TLS from the start
	NoTLS    TLSMode = "none"     // for a relay on the same machine or plant network
)

// MailConfig is the mail server that delivers links (decisions.md section 4).
type MailConfig struct {
	Host     string
	Port     int // 0: 587 for starttls, 465 for tls, 25 for none
	Username string
	Password string // requires Username; over an unencrypted connection only sent by a method that does not reveal it
	From     string // the sender's address, or "Name <address>"
	TLS      TLSMode
	RootCAs  *x509.CertPool  // nil: the system's
	Retries  []time.Duration // waits before each further try; nil: 5 s, 30 s, 2 min
	Log      *slog.Logger    // nil: nothing is logged
}

// Mailer sends messages in the background without delaying the caller. It queues at most 100 of them and sends four
// concurrently. Further messages are dropped; their links, like those of failed messages, can still be passed on by
// an administrator.
type Mailer struct {
	cfg     MailConfig
	options []mail.Option
	log     *slog.Logger

	waiting chan struct{} // one element per queued message
	sending chan struct{} // one element per connection
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

const (
	maxWaiting  = 100
	maxSending  = 4
	mailTimeout = 30 * time.Second // for one attempt
)

// message is a mail with one link.
type message struct {
	to, code, url string
	from          string // address of the request
	expires       time.Time
}

// NewMailer validates the configuration; it does not connect. Errors name the invalid setting.
func NewMailer(cfg MailConfig) (*Mailer, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Retries == nil {
		cfg.Retries = []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute}
	}
	if cfg.Host == "" || strings.Contains(cfg.Host, "://") {
		return nil, errors.New("mail: host: must be a host name or address")
	}
	options := []mail.Option{
		mail.WithTimeout(mailTimeout), mail.WithTLSConfig(&tls.Config{ServerName: cfg.Host, RootCAs: cfg.RootCAs, MinVersion: tls.VersionTLS12}),
	}
	port := 0
	switch cfg.TLS {
	case StartTLS:
		port, options = 587, append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case TLS:
		port, options = 465, append(options, mail.WithSSL())
	case NoTLS:
		port, options = 25, append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		return nil, errors.New("mail: tls: must be starttls, tls or none")
	}
	if cfg.Port != 0 {
		port = cfg.Port
	}
	options = append(options, mail.WithPort(port))
	if cfg.Username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(cfg.Username), mail.WithPassword(cfg.Password))
	}
	if err := mail.NewMsg().From(cfg.From); err != nil || strings.ContainsAny(cfg.From, "\r\n") {
		return nil, errors.New("mail: from: must be an e-mail address")
	}
	if _, err := mail.NewClient(cfg.Host, options...); err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Mailer{
		cfg: cfg, options: options, log: cfg.Log, ctx: ctx, cancel: cancel,
		waiting: make(chan struct{}, maxWaiting), sending: make(chan struct{}, maxSending),
	}, nil
}

// Close discards messages that were not sent. It does not wait for a server that accepted a connection and does not
// respond: that attempt may end later, and even deliver. Close may be called again.
func (m *Mailer) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	m.work.Wait()
}

// send queues a message and returns immediately.
func (m *Mailer) send(msg message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	select {
	case m.waiting <- struct{}{}:
	default:
		m.log.Error("mail queue is full; an administrator has to pass on the link", "to", msg.to)
		return
	}
	m.work.Go(func() {
		defer func() { <-m.waiting }()
		m.deliver(msg)
	})
}

// deliver retries until the message is accepted, rejected permanently, or expired.
func (m *Mailer) deliver(msg message) {
	for try := 0; ; try++ {
		err := m.try(msg)
		if err == nil {
			return
		}
		if m.ctx.Err() != nil {
			m.log.Warn("link may not have been mailed before shutdown; an administrator has to pass it on", "to", msg.to)
			return
		}
		if permanent(err) || try >= len(m.cfg.Retries) {
			m.log.Error("link could not be mailed; an administrator has to pass it on", "to", msg.to, "error", safeText(err))
			return
		}
		m.log.Warn("link could not be mailed; will retry", "to", msg.to, "error", safeText(err), "again_in", m.cfg.Retries[try])
		select {
		case <-time.After(m.cfg.Retries[try]):
		case <-m.ctx.Done():
		}
	}
}

// permanent reports whether the server rejected the message permanently.
func permanent(err error) bool {
	var refused *mail.SendError
	return errors.As(err, &refused) && refused.ErrorCode() >= 500
}

// safeText returns a failure's text for the log. A server's answer may quote the message including the link, so only
// its status codes are used.
func safeText(err error) string {
	var refused *mail.SendError
	if !errors.As(err, &refused) {
		return err.Error() // from before the message was sent
	}
	return strings.TrimSpace(fmt.Sprintf("%s: %d %s", refused.Reason, refused.ErrorCode(), refused.EnhancedStatusCode()))
}

func (m *Mailer) try(msg message) error {
	select {
	case m.sending <- struct{}{}:
		defer func() { <-m.sending }()
	case <-m.ctx.Done():
		return m.ctx.Err()
	}
	ctx, cancel := context.WithTimeout(m.ctx, mailTimeout)
	defer cancel()
	client, err := mail.NewClient(m.cfg.Host, m.options...)
	if err != nil {
		return err
	}
	text, err := m.compose(msg)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- client.DialAndSendWithContext(ctx, text) }()
	select {
	case err := <-done:
		return err
	case <-m.ctx.Done(): // a server that accepted the connection may block until the timeout
		return m.ctx.Err()
	}
}

// compose builds the message. Headers contain no user input except the address, which ParseEmail has validated. The
// body remains quoted-printable: with 7bit, go-mail would write the same encoding without declaring it, which would
// break the link.
func (m *Mailer) compose(msg message) (*mail.Msg, error) {
	text := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := text.From(m.cfg.From); err != nil {
		return nil, err
	}
	if err := text.To(msg.to); err != nil {
		return nil, err
	}
	text.Subject("Your link to sign in")
	text.SetDate()
	text.SetMessageID()
	text.SetGenHeader("Auto-Submitted", "auto-generated")
	from := "an unknown address"
	if ip := net.ParseIP(msg.from); ip != nil {
		from = ip.String()
	}
	text.SetBodyString(mail.TypeTextPlain, fmt.Sprintf(`Somebody asked, from %s, to sign in as you.

If that was you, see that the page where you asked shows this code:

    %s

Then open this link. It works once, until %s:

    %s

If it was not you, do nothing: nobody can sign in without the link.
`, from, msg.code, instant.Format(msg.expires), msg.url))
	return text, nil
}

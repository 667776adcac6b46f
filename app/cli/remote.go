package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app/host/control"
	"opsmon/app/simulate"
)

// remote is a running service for a command: that of the data directory, or another one by URL.
type remote struct {
	url, keyFile, caFile string
}

func (r *remote) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.url, "url", "", "`address` of a remote service, such as https://app.local:8443; default: the one of the data directory")
	f.StringVar(&r.keyFile, "key-file", "", "`file` with only an API key for --url")
	f.StringVar(&r.caFile, "ca-file", "", "`file` with the certificate of the authority to trust for --url (app trust --pem)")
}

// answerLimit is the largest answer that is read, in bytes.
const answerLimit = 64 << 20

// open returns the function that sends requests to the service.
func (r *remote) open(e *env, cmd *cobra.Command) (simulate.Send, error) {
	if r.url == "" {
		if r.keyFile != "" || r.caFile != "" {
			return nil, &usageError{cmd.CommandPath(), errors.New("--key-file and --ca-file go with --url")}
		}
		h, err := control.Client(e.dataDir)
		if errors.Is(err, control.ErrNotRunning) {
			return nil, fmt.Errorf("%w (%s); start it with app serve, or name one elsewhere with --url", err, e.dataDir)
		}
		if err != nil {
			return nil, err
		}
		return sender(h, "http://app", "X-Account", e.account), nil
	}
	at, err := url.Parse(r.url)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.RawQuery != "" {
		return nil, &usageError{cmd.CommandPath(), fmt.Errorf("--url must be an address such as https://app.local:8443; it is %q", r.url)}
	}
	if r.keyFile == "" {
		return nil, &usageError{cmd.CommandPath(), errors.New("--url needs --key-file")}
	}
	key, err := os.ReadFile(r.keyFile)
	if err != nil {
		return nil, fmt.Errorf("read the API key: %w", err)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	if r.caFile != "" {
		pem, err := os.ReadFile(r.caFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificate: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read the certificate: %s holds none in PEM", r.caFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return sender(&http.Client{Transport: transport, Timeout: 2 * time.Minute}, strings.TrimSuffix(r.url, "/"), "X-API-KEY", strings.TrimSpace(string(key))), nil
}

// sender sends requests to a base address with a header for authentication.
func sender(h *http.Client, base, header, value string) simulate.Send {
	return func(ctx context.Context, in simulate.Request) (simulate.Answer, error) {
		target := base + in.Path
		if len(in.Query) > 0 {
			target += "?" + in.Query.Encode()
		}
		req, err := http.NewRequestWithContext(ctx, in.Method, target, bytes.NewReader(in.Body))
		if err != nil {
			return simulate.Answer{}, err
		}
		if in.Body != nil {
			req.Header.Set("Content-Type", "application/json")
		}
		if in.IdempotencyKey != "" {
			req.Header.Set("Idempotency-Key", in.IdempotencyKey)
		}
		if value != "" {
			req.Header.Set(header, value)
		}
		resp, err := h.Do(req)
		if err != nil {
			return simulate.Answer{}, fmt.Errorf("the service did not answer: %w", err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
		if err != nil {
			return simulate.Answer{}, fmt.Errorf("the service's answer broke off: %w", err)
		}
		wait, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // in seconds; dates are ignored
		return simulate.Answer{Status: resp.StatusCode, RetryAfter: time.Duration(max(0, wait)) * time.Second, Body: b}, nil
	}
}

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"opsmon/app"
	"opsmon/app/errdefs"
	"opsmon/app/host/backup"
	"opsmon/app/host/config"
	"opsmon/app/host/control"
	"opsmon/kv"
)

// client sends requests to the API's local side.
type client struct {
	http    *http.Client
	account string
	close   func() error
}

// open connects to the running service, or opens the store if none is running. create allows it to create a missing
// store.
func (e *env) open(create bool) (*client, error) {
	h, err := control.Client(e.dataDir)
	if err == nil {
		return &client{http: h, account: e.account, close: func() error { h.CloseIdleConnections(); return nil }}, nil
	}
	if !errors.Is(err, control.ErrNotRunning) {
		return nil, err
	}
	c, err := e.openStore(create)
	if errors.Is(err, kv.ErrLocked) {
		// A starting service locks the store before it listens.
		if h, again := control.Client(e.dataDir); again == nil {
			return &client{http: h, account: e.account, close: func() error { h.CloseIdleConnections(); return nil }}, nil
		}
		return nil, fmt.Errorf("%w; it does not answer on its control channel: if it is starting or stopping, try again in a moment", err)
	}
	return c, err
}

// openStore opens the store as the owner of its directory.
func (e *env) openStore(create bool) (*client, error) {
	if o := ownerOf(e.dataDir); o != nil {
		what := ownStore
		if create {
			what = ownNewStore
		}
		return e.asOwner(o, what)
	}
	cfg, err := e.storeConfig()
	if err != nil && (!create || !errors.Is(err, errNoStore)) {
		return nil, err
	}
	a, err := app.Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return inProcess(a, e.account), nil
}

var errNoStore = errors.New("there is no store")

// readConfig reads the settings after completing an interrupted restore, because app.yaml may be among the files that
// it exchanges. Errors: backup.Resume's, config.Load's.
func (e *env) readConfig() (config.Settings, error) {
	if err := backup.Resume(e.dataDir); err != nil {
		return config.Settings{}, err
	}
	return config.Load(e.dataDir, e.getenv)
}

// readOwners is readConfig for root. Root must not follow names in another user's directory, so a process of the owner
// completes the restore.
func (e *env) readOwners(o *owner) (config.Settings, error) {
	c, err := e.asOwner(o, ownFiles)
	if err == nil {
		err = c.close()
	}
	if err != nil {
		return config.Settings{}, err
	}
	return config.Load(e.dataDir, e.getenv)
}

// storeConfig returns the configuration for a command that opens the store for a short time. Error: errNoStore, with
// which the configuration is still valid.
func (e *env) storeConfig() (config.Settings, error) {
	read := e.readConfig
	if o := ownerOf(e.dataDir); o != nil {
		read = func() (config.Settings, error) { return e.readOwners(o) }
	}
	cfg, err := read()
	if err != nil {
		return cfg, err
	}
	cfg.SMTP = config.SMTP{TLS: "none"} // no mail
	if _, err := os.Stat(filepath.Join(e.dataDir, app.StoreFile)); errors.Is(err, fs.ErrNotExist) {
		return cfg, fmt.Errorf("%w in %s; make one with: app init --domain DOMAIN --email EMAIL, or name another directory with --data-dir", errNoStore, e.dataDir)
	}
	return cfg, nil
}

// inProcess returns a client of an App without a network. Closing it closes the App.
func inProcess(a *app.App, account string) *client {
	running := new(sync.WaitGroup)
	return &client{http: &http.Client{Transport: handlerTransport{a.Local(), running}}, account: account, close: func() error {
		running.Wait()
		return a.Close()
	}}
}

// handlerTransport serves requests by a handler in the same process, and streams the answers.
type handlerTransport struct {
	handler http.Handler
	running *sync.WaitGroup // requests in progress
}

// RoundTrip implements http.RoundTripper.
func (t handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.RequestURI = r.URL.RequestURI()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, to := io.Pipe()
	w := &answer{header: http.Header{}, body: to, begun: make(chan int, 1)}
	t.running.Go(func() {
		t.handler.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
		to.Close()
	})
	status := <-w.begun
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), Header: w.sent, Body: body, ContentLength: -1,
		Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// answer forwards the output of a handler.
type answer struct {
	header, sent http.Header
	body         *io.PipeWriter
	begun        chan int // receives the status, once
	once         sync.Once
}

func (w *answer) Header() http.Header { return w.header }

// WriteHeader starts the answer; only the first call counts.
func (w *answer) WriteHeader(status int) {
	w.once.Do(func() {
		w.sent = w.header.Clone()
		w.begun <- status
	})
}

func (w *answer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// FlushError does nothing, because writes are not buffered.
func (w *answer) FlushError() error { return nil }

// failure is the error envelope of the API.
type failure struct {
	ErrorCode    string           `json:"errorCode"`
	ErrorMessage string           `json:"errorMessage"`
	Details      []errdefs.Detail `json:"details"`
}

// do makes a request and returns the body of a success. path must be escaped. An error answer is an *errdefs.Error with
// the API's message.
func (c *client) do(method, path string, query url.Values, body []byte) ([]byte, error) {
	req, err := http.NewRequest(method, "http://app"+path+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.account != "" {
		req.Header.Set("X-Account", c.account)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the service did not answer: %w", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("the service's answer broke off: %w", err)
	}
	if resp.StatusCode < 300 {
		return b, nil
	}
	return nil, failureOf(b, resp.StatusCode)
}

// failureOf decodes an error envelope.
func failureOf(b []byte, status int) error {
	var f failure
	if err := json.Unmarshal(b, &f); err != nil || f.ErrorCode == "" {
		return fmt.Errorf("the service answered %d %s", status, http.StatusText(status))
	}
	if f.ErrorMessage == "" {
		f.ErrorMessage = f.ErrorCode
	}
	kind := errdefs.Conflict
	if status == http.StatusServiceUnavailable {
		kind = errdefs.Unavailable
	}
	return &errdefs.Error{Kind: kind, Message: f.ErrorMessage, Details: f.Details}
}

// streaming is a request with a streamed answer (package control).
type streaming struct {
	path     string
	header   map[string]string
	body     io.Reader // may be nil
	size     int64     // of the body
	progress func(done, total int64)
	data     io.Writer // receives the data of the stream; may be nil
}

// stream makes a long request and decodes its result into out. It ends with ctx.
func (c *client) stream(ctx context.Context, s streaming, out any) error {
	if s.body == nil {
		s.body, s.size = http.NoBody, 0
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://app"+s.path, s.body)
	if err != nil {
		return err
	}
	req.ContentLength = s.size
	for name, value := range s.header {
		req.Header.Set(name, value)
	}
	patient := *c.http
	patient.Timeout = 0 // no time limit
	resp, err := patient.Do(req)
	if err != nil {
		return fmt.Errorf("the service did not answer: %w", err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != control.StreamType {
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return fmt.Errorf("the service's answer broke off: %w", err)
		}
		return failureOf(b, resp.StatusCode)
	}
	if s.data == nil {
		s.data = io.Discard
	}
	end, failed, err := control.ReadStream(resp.Body, s.progress, s.data)
	switch {
	case err != nil:
		return err
	case failed:
		return failureOf(end, resp.StatusCode)
	}
	return json.Unmarshal(end, out)
}

// call makes a request with a JSON body and decodes the result, or the results, into out.
func (c *client) call(method, path string, query url.Values, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	return c.callRaw(method, path, query, body, out)
}

// callRaw is call with an encoded body.
func (c *client) callRaw(method, path string, query url.Values, body []byte, out any) error {
	b, err := c.do(method, path, query, body)
	if err != nil || out == nil || len(b) == 0 {
		return err
	}
	var envelope struct {
		Result  json.RawMessage `json:"result"`
		Results json.RawMessage `json:"results"`
	}
	if err := json.Unmarshal(b, &envelope); err != nil {
		return fmt.Errorf("read the service's answer: %w", err)
	}
	if envelope.Results != nil {
		envelope.Result = envelope.Results
	}
	return json.Unmarshal(envelope.Result, out)
}

// with opens a client, calls fn and closes the client.
func (e *env) with(create bool, fn func(*client) error) error {
	c, err := e.open(create)
	if err != nil {
		return err
	}
	return errors.Join(fn(c), c.close())
}

// print writes v as JSON, or calls text for people.
func (e *env) print(v any, text func(w io.Writer)) error {
	var b bytes.Buffer
	if e.json {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err
		}
	} else {
		text(printable{&b})
	}
	return e.write(b.Bytes())
}

// write writes to standard output. An error is returned, because the output may have been a key that is shown once.
func (e *env) write(b []byte) error {
	if _, err := e.stdout.Write(b); err != nil {
		return fmt.Errorf("the output could not be written: %w", err)
	}
	return nil
}

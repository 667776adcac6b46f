package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app/host/config"
	"opsmon/app/host/control"
	"opsmon/app/host/service"
	"opsmon/app/instant"
)

// stopLimit is how long a service may take to stop: finishing requests, closing the store, and a margin.
const stopLimit = time.Minute

// serviceCommands returns the commands for an installed service.
func (e *env) serviceCommands() []*cobra.Command {
	act := func(use, short string, run func(ctx context.Context, s *service.Service) error, said string) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				s, err := service.Find()
				if err != nil {
					return err
				}
				if err := run(cmd.Context(), s); err != nil {
					return err
				}
				st, err := s.State()
				if err != nil {
					return err
				}
				return e.print(map[string]bool{"running": st.Running}, func(w io.Writer) { fmt.Fprintln(w, said) })
			},
		}
	}
	return []*cobra.Command{
		act("start", "Start the installed service and wait until it is ready", e.start, "The service runs and is ready."),
		act("stop", "Stop the installed service, when it has answered what it has begun", stop, "The service is stopped. It starts again with the machine, or with: app start"),
		act("restart", "Stop the installed service and start it again", func(ctx context.Context, s *service.Service) error {
			if err := stop(ctx, s); err != nil {
				return err
			}
			return e.start(ctx, s)
		}, "The service was started again and is ready."),
		e.status(),
	}
}

func stop(ctx context.Context, s *service.Service) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	return s.Stop(ctx)
}

func (e *env) start(ctx context.Context, s *service.Service) error {
	began := time.Now()
	if err := s.Start(ctx); err != nil {
		return withLastWords(err, began)
	}
	st, err := s.State()
	if err != nil {
		return err
	}
	dir := e.serviceDir(st)
	if _, err := waitReady(ctx, dir); err != nil {
		return withLastWords(err, began)
	}
	if cfg, err := config.LoadInstalled(dir); err == nil && !service.MayWrite(dir, []string{cfg.BackupDir()}) {
		fmt.Fprintf(e.stderr, "warning: the service may not write to %s yet; let it with: app install\n", cfg.BackupDir())
	}
	return nil
}

// serviceDir returns the data directory of the installed service.
func (e *env) serviceDir(st service.State) string {
	if st.DataDir != "" {
		return st.DataDir
	}
	return defaultDataDir(func(name string) string { // the service's environment differs from this command's
		if name == "ProgramData" {
			return e.getenv(name)
		}
		return ""
	})
}

// serviceStatus is the part of a service's status that is shown.
type serviceStatus struct {
	Version   string   `json:"version"`
	PID       int      `json:"pid"`
	StartedAt *string  `json:"startedAt"`
	URLs      []string `json:"urls"`
	Ready     bool     `json:"ready"`
	Reason    string   `json:"reason"`
	Mend      string   `json:"mend"`
	DataDir   string   `json:"dataDir"`
	SetupCode string   `json:"setupCode"`
	Store     *struct {
		Bytes int64 `json:"bytes"`
		Free  int64 `json:"free"`
		Full  bool  `json:"full"`

		Version int `json:"version"`
	} `json:"store"`
	Backup *struct {
		LastAt  *string `json:"lastAt"`
		File    string  `json:"file"`
		Bytes   int64   `json:"bytes"`
		Overdue bool    `json:"overdue"`
		Problem string  `json:"problem"`
	} `json:"backup"`
	Certificate *struct {
		EndsAt    string   `json:"endsAt"`
		Problems  []string `json:"problems"`
		Authority *struct {
			Pages []string `json:"pages"`
		} `json:"authority"`
	} `json:"certificate"`

	all json.RawMessage // the whole status
}

// askStatus requests the status of the service on a data directory. Error: control.ErrNotRunning if no service runs.
func askStatus(dir string) (*serviceStatus, error) {
	h, err := control.Client(dir)
	if err != nil {
		return nil, err
	}
	c := &client{http: h}
	defer h.CloseIdleConnections()
	h.Timeout = 10 * time.Second
	st := new(serviceStatus)
	if err := c.call(http.MethodGet, "/local/status", nil, nil, &st.all); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(st.all, st); err != nil {
		return nil, fmt.Errorf("read the service's answer: %w", err)
	}
	return st, nil
}

// statusReport is the JSON output of status.
type statusReport struct {
	Installed bool            `json:"installed"`
	Enabled   bool            `json:"enabled"`
	Running   bool            `json:"running"`
	Failed    bool            `json:"failed"`
	Since     *string         `json:"since"`
	PID       int             `json:"pid"`
	Program   string          `json:"program"`
	Package   string          `json:"package"`
	DataDir   string          `json:"dataDir"`
	Service   json.RawMessage `json:"service"` // the service's status; null if it does not answer
	Unread    []string        `json:"unread"`  // errors of reading

	own *serviceStatus
}

func (e *env) status() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the service's status", Args: cobra.NoArgs,
		Long: `Shows the status of the installed service, or of the one that runs on the data directory. Parts that need more rights
than the caller has are listed at the end; an administrator sees everything. The exit status is always 0; that of app
doctor is 1 if there is a problem.`,
		RunE: func(*cobra.Command, []string) error {
			r := e.report()
			return e.print(r, r.text)
		},
	}
}

// report collects the status.
func (e *env) report() *statusReport {
	r := &statusReport{DataDir: e.dataDir, Unread: []string{}}
	s, err := service.Find()
	var st service.State
	if err == nil {
		st, err = s.State()
	}
	switch {
	case err == nil:
		r.Installed, r.Enabled, r.Running, r.Failed = true, st.Enabled, st.Running, st.Failed
		r.PID, r.Program, r.Package = st.PID, st.Binary, st.Package
		if !st.Since.IsZero() {
			r.Since = new(instant.Format(st.Since))
		}
		if e.dataDir == defaultDataDir(e.getenv) {
			r.DataDir = e.serviceDir(st)
		}
	case !errors.Is(err, service.ErrNotInstalled):
		r.Unread = append(r.Unread, "the installed service: "+err.Error())
	}
	own, err := askStatus(r.DataDir)
	switch {
	case err == nil:
		r.own, r.Service, r.Running, r.PID = own, own.all, true, own.PID
		if r.Since == nil {
			r.Since = own.StartedAt
		}
	case r.Running || !errors.Is(err, control.ErrNotRunning):
		r.Unread = append(r.Unread, "the status from the service itself: "+err.Error())
	}
	return r
}

// text writes a report for people.
func (r *statusReport) text(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	switch {
	case !r.Installed:
		line("Installed", "no; install the service with: app install")
	case r.Package != "":
		line("Installed", "%s, by its %s package%s", r.Program, r.Package, r.starts())
	default:
		line("Installed", "%s%s", r.Program, r.starts())
	}
	switch since := orDash(r.Since); {
	case r.Running:
		line("Running", "since %s, process %d", since, r.PID)
	case r.Failed:
		line("Running", "no, it failed; the system's log says why, and app start tries again")
	case r.Installed:
		line("Running", "no; start it with: app start")
	default:
		line("Running", "no")
	}
	line("Data", "%s", r.DataDir)
	if r.own != nil {
		r.own.lines(line)
	}
	t.Flush()
	for _, what := range r.Unread {
		fmt.Fprintf(w, "Not read: %s\n", what)
	}
}

func (r *statusReport) starts() string {
	if r.Enabled {
		return "; starts with this machine"
	}
	return "; does not start with this machine (app install mends that)"
}

// lines writes the service's status.
func (st *serviceStatus) lines(line func(name, format string, args ...any)) {
	line("Version", "%s", st.Version)
	if st.Ready {
		line("Ready", "yes")
	} else {
		line("Ready", "no: %s", st.Reason)
		if !strings.Contains(st.Reason, st.Mend) {
			line("To do", "%s", st.Mend)
		}
	}
	if st.Store != nil && st.Store.Full {
		line("Disk", "full: nothing can be saved, reads continue. Free space on the disk of %s; writes then continue automatically", st.DataDir)
	}
	for i, url := range st.URLs {
		name := "URL"
		if i > 0 {
			name = ""
		}
		line(name, "%s", url)
	}
	if st.SetupCode != "" {
		line("Set up", "not yet; in a browser, open /welcome at this address and type the one-time code %s, or run app init", st.SetupCode)
	}
	if s := st.Store; s != nil {
		line("Store", "%s, of which %s free", size(s.Bytes), size(s.Free))
	}
	if b := st.Backup; b != nil {
		text := "none yet"
		if b.LastAt != nil {
			text = fmt.Sprintf("%s, %s, %s", *b.LastAt, size(b.Bytes), b.File)
		}
		if b.Overdue {
			text += "; overdue"
		}
		if b.Problem != "" {
			text += "; the last one failed: " + b.Problem
		}
		line("Backup", "%s", text)
	}
	if c := st.Certificate; c != nil {
		line("Certificate", "%s", strings.Join(append([]string{"until " + c.EndsAt}, c.Problems...), "; "))
	}
}

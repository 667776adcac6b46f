// Package service is app as the operating system's service: under systemd on Linux, under the service control manager
// on Windows. It alone knows what belongs to those two: the unit, accounts, recovery, logs and firewall rules of a
// service. It knows nothing of what the service does.
package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	kardianos "github.com/kardianos/service"

	"opsmon/app/host/control"
)

// Name is the service's name: the unit app.service, and the Windows service app.
const Name = "app"

// ErrNotInstalled means that this machine has no service with the name Name.
var ErrNotInstalled = errors.New("the service is not installed; install it with: app install")

// ErrUnsupported says that this system has no service manager that is known.
var ErrUnsupported = errors.New("this system has no service manager that app knows (systemd on Linux); run app serve under the one that it has")

// State is what the service manager knows of the service.
type State struct {
	Installed bool
	Enabled   bool      // starts with the machine
	Running   bool      // its process exists; only the service itself knows whether it is ready
	Failed    bool      // ended with an error and is not restarted automatically
	Since     time.Time // of the process's start; zero when it does not run or that cannot be read
	PID       int       // 0 when it does not run
	Binary    string    // absolute path of the program that is registered
	DataDir   string    // the data directory that is registered; "" for the default
	Package   string    // the package manager that owns the program: "dpkg", "rpm" or "msi"; "" for app install
}

// Service is the service as it is registered with the service manager.
type Service struct{ manager kardianos.Service }

// Find finds the service. Errors: ErrNotInstalled, ErrUnsupported.
func Find() (*Service, error) {
	s, err := open()
	if err != nil {
		return nil, err
	}
	state, err := s.State()
	if err != nil {
		return nil, err
	}
	if !state.Installed {
		return nil, ErrNotInstalled
	}
	return s, nil
}

// open reaches the service manager.
func open() (*Service, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	m, err := kardianos.New(nil, &kardianos.Config{Name: Name})
	if err != nil {
		return nil, fmt.Errorf("reach the service manager: %w", err)
	}
	return &Service{m}, nil
}

// Start starts the service, and does nothing when it runs. It returns when the service manager says that it has
// started (WaitReady waits until it serves), or when ctx ends.
func (s *Service) Start(ctx context.Context) error {
	return within(ctx, "start the service", func() error { return s.start(ctx) })
}

// Stop stops the service and returns when its process has ended, or when ctx ends. It does nothing when the service
// does not run.
func (s *Service) Stop(ctx context.Context) error {
	return within(ctx, "stop the service", func() error { return s.stop(ctx) })
}

// within runs fn, which may hang in the service manager, no longer than ctx lasts. what is for its error.
func within(ctx context.Context, what string, fn func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- fn() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: the service manager has not done it in time: %w", what, context.Cause(ctx))
	}
}

// readyPoll is the time between two questions of WaitReady.
const readyPoll = 50 * time.Millisecond

// patience is how long a service that has started and is not ready may take to become so.
const patience = 3 * time.Second

// WaitReady waits until the service on a data directory is ready to serve. When ctx ends before that, or when the service
// has started and stays without being ready, the error says why, in the service's own words if it answers.
func WaitReady(ctx context.Context, dataDir string) error {
	var stays time.Time // since when it has started and is not ready
	for {
		st, err := ask(ctx, dataDir)
		if err == nil {
			if st.Ready {
				return nil
			}
			err = errors.New(st.Reason)
		}
		switch {
		case st == nil || st.Starting:
			stays = time.Time{}
		case stays.IsZero():
			stays = time.Now()
		}
		if ctx.Err() != nil || !stays.IsZero() && time.Since(stays) > patience {
			return fmt.Errorf("the service did not become ready: %w", err)
		}
		sleep(ctx, readyPoll)
	}
}

// answer is the service's answer about its state.
type answer struct {
	Ready    bool   `json:"ready"`
	Reason   string `json:"reason"` // why not
	Starting bool   `json:"starting"`
}

// ask asks the service for its state.
func ask(ctx context.Context, dataDir string) (*answer, error) {
	client, err := control.Client(dataDir)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	// A question that has begun is answered, or fails, even when ctx ends meanwhile: its answer is the reason.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://app/local/status", nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("it did not answer: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("its answer broke off: %w", err)
	}
	var envelope struct {
		Result *answer `json:"result"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil || envelope.Result == nil {
		return nil, fmt.Errorf("it answered %s", resp.Status)
	}
	return envelope.Result, nil
}

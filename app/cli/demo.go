package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/demo"
	"opsmon/app/host/config"
	"opsmon/app/simulate"
)

func (e *env) demo() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "demo", Short: "Serve an example plant from a temporary store", Args: cobra.NoArgs,
		Example: "  app demo\n  app demo --listen 127.0.0.1:9000",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg := config.Defaults()
			cfg.LogLevel, cfg.Backup.Every = "warn", 0
			if err := cfg.Set("listen", listen, "--listen"); err != nil {
				return err
			}
			if cfg.Check() != nil {
				return &usageError{cmd.CommandPath(), fmt.Errorf("the demo works only on this machine: --listen must be an address such as 127.0.0.1:9000; it is %q", listen)}
			}
			if cfg.Listen, err = withPort(listen); err != nil {
				return err
			}
			ctx, stop := untilSignal(cmd.Context()) // from here on there are files to remove
			defer stop()
			if cfg.DataDir, err = os.MkdirTemp("", "app-demo-"); err != nil {
				return fmt.Errorf("make a temporary directory: %w", err)
			}
			defer func() { err = errors.Join(err, os.RemoveAll(cfg.DataDir)) }()
			d := newDemoPlant(time.Now())
			cfg.Clock, cfg.Signals.PerSecond = d.clock, demoRate
			if cfg.Demo, err = makeDemo(cfg); err != nil {
				return err
			}
			var played sync.WaitGroup
			defer played.Wait()
			defer stop()
			return e.run(ctx, cfg, func(_ *app.Host, url string) {
				key := cfg.Demo.APIKey
				played.Go(func() {
					if err := d.play(ctx, url, key); err != nil && ctx.Err() == nil {
						fmt.Fprintf(e.stderr, "The example plant stands still: %v\n", err)
					}
				})
				curl := `curl -H "X-API-KEY: ` + key + `" ` + url + "/account" // double quotes work in every shell
				out := map[string]string{"url": url, "apiKey": key, "curl": curl}
				_ = e.print(out, func(w io.Writer) { // a closed standard output must not end the demo
					fmt.Fprintf(w, "The example plant is running.\n\nURL      %s\nAPI key  %s\n\nOpen the URL in a browser on this machine, or try:\n\n  %s\n\nStop it with Ctrl-C; everything it holds is then removed.\n", url, key, curl)
				})
			})
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8080", "address and port, on loopback")
	return cmd
}

// demoUser is the administrator of the example plant.
const demoUser = "it@demo.example"

// withPort replaces port 0 by a free one, because the demo's pages show their own address.
func withPort(listen string) (string, error) {
	if _, port, err := net.SplitHostPort(listen); err != nil || port != "0" {
		return listen, nil // errors are reported by the check of the configuration
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// makeDemo creates the demo's store and returns its content for the sign-in page.
func makeDemo(cfg config.Settings) (*config.Demo, error) {
	a, err := app.Open(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	c := inProcess(a, "")
	var made struct {
		AccountID string `json:"accountId"`
		APIKey    string `json:"apiKey"`
	}
	body := append([]byte(`{"domain":"demo.example","email":`+strconv.Quote(demoUser)+`,"manifest":`), demo.Manifest()...)
	if err := c.callRaw(http.MethodPost, "/local/init", nil, append(body, '}'), &made); err != nil {
		return nil, errors.Join(err, c.close())
	}
	var account struct {
		Manifest struct {
			Account struct {
				SKUs   []any `json:"skus"`
				Plants []struct {
					Name   string `json:"name"`
					Groups []struct {
						Stations []any `json:"stations"`
					} `json:"stationGroups"`
				} `json:"plants"`
			} `json:"account"`
		} `json:"manifest"`
	}
	if err := c.call(http.MethodGet, "/account", nil, nil, &account); err != nil {
		return nil, errors.Join(err, c.close())
	}
	info := &config.Demo{Account: made.AccountID, Email: demoUser, APIKey: made.APIKey, BaseURL: "http://" + cfg.Listen, SKUs: len(account.Manifest.Account.SKUs)}
	for _, plant := range account.Manifest.Account.Plants {
		info.Plants = append(info.Plants, plant.Name)
		info.Groups += len(plant.Groups)
		for _, group := range plant.Groups {
			info.Stations += len(group.Stations)
		}
	}
	return info, c.close()
}

// Parameters of the demo's simulated plant.
const (
	demoHistory  = 3 * 24 * time.Hour // simulated as fast as possible, before real time begins
	demoInterval = 20 * time.Second   // interval of a station's state signals
	// simulated time of one request; shorter than the time after which silence is detected
	demoStep = 100 * time.Second
	demoRate = 1_000_000 // limit of signals per second
	demoSeed = 3
)

// demoPlant simulates the example plant for the demo's own service. Until the simulation reaches the present, the
// service's clock shows the simulated time, so that all signals arrive on time.
type demoPlant struct {
	past atomic.Int64 // shown by the clock, Unix ms; 0: the real time
}

func newDemoPlant(now time.Time) *demoPlant {
	d := new(demoPlant)
	d.past.Store(now.Add(-demoHistory).UnixMilli())
	return d
}

// clock returns the service's time.
func (d *demoPlant) clock() time.Time {
	if past := d.past.Load(); past != 0 {
		return time.UnixMilli(past)
	}
	return time.Now()
}

// reach advances the clock.
func (d *demoPlant) reach(at int64) {
	if now := time.Now().UnixMilli(); d.past.Load() != 0 {
		if at > now-2*time.Second.Milliseconds() {
			at = 0
		}
		d.past.Store(at)
	}
}

// play runs the simulation until ctx ends.
func (d *demoPlant) play(ctx context.Context, url, key string) error {
	plant, err := simulate.ReadPlant(demo.Manifest())
	if err != nil {
		return err
	}
	h := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	defer h.CloseIdleConnections()
	player := simulate.NewPlayer(simulate.PlayConfig{
		Generator: simulate.New(plant, simulate.Config{Seed: demoSeed, Interval: demoInterval.Milliseconds(), TrueClocks: true}),
		Send:      sender(h, url, "X-API-KEY", key), From: d.past.Load(), Batch: 5000, Patience: time.Minute,
		Step: demoStep.Milliseconds(), Clock: d.reach,
	})
	return player.Play(ctx)
}

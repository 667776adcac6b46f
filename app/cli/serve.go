package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/demo"
	"opsmon/app/service"
	"opsmon/app/web"
	"opsmon/kv"
)

func (e *env) serve() *cobra.Command {
	var flags app.Config
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the service in the foreground", Args: cobra.NoArgs,
		Example: `  app serve
  app serve --listen :8443 --tls auto --clear-listen :8080
  app serve --listen :8443 --tls plant.crt,plant.key`,
		RunE: managed(func() string { return e.dataDir }, func(ctx context.Context, cmd *cobra.Command) error {
			cfg, err := app.ReadConfig(e.dataDir, e.getenv)
			if err != nil {
				return err
			}
			cfg.Assets = flags.Assets
			for name, flag := range map[string]string{"listen": "listen", "tls": "tls", "clearListen": "clear-listen", "insecureHttp": "insecure-http",
				"mqtt.listen": "mqtt-listen", "mqtt.insecure.listen": "mqtt-insecure-listen", "mqtt.insecure.networks": "mqtt-insecure-networks"} {
				if f := cmd.Flags().Lookup(flag); f.Changed {
					if err := cfg.Set(name, f.Value.String(), "--"+flag); err != nil {
						return err
					}
				}
			}
			if err := checkConfig(cmd, cfg); err != nil {
				return err
			}
			return e.run(ctx, cfg, func(h *app.Host, url string) {
				code := h.SetupCode()
				if service.Managed() {
					code = "" // what is printed is kept in the system's log; app status shows the code
				}
				out := map[string]string{"url": url}
				if code != "" {
					out["setupCode"] = code
				}
				_ = e.print(out, func(w io.Writer) { // a closed standard output must not end the service
					fmt.Fprintf(w, "Serving on %s\n", url)
					if code != "" {
						fmt.Fprintf(w, "This appliance is not set up yet. Set it up with: app init --domain DOMAIN --email EMAIL%s\nor over the network with the one-time code %s\n", e.dirFlag(), code)
					}
				})
			})
		}),
	}
	f := cmd.Flags()
	fallback := app.DefaultConfig()
	f.StringVar(&flags.Listen, "listen", fallback.Listen, "address and port; also APP_LISTEN")
	f.StringVar(&flags.TLS, "tls", fallback.TLS, "off; auto, with certificates of its own; or CERT,KEY: the files of a certificate and its key; also APP_TLS")
	f.StringVar(&flags.ClearListen, "clear-listen", "", "address and port without TLS, for the trust page and redirects alone; also APP_CLEAR_LISTEN")
	f.BoolVar(&flags.InsecureHTTP, "insecure-http", false, "listen beyond loopback without TLS; also APP_INSECURE_HTTP")
	f.StringVar(&flags.MQTT.Listen, "mqtt-listen", "", "address and port for MQTT over TLS; also APP_MQTT_LISTEN")
	f.StringVar(&flags.MQTT.Insecure.Listen, "mqtt-insecure-listen", "", "address and port for MQTT in the clear; also APP_MQTT_INSECURE_LISTEN")
	f.StringVar(&flags.MQTT.Insecure.Networks, "mqtt-insecure-networks", "", "`networks` that may use it, with commas between; also APP_MQTT_INSECURE_NETWORKS")
	f.StringVar(&flags.Assets, "assets", "", "serve pages from this `directory`, for development")
	_ = f.MarkHidden("assets") // it is there
	return cmd
}

// managed makes a command one that the service manager can run: it is answered before anything is opened, and told of
// failures that another start would not mend. dir gives the data directory.
func managed(dir func() string, run func(ctx context.Context, cmd *cobra.Command) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		return service.Run(cmd.Context(), func(ctx context.Context) error {
			err := run(ctx, cmd)
			if service.Managed() && errors.Is(err, fs.ErrPermission) {
				err = fmt.Errorf("%w; give the files back to the service: %s", err, service.GiveBack(dir()))
			}
			if stays(err) {
				return &service.PermanentError{Err: err}
			}
			return err
		})
	}
}

// stays tells whether a failure needs a person: a wrong setting, or a store that is too new for this program. A port
// in use, a lock or a file that is not there yet may mend itself.
func stays(err error) bool {
	var network *net.OpError
	var file *fs.PathError
	if errors.As(err, &network) || errors.As(err, &file) {
		return false
	}
	var setting *app.SettingError
	return errors.As(err, &setting) || errors.Is(err, kv.ErrNewer)
}

// checkConfig finds what is wrong with a configuration. A wrong flag is wrong usage.
func checkConfig(cmd *cobra.Command, cfg app.Config) error {
	err := cfg.Check()
	if setting := (*app.SettingError)(nil); errors.As(err, &setting) && strings.HasPrefix(setting.Origin, "--") {
		return &usageError{cmd.CommandPath(), err}
	}
	return err
}

// untilSignal ends when ctx does or the process is told to stop: by Ctrl-C, the system, or a terminal that closes. A
// second signal ends the process at once.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// run runs a service until ctx ends or the process is told to stop.
func (e *env) run(ctx context.Context, cfg app.Config, started func(h *app.Host, url string)) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	level, err := cfg.Level()
	if err != nil {
		return err
	}
	log := slog.New(service.NewHandler(e.stderr, level))
	h, err := app.NewHost(cfg, log)
	if err != nil {
		return err
	}
	var kept sync.WaitGroup
	defer kept.Wait()
	defer stop()
	return h.Run(ctx, func(url string) {
		started(h, url)
		kept.Go(func() {
			service.Keep(ctx, service.KeepConfig{DataDir: cfg.DataDir, URL: url, Probe: h.Probe, Log: log})
		})
	})
}

func (e *env) demo() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "demo", Short: "Serve an example plant from a temporary store", Args: cobra.NoArgs,
		Example: "  app demo\n  app demo --listen 127.0.0.1:9000",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg := app.DefaultConfig()
			cfg.LogLevel, cfg.Backup.Every = "warn", 0
			if err := cfg.Set("listen", listen, "--listen"); err != nil {
				return err
			}
			if cfg.Check() != nil {
				return &usageError{cmd.CommandPath(), fmt.Errorf("the demo is for this machine alone: --listen must be an address such as 127.0.0.1:9000; it is %q", listen)}
			}
			if cfg.Listen, err = withPort(listen); err != nil {
				return err
			}
			ctx, stop := untilSignal(cmd.Context()) // from here on there is something to remove
			defer stop()
			if cfg.DataDir, err = os.MkdirTemp("", "app-demo-"); err != nil {
				return fmt.Errorf("make a temporary directory: %w", err)
			}
			defer func() { err = errors.Join(err, os.RemoveAll(cfg.DataDir)) }()
			if cfg.Demo, err = makeDemo(cfg); err != nil {
				return err
			}
			return e.run(ctx, cfg, func(_ *app.Host, url string) {
				key := cfg.Demo.APIKey
				curl := `curl -H "X-API-KEY: ` + key + `" ` + url + "/account" // double quotes work in every shell
				out := map[string]string{"url": url, "apiKey": key, "curl": curl}
				_ = e.print(out, func(w io.Writer) { // a closed standard output must not end the demo
					fmt.Fprintf(w, "The example plant is running.\n\nURL      %s\nAPI key  %s\n\nTry:\n\n  %s\n\nStop it with Ctrl-C; everything it holds is then removed.\n", url, key, curl)
				})
			})
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8080", "address and port, on loopback")
	return cmd
}

// demoUser is the administrator of the example plant.
const demoUser = "it@demo.example"

// withPort turns port 0 into one that is free, since the pages of the demonstration tell their own address.
func withPort(listen string) (string, error) {
	if _, port, err := net.SplitHostPort(listen); err != nil || port != "0" {
		return listen, nil // what is wrong with it is told by the check of the configuration
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// makeDemo makes the store of the demonstration and tells what is in it.
func makeDemo(cfg app.Config) (*web.DemoInfo, error) {
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
	info := &web.DemoInfo{Account: made.AccountID, APIKey: made.APIKey, BaseURL: "http://" + cfg.Listen, SKUs: len(account.Manifest.Account.SKUs)}
	for _, plant := range account.Manifest.Account.Plants {
		info.Plants = append(info.Plants, plant.Name)
		info.Groups += len(plant.Groups)
		for _, group := range plant.Groups {
			info.Stations += len(group.Stations)
		}
	}
	return info, c.close()
}

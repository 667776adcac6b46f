package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/host/config"
	"opsmon/app/host/service"
	"opsmon/kv"
)

func (e *env) serve() *cobra.Command {
	var flags config.Settings
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the service in the foreground", Args: cobra.NoArgs,
		Example: `  app serve
  app serve --listen :8443 --tls auto --clear-listen :8080
  app serve --listen :8443 --tls plant.crt,plant.key`,
		RunE: managed(func() string { return e.dataDir }, func(ctx context.Context, cmd *cobra.Command) error {
			if o := ownerOf(e.dataDir); o != nil {
				return fmt.Errorf("root does not serve from %s, which belongs to the user %s: that user could lead it to any file; "+
					"run it as that user (runuser -u %s -- app serve%s), or give the directory to root", e.dataDir, o.name(), o.name(), e.dirFlag())
			}
			cfg, err := e.readConfig()
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
					code = "" // the output goes to the system's log; app status shows the code
				}
				out := map[string]string{"url": url}
				if code != "" {
					out["setupCode"] = code
				}
				_ = e.print(out, func(w io.Writer) { // a closed standard output must not end the service
					fmt.Fprintf(w, "Serving on %s\n", url)
					if code != "" {
						fmt.Fprintf(w, "This appliance is not set up yet. In a browser, open %s/welcome and type the one-time code %s\nor set it up here: app init --domain DOMAIN --email EMAIL%s\n", url, code, e.dirFlag())
					}
				})
			})
		}),
	}
	f := cmd.Flags()
	fallback := config.Defaults()
	f.StringVar(&flags.Listen, "listen", fallback.Listen, "address and port; also APP_LISTEN")
	f.StringVar(&flags.TLS, "tls", fallback.TLS, "off; auto: certificates of its own authority; or CERT,KEY: files of a certificate and its key; also APP_TLS")
	f.StringVar(&flags.ClearListen, "clear-listen", "", "address and port without TLS, only for the trust page and redirects; also APP_CLEAR_LISTEN")
	f.BoolVar(&flags.InsecureHTTP, "insecure-http", false, "listen beyond loopback without TLS; also APP_INSECURE_HTTP")
	f.StringVar(&flags.MQTT.Listen, "mqtt-listen", "", "address and port for MQTT over TLS; also APP_MQTT_LISTEN")
	f.StringVar(&flags.MQTT.Insecure.Listen, "mqtt-insecure-listen", "", "address and port for MQTT without TLS; also APP_MQTT_INSECURE_LISTEN")
	f.StringVar(&flags.MQTT.Insecure.Networks, "mqtt-insecure-networks", "", "`networks` that may use MQTT without TLS, separated by commas; also APP_MQTT_INSECURE_NETWORKS")
	f.StringVar(&flags.Assets, "assets", "", "serve pages from this `directory`, for development")
	_ = f.MarkHidden("assets") // cannot fail: the flag exists
	return cmd
}

// managed makes a command usable by the service manager: it responds before anything is opened, and reports errors that
// another start would not fix. dir returns the data directory.
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

// stays reports whether an error needs a person: a wrong setting, or a store that is too new for this program. A used
// port, a lock or a missing file may resolve itself.
func stays(err error) bool {
	var network *net.OpError
	var file *fs.PathError
	if errors.As(err, &network) || errors.As(err, &file) {
		return false
	}
	var setting *config.Error
	return errors.As(err, &setting) || errors.Is(err, kv.ErrNewer)
}

// checkConfig validates a configuration. A wrong flag is a usage error.
func checkConfig(cmd *cobra.Command, cfg config.Settings) error {
	err := cfg.Check()
	if setting := (*config.Error)(nil); errors.As(err, &setting) && strings.HasPrefix(setting.Origin, "--") {
		return &usageError{cmd.CommandPath(), err}
	}
	return err
}

// untilSignal returns a context that ends with ctx or when the process is asked to stop: by Ctrl-C, by the system, or
// by a closed terminal. A second signal ends the process immediately.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// untilStopped is untilSignal for a service, which ignores a hangup unless its terminal has closed, because
// administrators send it to make services reload files.
func untilStopped(ctx context.Context, log *slog.Logger) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	if signal.Ignored(syscall.SIGHUP) { // nohup
		return ctx, stop
	}
	hangups, atTerminal := make(chan os.Signal, 1), hasTerminal()
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangups)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
			}
			if atTerminal && !hasTerminal() {
				stop()
				return
			}
			log.Info("a hangup signal changes nothing: files of certificates are read whenever they change, and settings at the next start")
		}
	}()
	return ctx, stop
}

// run runs a service until ctx ends or the process gets a signal to stop.
func (e *env) run(ctx context.Context, cfg config.Settings, started func(h *app.Host, url string)) error {
	level, err := cfg.Level()
	if err != nil {
		return err
	}
	log := slog.New(service.NewHandler(e.stderr, level))
	ctx, stop := untilStopped(ctx, log)
	defer stop()
	context.AfterFunc(ctx, stop)
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
			service.Keep(ctx, service.KeepConfig{DataDir: cfg.DataDir, URL: url, Probe: h.Probe, Log: h.Log()})
		})
	})
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app/instant"
	"opsmon/app/simulate"
)

// play has the flags of app simulate.
type play struct {
	remote
	speed    float64
	from     string
	duration time.Duration
	seed     uint64
	stations []string
	interval time.Duration
	machines bool
}

// mostPlayed is the default duration of a simulation that is faster than real time.
const mostPlayed = 24 * time.Hour

func (e *env) simulate() *cobra.Command {
	var p play
	cmd := &cobra.Command{
		Use: "simulate", Short: "Simulate the plant of a running service: machines, people and problems", Args: cobra.NoArgs,
		Long: `Simulates the stations of the account's manifest through the API of a running service: machines send signals and fail now
and then; people start and end schedules, set causes of stops and complete Tasks. Equal seeds simulate the same plant.

With a --speed above 1 the times lie in the past, and the simulation ends now. The data is real to the service and stays:
use an account made for this.`,
		Example: `  app simulate
  app simulate --speed 1000 --duration 20h
  app simulate --url https://app.local:8443 --key-file key.txt --stations PACK-1,PACK-2
  app simulate --from 2026-11-20T06:00:00Z --speed 600 --seed 7`,
		RunE: func(cmd *cobra.Command, _ []string) error { return e.play(cmd, &p) },
	}
	p.remote.flags(cmd)
	f := cmd.Flags()
	f.Float64Var(&p.speed, "speed", 1, "speed relative to the clock, 1 to 10000")
	f.StringVar(&p.from, "from", "", "`time` at which to begin, such as 2026-11-20T06:00:00Z; default: now, or far enough back to end now")
	f.DurationVar(&p.duration, "duration", 0, "length of the simulated time; default: unlimited at speed 1, else 24h")
	f.Uint64Var(&p.seed, "seed", 1, "which of all possible plants is played")
	f.StringSliceVar(&p.stations, "stations", nil, "`codes` of the stations to simulate; default: all")
	f.DurationVar(&p.interval, "interval", 10*time.Second, "interval of a station's status signals, 1s to 1m")
	f.BoolVar(&p.machines, "machines", false, "simulate machines only, no people")
	return cmd
}

// check returns the start and the end, ms; an end of 0 means none.
func (p *play) check(cmd *cobra.Command, now time.Time) (from, until int64, err error) {
	wrong := func(format string, args ...any) (int64, int64, error) {
		return 0, 0, &usageError{cmd.CommandPath(), fmt.Errorf(format, args...)}
	}
	switch {
	case !(p.speed >= 1 && p.speed <= 10_000):
		return wrong("--speed must be 1 to 10000; it is %v", p.speed)
	case p.duration < 0 || p.duration > 400*24*time.Hour:
		return wrong("--duration must be between 0 and 400 days (9600h); it is %v", p.duration)
	case p.interval < time.Second || p.interval > time.Minute:
		return wrong("--interval must be 1s to 1m; it is %v", p.interval)
	}
	if p.from != "" {
		start, err := time.Parse(time.RFC3339, p.from)
		if err != nil {
			return wrong("--from must be a time such as 2026-11-20T06:00:00Z; it is %q", p.from)
		}
		if from = start.UnixMilli(); start.After(now) || now.Sub(start) > 400*24*time.Hour {
			return wrong("--from must lie in the last 400 days; it is %s", p.from)
		}
	} else {
		from = now.UnixMilli()
		if p.speed > 1 {
			if p.duration == 0 {
				p.duration = mostPlayed
			}
			from += int64(float64(p.duration.Milliseconds()) * (1/p.speed - 1))
		}
	}
	if p.duration > 0 {
		until = from + p.duration.Milliseconds()
	}
	return from, until, nil
}

func (e *env) play(cmd *cobra.Command, p *play) error {
	from, until, err := p.check(cmd, time.Now())
	if err != nil {
		return err
	}
	send, err := p.open(e, cmd)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	manifest, err := simulate.Fetch(ctx, send, simulate.Request{Method: http.MethodGet, Path: "/account/manifest"})
	if err != nil {
		return fmt.Errorf("read the manifest: %w", err)
	}
	plant, err := simulate.ReadPlant(manifest)
	if err != nil {
		return err
	}
	generator := simulate.New(plant, simulate.Config{Seed: p.seed, Interval: p.interval.Milliseconds(), IDs: true})
	if _, err := generator.Events(p.stations, from, from); err != nil {
		return &usageError{cmd.CommandPath(), fmt.Errorf("--stations: %w", err)}
	}
	player := simulate.NewPlayer(simulate.PlayConfig{
		Generator: generator, Send: send, Stations: p.stations, From: from, Until: until, Speed: p.speed,
		Only:     func(e *simulate.Event) bool { return e.Act == nil || !p.machines },
		Patience: 2 * time.Minute,
		Report:   func(now simulate.Progress) { fmt.Fprintln(e.stderr, progressLine(now)) },
		Trouble:  func(why string) { fmt.Fprintln(e.stderr, why) },
	})
	fmt.Fprintf(e.stderr, "Playing %s from %s at speed %v, seed %d. Stop it with Ctrl-C.\n", plant.Account, instant.FormatMs(from), p.speed, p.seed)
	if err = player.Play(ctx); errors.Is(err, context.Canceled) {
		err = nil // stopped by a signal
	}
	done := player.Progress()
	out := struct {
		From     string `json:"from"`
		To       string `json:"to"`
		Signals  int    `json:"signals"`
		Acts     int    `json:"acts"`
		Refused  int    `json:"refused"`
		BehindMs int64  `json:"behindMs"`
	}{instant.FormatMs(from), instant.FormatMs(done.At), done.Signals, done.Acts, done.Refused, done.Behind}
	return errors.Join(err, e.print(out, func(w io.Writer) { fmt.Fprintf(w, "Played %s\n", progressLine(done)) }))
}

// progressLine formats a player's progress.
func progressLine(p simulate.Progress) string {
	line := fmt.Sprintf("until %s: %d signals, %d acts of people", instant.FormatMs(p.At)[:19]+"Z", p.Signals, p.Acts)
	if p.Refused > 0 {
		line += fmt.Sprintf(", %d refused", p.Refused)
	}
	if behind := time.Duration(p.Behind) * time.Millisecond; behind > 10*time.Second {
		line += fmt.Sprintf(", %v behind", behind.Round(time.Second))
	}
	return line
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app/simulate"
)

// problem is a line of a log that was refused.
type problem struct {
	Line  int    `json:"line"`
	Issue string `json:"issue"`
}

// mostProblems is the number of listed problems; all are counted.
const mostProblems = 1000

func (e *env) replay() *cobra.Command {
	var to remote
	var format string
	cfg := simulate.ReplayConfig{Patience: 2 * time.Minute}
	cmd := &cobra.Command{
		Use: "replay FILE", Short: "Replay a log of signals to a running service", Args: one("file; - is standard input"),
		Long: `Replays a log of signals to a running service. The log is NDJSON, one object a line as for POST /signal, or CSV with the
property names in the first line. A line that the service rejects is reported with its number and does not stop the rest;
the exit status is then 1.`,
		Example: `  app replay signals.ndjson
  app replay line-3.csv --shift-to-now --speed 60
  app replay - --format csv --url https://app.local:8443 --key-file key.txt`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			switch {
			case !(cfg.Speed >= 0 && cfg.Speed <= 1e6):
				return &usageError{cmd.CommandPath(), fmt.Errorf("--speed must be 0 to 1000000; it is %v", cfg.Speed)}
			case cfg.Batch < 1 || cfg.Batch > 10_000:
				return &usageError{cmd.CommandPath(), fmt.Errorf("--batch must be 1 to 10000; it is %d", cfg.Batch)}
			}
			switch {
			case format == "csv" || format == "" && strings.HasSuffix(strings.ToLower(args[0]), ".csv"):
				cfg.Format = simulate.CSV
			case format != "" && format != "ndjson":
				return &usageError{cmd.CommandPath(), fmt.Errorf("--format must be ndjson or csv; it is %q", format)}
			}
			if cfg.Send, err = to.open(e, cmd); err != nil {
				return err
			}
			log, err := e.log(args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, log.close()) }()
			cfg.Log = log
			return e.feed(cmd, cfg)
		},
	}
	to.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&format, "format", "", "ndjson or csv; default: from the file's name, else ndjson")
	f.BoolVar(&cfg.ShiftNow, "shift-to-now", false, "shift all times so that the last signal is sent with the present time")
	f.Float64Var(&cfg.Speed, "speed", 0, "speed relative to the log's times; 0: as fast as the service accepts signals")
	f.IntVar(&cfg.Batch, "batch", 1000, "maximum number of signals in a request, 1 to 10000")
	return cmd
}

// feed sends the log and returns the result.
func (e *env) feed(cmd *cobra.Command, cfg simulate.ReplayConfig) error {
	problems := []problem{}
	cfg.Refused = func(line int, issue string) {
		if len(problems) < mostProblems {
			problems = append(problems, problem{line, issue})
		}
		fmt.Fprintf(e.stderr, "line %d: %s\n", line, issue)
	}
	cfg.Waiting = func(why string) { fmt.Fprintf(e.stderr, "waiting: %s\n", why) }
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	done, err := simulate.Replay(ctx, cfg)
	out := struct {
		simulate.Replayed
		Problems []problem `json:"problems"`
	}{done, problems}
	err = errors.Join(err, e.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "%d of %d signals taken", done.Accepted, done.Signals)
		if done.Noted > 0 {
			fmt.Fprintf(w, ", %d of them with a remark, such as that the id came before", done.Noted)
		}
		fmt.Fprintln(w, ".")
	}))
	if err == nil && done.Refused > 0 {
		return fmt.Errorf("%d lines were not taken; they are named above", done.Refused)
	}
	return err
}

// logFile is a log that can be read twice.
type logFile struct {
	*os.File
	close func() error
}

// log opens a log. Standard input is first copied to a temporary file, because its times are read before it is sent.
func (e *env) log(name string) (*logFile, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		return &logFile{f, f.Close}, nil
	}
	f, err := os.CreateTemp("", "app-replay-")
	if err != nil {
		return nil, fmt.Errorf("keep standard input: %w", err)
	}
	log := &logFile{f, func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }}
	if _, err := io.Copy(f, e.stdin); err != nil {
		return nil, errors.Join(fmt.Errorf("keep standard input: %w", err), log.close())
	}
	return log, nil
}

package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"opsmon/app/host/control"
	"opsmon/kv"
)

// probationText shortens the probation in tests, whose builds set it with -ldflags "-X opsmon/app/host/upgrade.probationText=2s".
var probationText string

// Probation returns how long a new version is watched after it was ready: a minute.
func Probation() time.Duration {
	if d, err := time.ParseDuration(probationText); err == nil {
		return d
	}
	return time.Minute
}

// The names of what a store holds that probation treats in their own ways.
const (
	Accounts  = "accounts"
	Revisions = "revisions"
	Signals   = "days of signals" // counted in parts, which are joined: their number falls while nothing is lost
	History   = "days of history" // a version with another format of these computes them again
)

// ErrLost says that a store holds less than before the upgrade.
var ErrLost = errors.New("the store has lost something")

// missing returns what a store lacks compared with before. Accounts and revisions are never removed, and signals never
// all at once; of everything else a tenth may go, by retention or by people. An unknown number is no loss. Error:
// ErrLost.
func missing(before, now map[string]int) error {
	if now == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		had, has := before[name], now[name]
		least := had * 9 / 10
		switch name {
		case Accounts, Revisions:
			least = had
		case Signals:
			least = 1
		}
		if has >= had || has >= max(least, 1) {
			continue
		}
		return fmt.Errorf("%w: it holds %d %s, and held %d before the upgrade", ErrLost, has, name, had)
	}
	return nil
}

// seen is the state that a service reports.
type seen struct {
	PID    int    `json:"pid"`
	Ready  bool   `json:"ready"`
	Reason string `json:"reason"` // why not
	holds  map[string]int
}

// lookAt asks the service for its state and the content of its store; nil if its version cannot report that. With an
// error it still returns what is known.
func (cfg *Config) lookAt(ctx context.Context) (s seen, err error) {
	client, err := control.Client(cfg.DataDir)
	if err != nil {
		return s, err
	}
	defer client.CloseIdleConnections()
	client.Timeout = cfg.answerTime
	if err := get(ctx, client, "/local/status", &s); err != nil || !s.Ready {
		return s, err
	}
	var contents struct {
		Holds map[string]int `json:"holds"`
	}
	if err = get(ctx, client, "/local/contents", &contents); errors.Is(err, errNoSuch) {
		err = nil
	}
	s.holds = contents.Holds
	return s, err
}

// errNoSuch means that a version does not know a request.
var errNoSuch = errors.New("this version does not know it")

func get(ctx context.Context, client *http.Client, path string, result any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://app"+path, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("it does not answer: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("its answer broke off: %w", err)
	}
	if resp.StatusCode == http.StatusNotFound {
		return fmt.Errorf("%s: %w", path, errNoSuch)
	}
	envelope := struct {
		Result any `json:"result"`
	}{result}
	if err := json.Unmarshal(body, &envelope); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is answered with %s", path, resp.Status)
	}
	return nil
}

// The limits of a probation, besides its own length.
const (
	answerTime = 5 * time.Second  // for one answer
	hangTime   = 20 * time.Second // answers may be late for so long: a busy disk or machine delays some
	downTime   = 3 * time.Second  // for which the service may say that it is not ready, or refuse connections
)

// watch observes a new version that is ready: it must stay ready, in one process, and its store must hold what it held.
func (cfg *Config) watch(ctx context.Context, before map[string]int) error {
	grace, end := min(downTime, cfg.probation/4), time.Now().Add(cfg.probation)
	tick := time.NewTicker(min(time.Second, cfg.probation/10))
	defer tick.Stop()
	pid, well := 0, time.Now() // the last good answer
	var down time.Time         // since when it is known not to serve; zero when it is not
	for {
		s, err := cfg.lookAt(ctx)
		if s.PID != 0 && pid != 0 && s.PID != pid {
			return errors.New("it ended, and was started again")
		}
		if err == nil && !s.Ready {
			err = errors.New(s.Reason)
		}
		switch late := (net.Error)(nil); {
		case err == nil:
			pid, well, down = s.PID, time.Now(), time.Time{}
			if err := missing(before, s.holds); err != nil {
				return err
			}
		case errors.As(err, &late) && late.Timeout():
			// It may be slow; it may also hang.
		case down.IsZero():
			down = time.Now()
		}
		switch {
		case err != nil && (time.Since(well) > cfg.hangTime || !down.IsZero() && time.Since(down) > grace):
			return fmt.Errorf("it was ready and is not any more: %w", err)
		case err == nil && time.Now().After(end):
			return nil
		}
		<-tick.C
	}
}

// spare keeps the current store in a rollback if the old program can read it, it is intact, and nothing is missing;
// then data written since the upgrade stays. Nobody may have the store open.
func (cfg *Config) spare(j *journal) {
	if !j.Kept || !j.Spare || j.Before == nil || cfg.Holds == nil {
		return
	}
	c, err := kv.CheckFile(filepath.Join(cfg.DataDir, storeName))
	if err == nil && c.Version == j.FromStore && missing(j.Before, cfg.Holds(c.Counts)) == nil {
		j.Kept = false
	}
}

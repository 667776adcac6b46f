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

// missing returns what a store lacks of what it held before. No account and no revision is ever removed, signals never all at once;
// of the rest a tenth may go, by retention or by people. An unknown number is no loss. Error: ErrLost.
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

// seen is what a service tells of itself.
type seen struct {
	PID    int    `json:"pid"`
	Ready  bool   `json:"ready"`
	Reason string `json:"reason"` // why not
	holds  map[string]int
}

// lookAt asks the service how it is, and what its store holds; nil where the version cannot say that. With an error, what is
// known is returned all the same.
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

// errNoSuch says that a version does not know what it is asked.
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
	hangTime   = 20 * time.Second // for which none may come in time: a busy disk or machine holds some of them up
	downTime   = 3 * time.Second  // for which the service may say that it is not ready, or refuse connections
)

// watch keeps an eye on a new version that is ready: it must stay ready, in one process, and its store must hold what it did.
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

// spare leaves the store as it is in a rollback when the old program can read it, all of it is whole, and nothing is missing: then
// what was written since the upgrade stays, too. Nobody may have the store open.
func (cfg *Config) spare(j *journal) {
	if !j.Kept || !j.Spare || j.Before == nil || cfg.Holds == nil {
		return
	}
	c, err := kv.CheckFile(filepath.Join(cfg.DataDir, storeName))
	if err == nil && c.Version == j.FromStore && missing(j.Before, cfg.Holds(c.Counts)) == nil {
		j.Kept = false
	}
}

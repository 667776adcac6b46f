package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/errdefs"
	"opsmon/kv"
)

func (e *env) check() *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Check the integrity of the store and the manifests", Args: cobra.NoArgs,
		Long: `Reads the whole store: its pages, every record and its checksum, and every manifest, and checks that references between
records are consistent. A damaged store is read as far as possible. The exit status is 1 if there is a problem.`,
		RunE: func(*cobra.Command, []string) error {
			start := time.Now()
			problems, err := e.problems()
			if err != nil {
				return err
			}
			err = e.print(map[string]any{"ok": len(problems) == 0, "problems": problems}, func(w io.Writer) {
				for _, p := range problems {
					fmt.Fprintln(w, p)
				}
				if len(problems) == 0 {
					fmt.Fprintf(w, "The store and its manifests are whole (checked in %s).\n", time.Since(start).Round(time.Millisecond))
				}
			})
			if err == nil && len(problems) > 0 {
				fmt.Fprintf(e.stderr, "app: the store is damaged: it has %s; keep a copy of the file and restore the newest backup\n", count(len(problems), "problem", "problems"))
				return errReported
			}
			return err
		},
	}
}

// problems requests the check from the service, or runs it if the store cannot be opened.
func (e *env) problems() ([]string, error) {
	out := struct {
		Problems []string `json:"problems"`
	}{[]string{}}
	err := e.with(false, func(c *client) error { return c.call(http.MethodGet, "/local/check", nil, nil, &out) })
	if err == nil || !errors.Is(err, kv.ErrDamaged) && errdefs.KindOf(err) != errdefs.Unavailable {
		return out.Problems, err
	}
	if o := ownerOf(e.dataDir); o != nil {
		return o.problems(e.dataDir)
	}
	// A running service without an open store has found it damaged.
	unlock, locked := kv.LockFile(filepath.Join(e.dataDir, app.StoreFile), 0)
	if locked != nil {
		return nil, err
	}
	if err := unlock(); err != nil {
		return nil, err
	}
	why := err
	err = app.CheckDamaged(e.dataDir, why, func(p string) { out.Problems = append(out.Problems, p) })
	if err == nil && !errors.Is(why, kv.ErrDamaged) && slices.Equal(out.Problems, []string{why.Error()}) {
		return nil, why // the store is intact, and the service waits for something else: a full disk, the clock
	}
	return out.Problems, err
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/host/control"
)

func (e *env) compact() *cobra.Command {
	return &cobra.Command{
		Use: "compact", Short: "Return free space in the store's file to the disk", Args: cobra.NoArgs,
		Long: `Copies the store to a new file, compares the two, and replaces the file; the old one is kept until the new one is in use.
A running service answers 503 meanwhile, for about as long as copying the file takes. The disk needs space for both. This
is seldom necessary: later writes use the free space in the file, and "app status" shows how much there is.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, err := e.compactStore(cmd)
			if err != nil {
				return err
			}
			return e.print(out, func(w io.Writer) {
				if out.After == out.Before {
					fmt.Fprintf(w, "There is nothing to gain: the store takes %s.\n", size(out.Before))
					return
				}
				fmt.Fprintf(w, "The store took %s and takes %s now.\n", size(out.Before), size(out.After))
			})
		},
	}
}

// compacted is the service's result.
type compacted struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

func (e *env) compactStore(cmd *cobra.Command) (out compacted, err error) {
	h, err := control.Client(e.dataDir)
	if err == nil {
		defer h.CloseIdleConnections()
		c := client{http: h}
		return out, c.call(http.MethodPost, "/local/compact", nil, nil, &out)
	}
	if !errors.Is(err, control.ErrNotRunning) {
		return out, err
	}
	if o := ownerOf(e.dataDir); o != nil {
		c, err := e.asOwner(o, ownFiles)
		if err != nil {
			return out, err
		}
		err = c.call(http.MethodPost, "/local/compact", nil, nil, &out)
		return out, errors.Join(err, c.close())
	}
	cfg, err := e.storeConfig()
	if err != nil {
		return out, err
	}
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	done, err := app.Compact(ctx, cfg, slog.New(slog.DiscardHandler))
	return compacted(done), err
}

package cli

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"
)

func (e *env) clock() *cobra.Command {
	return group("clock", "Say that the machine's clock is right",
		&cobra.Command{
			Use: "accept", Short: "Let the service go on by the time that the machine's clock shows now", Args: cobra.NoArgs,
			Long: `A service waits, and records nothing, while the machine's clock shows a time of which all signals have been removed for
their age: the clock must be wrong, as after its battery has died. Set it right, and the service goes on by itself.

This command is for a clock that is right now and was far ahead before. The service goes on; what was counted for the time
after now is taken back, and what was removed too early is gone, unless you restore a backup of before.`,
			RunE: func(*cobra.Command, []string) error {
				if err := e.with(false, func(c *client) error {
					return c.call(http.MethodPost, "/local/clock/accept", nil, nil, nil)
				}); err != nil {
					return err
				}
				return e.print(struct{}{}, func(w io.Writer) { fmt.Fprintln(w, "The service goes on by the time that the clock shows.") })
			},
		})
}

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (e *env) clock() *cobra.Command {
	yes := false
	accept := &cobra.Command{
		Use: "accept", Short: "Accept the machine's clock after a jump", Args: cobra.NoArgs,
		Long: `The service pauses, and records nothing, while the machine's clock shows a time whose signals would all be past their
retention: the clock must be wrong, as after its battery has died. Correct the clock, and the service continues
automatically.

This command is for a clock that is right now and was far ahead before. The service continues; counts for times after now
are reverted. Data that was removed too early is gone, unless you restore an earlier backup.`,
		RunE: func(*cobra.Command, []string) error {
			now := time.Now()
			fmt.Fprintf(e.stderr, "The clock shows %s. What was counted for the time after that is taken back.\n", now.Format("Monday, 2 January 2006, 15:04 MST"))
			if !yes {
				if terminal(e.stdin) == nil {
					return errors.New("nothing was done: to go on by this clock without being asked, say --yes")
				}
				fmt.Fprint(e.stderr, "Is that the time? Type yes: ")
				if answer, err := bufio.NewReader(e.stdin).ReadString('\n'); strings.TrimSpace(answer) != "yes" || err != nil {
					return errNothingDone
				}
			}
			in := map[string]string{"now": now.Format(time.RFC3339)}
			if err := e.with(false, func(c *client) error {
				return c.call(http.MethodPost, "/local/clock/accept", nil, in, nil)
			}); err != nil {
				return err
			}
			return e.print(struct{}{}, func(w io.Writer) { fmt.Fprintln(w, "The service goes on by the time that the clock shows.") })
		},
	}
	accept.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return group("clock", "Say that the machine's clock is right", accept)
}

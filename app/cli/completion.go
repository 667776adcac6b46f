package cli

import (
	"net/http"
	"slices"

	"github.com/spf13/cobra"
)

// completions registers what the shell can complete: roles, and the ids of accounts.
func (e *env) completions(root *cobra.Command) {
	complete(root, "account", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var lines []accountLine
		// A shell that asks for completions has no room for errors: it gets none.
		_ = e.with(false, func(c *client) error { return c.call(http.MethodGet, "/local/account", nil, nil, &lines) })
		ids := make([]string, len(lines))
		for i, l := range lines {
			ids[i] = l.ID + "\t" + l.Domain
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	})
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		complete(cmd, "role", cobra.FixedCompletions(roles, cobra.ShellCompDirectiveNoFileComp))
		complete(cmd, "tls", cobra.FixedCompletions([]string{"auto", "off"}, cobra.ShellCompDirectiveDefault))
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// complete registers the completions of a command's flag, where it has such a flag.
func complete(cmd *cobra.Command, flag string, fn cobra.CompletionFunc) {
	if cmd.Flags().Lookup(flag) == nil && cmd.PersistentFlags().Lookup(flag) == nil {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, fn); err != nil {
		panic("cli: " + err.Error()) // only for a flag that is not there
	}
}

// completeRole completes the second argument of `user role`.
func completeRole(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Clone(roles), cobra.ShellCompDirectiveNoFileComp
}

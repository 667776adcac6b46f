package cli

import (
	"net/http"
	"slices"

	"github.com/spf13/cobra"
)

// completions registers the shell completions of roles and account IDs.
func (e *env) completions(root *cobra.Command) {
	complete(root, "account", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var lines []accountLine
		// Completion cannot show errors, so it returns nothing instead.
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

// complete registers the completions of a command's flag, if the command has it.
func complete(cmd *cobra.Command, flag string, fn cobra.CompletionFunc) {
	if cmd.Flags().Lookup(flag) == nil && cmd.PersistentFlags().Lookup(flag) == nil {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, fn); err != nil {
		panic("cli: " + err.Error()) // only for a missing flag
	}
}

// completeRole completes the second argument of `user role`.
func completeRole(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Clone(roles), cobra.ShellCompDirectiveNoFileComp
}

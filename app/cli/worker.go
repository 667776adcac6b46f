package cli

import (
	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/ingest/transform"
)

// transformWorker is the hidden command of the child process in which a service evaluates a mapping.
func transformWorker() *cobra.Command {
	return &cobra.Command{
		Use: app.WorkerCommand, Short: "Evaluate a mapping for the service", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return transform.Work(cmd.InOrStdin(), cmd.OutOrStdout()) },
	}
}

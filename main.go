// Command app is manufacturing operations monitoring for one plant.
package main

import (
	"os"

	"opsmon/app/cli"
)

func main() { os.Exit(cli.Main()) }

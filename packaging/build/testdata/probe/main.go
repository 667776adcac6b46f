// Command probe replaces app in an installer: it records its calls in C:\calls.txt, and fails if the file
// C:\fail-COMMAND exists.
package main

import (
	"fmt"
	"os"
	"strings"
)

var version string // set by the build

func main() {
	f, err := os.OpenFile(`C:\calls.txt`, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, version, strings.Join(os.Args[1:], " "))
	if err := f.Close(); err != nil {
		panic(err)
	}
	if _, err := os.Stat(`C:\fail-` + os.Args[1]); err == nil {
		os.Exit(1)
	}
}

//go:build failpoint

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
)

var passed atomic.Int64

// At kills the process without warning when it is the point that APP_FAILPOINT tells: by its number, counted from 1 as
// they are passed, or by its name. It says so on standard error.
func At(name string) {
	n, at := passed.Add(1), os.Getenv("APP_FAILPOINT")
	if number, err := strconv.ParseInt(at, 10, 64); at != name && (err != nil || number != n) {
		return
	}
	fmt.Fprintf(os.Stderr, "failpoint %d: %s\n", n, name)
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

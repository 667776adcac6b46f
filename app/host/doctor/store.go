package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"opsmon/kv"
)

// store checks whether the store can be opened by this version of the program. A running service has it open, and
// reports its problems. Only app check finds out whether all of it is intact.
func (e *exam) store(context.Context) []Finding {
	if e.Running {
		return e.opened()
	}
	path := filepath.Join(e.DataDir, "app.db")
	version, err := e.Machine.Store(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return well("there is none yet; it is made when the service starts")
	case errors.Is(err, kv.ErrLocked):
		return []Finding{wrong("another process has "+path+" open, and does not answer the command line",
			"wait a moment if the service is just starting or stopping; otherwise end that process")}
	case errors.Is(err, kv.ErrDamaged):
		return []Finding{wrong(fmt.Sprintf("%s cannot be used: %v", path, err),
			"keep a copy of the file, see what is wrong: "+e.Command+" check; and put the newest backup back: "+e.Command+" restore FILE")}
	case errors.Is(err, fs.ErrPermission):
		return well("not looked at: only the administrator may read it")
	case err != nil:
		return []Finding{wrong(fmt.Sprintf("%s cannot be opened: %v", path, err), "see that the disk works")}
	case version > e.StoreVersion:
		return []Finding{wrong(fmt.Sprintf("a newer program has worked with the store: it has version %d, and this one reads versions up to %d", version, e.StoreVersion),
			"install the newer program again, or go back with: "+e.Command+" rollback")}
	}
	return well(fmt.Sprintf("%s can be opened", path))
}

// opened returns the findings of a store that the running service has open.
func (e *exam) opened() []Finding {
	switch s := e.Subject.Store; {
	case s == nil:
		return well("not looked at: the service has not opened it")
	case s.Full:
		return []Finding{wrong("the last write to the store found the disk full: reads go on, and nothing is taken", "free some room on the disk of "+e.DataDir)}
	case e.Ready != nil:
		return well("not looked at: the service is not ready")
	default:
		return well(fmt.Sprintf("open in the service: %d MB, %d MB of them free for later writes", (s.Bytes+999_999)/1_000_000, s.Free/1_000_000))
	}
}

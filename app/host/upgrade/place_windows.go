package upgrade

import (
	"errors"
	"os"
	"path/filepath"

	"opsmon/kv/file"
)

// place puts a program in the place of another one, which gets the name keep. The other one may be running, as this
// process does: it can be renamed and not be replaced, so for a moment nothing has the name.
func place(program, name, keep string, step func(string)) error {
	if err := file.Remove(keep); err != nil {
		return err
	}
	if err := os.Rename(name, keep); err != nil {
		return err
	}
	step("kept " + filepath.Base(keep))
	if err := os.Rename(program, name); err != nil {
		return errors.Join(err, os.Rename(keep, name))
	}
	step("placed " + filepath.Base(name))
	return nil
}

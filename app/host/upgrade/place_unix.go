//go:build !windows

package upgrade

import (
	"os"
	"path/filepath"

	"opsmon/kv/file"
)

// place puts a program in the place of another one, which gets the name keep. The name always has a whole program.
func place(program, name, keep string, step func(string)) error {
	if err := file.Remove(keep); err != nil {
		return err
	}
	if err := os.Link(name, keep); err != nil {
		if err := copyFile(name, keep, maxProgram); err != nil { // some file systems have no links
			return err
		}
		if err := os.Chmod(keep, 0o755); err != nil {
			return err
		}
	}
	step("kept " + filepath.Base(keep))
	if err := os.Rename(program, name); err != nil {
		return err
	}
	step("placed " + filepath.Base(name))
	return file.SyncDir(filepath.Dir(name))
}

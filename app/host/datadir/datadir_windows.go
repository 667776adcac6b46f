package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Make makes the data directory when it is not there, for administrators, the system and its own user
// alone: what it would inherit below ProgramData lets every user of the machine read it. The rights of a directory
// that is there already are left as they are.
func Make(dir, _ string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("find own user: %w", err)
	}
	// Protected from what is inherited; full access, inherited by everything made in it.
	rights, err := windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + user.User.Sid.String() + ")")
	if err != nil {
		return fmt.Errorf("describe the directory's rights: %w", err)
	}
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return err
	}
	attributes := &windows.SecurityAttributes{SecurityDescriptor: rights}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	if err := windows.CreateDirectory(name, attributes); err != nil && !errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		return &os.PathError{Op: "mkdir", Path: dir, Err: err}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &os.PathError{Op: "mkdir", Path: dir, Err: windows.ERROR_DIRECTORY}
	}
	return nil
}

// HandOver is for Unix: on Windows the rights come from the directory.
func HandOver(string, string) error { return nil }

package doctor

import (
	"os"

	"golang.org/x/sys/windows"
)

// inspect describes one file or directory. Who owns it decides nothing on Windows.
func inspect(path string, secret bool) (File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return File{}, err
	}
	f := File{Path: path, Dir: info.IsDir(), Secret: secret, Modified: info.ModTime()}
	rights, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return File{}, err
	}
	f.Others = openToAll(rights.String())
	return f, nil
}

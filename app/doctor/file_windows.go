package doctor

import (
	"os"
	"regexp"

	"golang.org/x/sys/windows"
)

// everybody matches an entry that grants something to everybody, to all who are signed in, or to the machine's users
// ([MS-DTYP] section 2.5.1.1).
var everybody = regexp.MustCompile(`\(A;[^;]*;[^;]*;[^;]*;[^;]*;(WD|AU|BU|IU|AN|BG)\)`)

// file tells of one file or directory. Who owns it decides nothing on Windows.
func file(path string, secret bool) (File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return File{}, err
	}
	f := File{Path: path, Dir: info.IsDir(), Secret: secret, Modified: info.ModTime()}
	rights, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return File{}, err
	}
	f.Others = everybody.MatchString(rights.String())
	return f, nil
}

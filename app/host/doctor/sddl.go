package doctor

import "regexp"

// everybody matches an entry of a Windows access list that grants rights to everybody, to all who are signed in, or to
// the machine's users or guests ([MS-DTYP] section 2.5.1.1).
var everybody = regexp.MustCompile(`\(X?A;[^;)]*;[^;)]*;[^;)]*;[^;)]*;(WD|AU|BU|IU|AN|BG)[;)]`)

// openToAll reports whether an access list, in the text form of security descriptors, lets every user of a machine in.
func openToAll(sddl string) bool { return everybody.MatchString(sddl) }

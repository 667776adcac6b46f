package kv

// SyncDir makes the names in a directory last: a file that was made, renamed or removed there is so after a power cut, too.
// Windows does so by itself and has no call for it.
func SyncDir(string) error { return nil }

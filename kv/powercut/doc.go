// Package powercut tells a test what a power cut would have left of a directory. A command runs under strace, which
// records every write, sync and change of a name; afterwards the record is cut at every sync and replayed onto a disk
// that kept what was synced, and of the rest whatever it liked. The test opens each such directory and looks whether
// everything is there that the command had told anybody before the cut.
//
//	cmd := exec.Command("program", dir)
//	recording := powercut.Record(t, dir, cmd)
//	… cmd.Start, cmd.Wait …
//	for cut := range recording(t).PowerCuts(20, rng) {
//		left := t.TempDir()
//		err := cut.Write(left)
//		… open left; whatever is in cut.Said() must be there …
//	}
//
// # The disk
//
// A file's content is on the disk once fsync or fdatasync of that file has returned; a name once fsync of its directory
// has. Of what was not synced any part may be there: each write by itself, and of a torn one any of its sectors of 512
// bytes, because disks write in an order of their own. Names are the file system's, which keeps a journal: of those that
// were not synced the first so many are there. So a rename that was not synced can be lost, and it can also come to the
// disk before the content that it is meant to show.
//
// # What it cannot see
//
// Writes to a file through a shared mapping, and those of other programs that the command starts. A call that it has no
// model for is an error of the recording, never passed over.
//
// Besides, Strace and Fail kill a program at a call, and make its calls fail as those to a broken disk do.
package powercut

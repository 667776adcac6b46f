// Package powercut computes what a power cut would have left of a directory. A command runs under strace, which
// records every write, sync and change of a name. Afterwards the record is cut at every sync and replayed onto a
// model of a disk that has everything that was synced and a random part of the rest. The test opens each resulting
// directory and checks that it has everything that the command had reported before the cut.
//
//	cmd := exec.Command("program", dir)
//	recording := powercut.Record(t, dir, cmd)
//	… cmd.Start, cmd.Wait …
//	for cut := range recording(t).PowerCuts(20, rng) {
//		left := t.TempDir()
//		err := cut.Write(left)
//		… open left; everything in cut.Said() must be there …
//	}
//
// # The disk
//
// A file's content is on the disk once fsync or fdatasync of that file returns; a name once fsync of its directory
// returns. Any part of the unsynced changes may be there: each write independently, and any sectors of 512 bytes of
// an incomplete write, because disks reorder writes. The file system has a journal for names: the disk has a prefix
// of the unsynced changes of names. An unsynced rename can therefore be lost, and it can also reach the disk before
// the content of the renamed file.
//
// # Limits
//
// Writes through a shared mapping and writes of programs that the command starts are not seen. A call without a model
// is an error of the recording and is never ignored.
//
// In addition, Strace and Fail kill a program at a system call, or make its calls fail as on a broken disk.
package powercut

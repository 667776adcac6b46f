// Package backup makes verified copies of everything that an installation holds while the service takes writes, keeps
// as many of them as a policy says, and puts one back (decisions.md section 7).
//
// # What is promised
//
// A file that has its final name is a whole backup: Create writes beside, syncs, reads back what is on the disk,
// compares every checksum, checks the store that it holds, and only then renames. Writers never wait for a slow disk:
// the store is first copied to a file in the data directory, which takes as long as copying a file does, and the rest
// works on that copy. So a backup needs as much room there as the store takes.
//
// Restore puts the new files in place by renames that a journal describes. Whoever opens the store calls Recover first,
// which ends what a killed process began; so the next start has the old store or the new one, whole.
//
// # The file
//
//	header    "opsmon backup\r\n\x00", length (4 bytes), JSON (Header), SHA-256 of these three
//	body      sections one after another; encrypted, all of them as the payload of an age file whose own header,
//	          with the wrapped key, stands in the JSON above
//
//	section   blocks, then a length of 0, then SHA-256 of everything from the file's start to here, before encryption
//	block     length (4 bytes), bytes
//
// Lengths are big-endian. The first section is the manifest, one block of JSON. Then comes one section for each entry of
// the manifest, in its order, whose blocks are zstd frames of at most 1 MiB content each. The last section is empty and
// marks the end; nothing may follow. The header has this form whatever the format's version, so that an older program can
// tell a newer file from a damaged one.
//
// Every byte is under a checksum that covers all before it too, so a byte that was changed, lost or added is noticed in
// the part it belongs to, and named with it: the header, the manifest, an entry, the end. In an encrypted backup the
// body is authenticated in pieces of 64 KiB, so the part named is the one that the piece was needed for first.
//
// # What is in it
//
// The store, the settings, and such other files as the caller names. Settings and files that are secret go into encrypted
// backups alone; the manifest lists what was left out.
package backup

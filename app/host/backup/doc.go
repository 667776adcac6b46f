// Package backup makes verified copies of everything that an installation holds while the service takes writes, keeps
// as many of them as a policy says, and puts one back (decisions.md section 7).
//
// # What is promised
//
// A file that has its final name is a whole backup: Create writes beside, syncs, reads back through another handle what
// the disk gives, unpacks it, compares every checksum and counts every bucket, and only then renames. Writers never wait
// for a slow disk: what is on another one than the data directory is written into the data directory first, and copied
// when the store is not needed any more. So a backup needs some room there, less than the store takes.
//
// Restore puts the new files in place by renames that a journal describes. Whoever opens the store calls Recover first,
// which ends what a killed process began; so the next start has the old store or the new one, whole.
//
// # The file
//
//	header    "opsmon backup\r\n\x00", length (4 bytes), JSON (Header), SHA-256 of these three
//	parts     one after another, without anything between them
//	table     JSON: size and checksum of each part in order, and the manifest; length (4 bytes);
//	          SHA-256 of the header, the JSON and the length
//	end       "end\n"
//
// Lengths are big-endian. A part is one byte for how the rest is packed (0 not at all, 1 S2, 2 zstd), and the rest. Each
// entry of the manifest has one or several parts, in its order: any file has one, and the store one for each of its runs
// (kv.Store.Export). So a backup holds what is in the store, in the order of its keys, and none of its free or half
// filled pages; Restore makes a new file of it. The header has this form whatever the format's version, so that an older
// program can tell a newer file from a damaged one.
//
// A part's checksum is the SHA-256 of the file from its start to the part's end. Every byte is under a checksum, so one that was changed, lost or added is noticed, and the part that it belongs to is
// named: the header, an entry, the manifest, the end. Beyond that, each value in the store has a checksum of its own.
//
// In an encrypted backup each part is an age file for a key that the manifest holds, and the manifest is an age file for the
// passphrase. The table shows the sizes of the parts to everybody, and lets anybody see whether they are undamaged. The
// manifest repeats the header and the SHA-256 of each part before encryption, so that whoever does not know the
// passphrase can exchange nothing.
//
// # A folder of backups
//
// Backups of one folder share what they have in common. With Config.Share, parts of some size are no piece of the
// file: they lie in the directory "parts" beside it, each in a file that has the part's SHA-256 in hexadecimal for its
// name, and the table has that as its checksum ("beside": true). A part that is there already is not written again. Since the runs of a
// store stay as they are where nothing changes, a part is written once however many backups it is in, without anybody
// having to declare what does not change any more. Encrypted backups share with those that have the same passphrase: the
// next one takes over the key of the newest.
//
// Such a backup is read like any other, as long as its parts lie beside it; one that is missing or damaged is named.
// Whole makes a file of it that needs nothing else. Create reads all parts of the backup before it gets its name, also
// those of earlier ones, and writes a damaged one anew, which mends the earlier ones too. Prune removes backups first,
// and then the parts that no file in the folder refers to; it removes no part when it cannot read what one of the files
// refers to, and none that was written or used in the last day, since another process may be about to refer to it. So
// a kill at any step leaves at most parts too many, which the next Prune removes.
//
// # What is in it
//
// The store, the settings, and such other files as the caller names, also from elsewhere (File.From), which have a name of
// the caller's in the backup: nothing in a backup says where a file goes that is not in the data directory. Settings and
// files that are secret go into encrypted backups alone; the manifest lists what was left out.
package backup

// Package backup makes verified copies of an installation's data while the service runs, keeps as many of them as a policy
// says, and restores them (decisions.md section 7).
//
// # Guarantees
//
// A file with its final name is a whole backup. Create writes a temporary file, syncs it, reads it back from the disk
// through another handle, unpacks it, compares every checksum and counts every bucket; only then does it rename the file.
// Writers never wait for a slow disk: a backup to another disk is first written into the data directory, and copied when
// it no longer needs the store. So a backup needs some space there, less than the size of the store.
//
// Restore puts the new files in place with renames that a journal lists. A process that opens the store calls Recover
// first, which completes what a killed process began. So the next start has the old store or the new one, whole.
//
// # The file
//
//	header    "opsmon backup\r\n\x00", length (4 bytes), JSON (Header), SHA-256 of these three
//	parts     one after another, without anything between them
//	table     JSON: size and checksum of each part in order, and the manifest; length (4 bytes);
//	          SHA-256 of the header, the JSON and the length
//	end       "end\n"
//
// Lengths are big-endian. A part is one byte for the compression of the rest (0 none, 1 S2, 2 zstd), and the rest. Each
// entry of the manifest has one or several parts, in its order: a file has one, and the store one for each of its runs
// (kv.Store.Export). A backup holds the content of the store in the order of its keys, without free or half filled pages;
// Restore builds a new file from it. The header has this form in every version of the format, so that an older program
// can tell a newer file from a damaged one.
//
// A part's checksum is the SHA-256 of the file from its start to the part's end. Every byte has a checksum, so a changed,
// lost or added byte is noticed and its part is named: the header, an entry, the manifest, the end. In addition each value
// in the store has a checksum of its own.
//
// In an encrypted backup each part is an age file for a key in the manifest, and the manifest is an age file for the
// passphrase. The table shows the sizes of the parts, and allows to check them for damage without the passphrase. The
// manifest repeats the header and the SHA-256 of each part before encryption, so that nobody can exchange anything
// without the passphrase.
//
// # A folder of backups
//
// Backups in one folder share parts. With Config.Share, large parts are not in the file but in files of their own, in the
// directory "parts" next to it. Their name is the part's SHA-256 in hexadecimal, which is also the checksum in the table
// ("beside": true). A part that exists is not written again. Since the runs of a store stay the same where nothing
// changes, each part is written once, however many backups use it. Encrypted backups share parts with those of the same
// passphrase: the next one takes over the key of the newest.
//
// Such a backup is read like any other, as long as its parts are there; a missing or damaged one is named. Whole makes a
// file of it that needs no others. Create reads all parts before it renames the backup, also those of earlier backups, and
// rewrites damaged ones, which repairs the earlier backups as well. Prune removes backups first, and then the parts that
// no file in the folder uses. It removes no part if it cannot read one of the files, and none that was written or used in
// the last day, since another process may be about to use it. So a kill at any step leaves at most unused parts, which
// the next Prune removes.
//
// # Content
//
// A backup holds the store, the settings, and the other files that the caller names. Files from elsewhere (File.From) get
// a name from the caller; a backup never says where to write a file outside the data directory. Secret settings and files
// are only in encrypted backups; the manifest lists what was left out.
package backup

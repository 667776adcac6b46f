// Package kv stores all of the program's data in one bbolt file. It is the only importer of bbolt and has no domain
// types: other packages declare typed buckets and use them inside View and Update.
//
//	var stations = kv.NewBucket("stations", kv.PairOf(kv.String, kv.String), kv.JSON[Station]())
//
//	err := store.Update(func(tx *kv.Tx) error {
//		station, err := stations.Get(tx, key)
//		…
//		return stations.Put(tx, key, station)
//	})
//
// # Guarantees
//
// When Update returns without an error, its changes are on the disk and survive a killed process or a power cut, as
// long as the disk keeps what it has confirmed. Update stores either all changes of a function or none. A View reads
// a consistent snapshot and blocks nobody. There is no cache in front of bbolt, and no option trades safety for
// speed. A new store is built under a temporary name and then linked to its own, so a crash never leaves half a
// store.
//
// # Commits
//
// Update puts its function in a queue. A caller that finds no leader becomes the leader: it takes the queued
// functions, runs each in one bbolt transaction with a Tx of its own, commits, and wakes the other callers. The first
// caller that arrived in the meantime becomes the next leader. A commit costs two syncs whatever its size, so many
// concurrent writers are much faster than the same writes in sequence, and a single writer has no overhead. Before a
// leader takes the queue, it waits a moment for the callers that the last commit answered: otherwise the first of
// them would commit on its own and the others would wait for that commit.
//
// A failed sync (see undo) is never retried, because the system may have dropped the data that it could not write. If
// the last sync of a commit fails, Update undoes the commit by writing the older meta page again, and accepts no
// write until the disk confirms that page. If the process ends before that, the next process finishes the work: its
// first write after Open writes both meta pages as it found them, and it refuses other writes until the disk confirms
// them. A change that was answered with ErrUnconfirmed is then present or absent, whichever the system's cache has.
// PostgreSQL and etcd end the process instead and recover from a log. Here the older state is complete on the disk,
// and reads continue.
//
// # Detection of damage
//
// bbolt has no checksums over its pages and reacts to damage with a panic, an endless loop, a stack overflow or wrong
// data. Therefore:
//
//   - every value has a CRC-32C over its bucket, key, format and content, which Get and Scan verify;
//   - every bucket has a counter of its keys and their checksums, which Check and a Scan of the whole bucket verify;
//   - Open reads both meta pages and every page's header, and refuses an inconsistent tree;
//   - a panic of bbolt, or a fault because the mapped file was truncated, becomes ErrDamaged;
//   - a page within the file that the disk cannot read becomes ErrNoRead, which is not damage.
//
// Only Check detects a damaged page that makes a key vanish, or an older page in the place of a newer one.
//
// # File layout
//
//	NAME          a bucket of Config.Buckets: encoded key -> format byte, CRC-32C, document
//	_about        a bucket of this package, in the same format: "version" -> number of migrations that have run
//	_tally.NAME   empty; its sequence number is the counter of bucket NAME
package kv

// Package upgrade replaces the installed program by a newer version, and goes back when it does
// not get ready. The program and the store belong together: a newer program migrates the store, and an older one cannot
// read it afterwards. So both change together, or neither.
//
// # The steps of an upgrade
//
//  1. The file is copied to a private directory beside the installed program, so that nobody changes it between a check
//     and its use. Its signature is checked before anything of it runs.
//  2. It must be a program for this system, and this product, and no older than what is installed.
//  3. A verified backup is taken, as the owner of the data directory, while the service runs. The new program checks, and so migrates, a copy of the store.
//     Until here nothing has changed.
//  4. The service stops. The store is copied to app.db.before-upgrade. The journal, upgrade.json in the data directory, says what
//     goes on: "trying", and what the store held.
//  5. The programs change places by renames; the old one stays beside as app.previous. The service starts.
//  6. When it is ready, the new program is on probation for a minute: it has to stay ready, in one process, and its store has to
//     hold the accounts, revisions, users, entries and days that it held. Answers may be late for 20 seconds.
//  7. Then the journal and the copy are removed. When the new program fails, the journal says "rollback", the old program is put
//     back, and the service starts again: with the store as it is when the old program can read it and nothing is missing in it,
//     otherwise with the copy.
//
// # After a power cut
//
// Whichever program is there at the next start finds a store that it can read, or makes one: the new one migrates an older
// store; the old one finds the store as it was, or, in a rollback, puts the copy back first (Recover). The service cannot
// change programs, since its user has no right to; whoever began the upgrade runs `app upgrade` or `app rollback` again.
// A service that has been ready for as long as a probation ends the journal when its store holds what it did (Settle), unless an
// upgrade is still at work, which holds a lock. When something is missing, the journal and the copy stay for `app rollback`.
//
// # Windows
//
// A program that runs can be renamed there and not be replaced, so between two renames there is none for a moment.
package upgrade

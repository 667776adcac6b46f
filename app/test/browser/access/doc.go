// Package access tests the console's pages of who and what gets in, and of the appliance, in a browser: users, API
// keys, devices, tablets, sign-ins, sessions, backups, the log.
package access

// Package entry tests the pages before the console in a browser: signing in, the one-time link, the first set-up and
// the demo's sign-in.
package entry

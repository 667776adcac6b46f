// Package entry tests the pages in front of the console in a browser: signing in, the one-time link, the first set-up
// and the demo's way in.
package entry

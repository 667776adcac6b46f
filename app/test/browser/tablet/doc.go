// Package tablet tests the operator's tablet in a browser, against the real service: every control by real taps, flags
// that are off, two tablets at one station, and refused actions.
package tablet

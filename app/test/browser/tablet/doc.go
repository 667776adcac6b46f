// Package tablet tests the operator's tablet in a browser, against the real service: every control by real taps, what is
// switched off, two tablets at one station, and what was refused.
package tablet

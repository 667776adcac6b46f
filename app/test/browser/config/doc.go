// Package config tests the console's pages of what an account configures beside its plants, and of its revisions, in a
// browser, against the real service.
package config

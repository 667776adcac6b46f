// Package config tests the console's pages of an account's configuration apart from its plants, and of its revisions,
// in a browser against the real service.
package config

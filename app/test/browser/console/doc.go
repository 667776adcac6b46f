// Package console tests the console's shell in a browser: the draft shared by all pages, changes applied by others, an
// unavailable service, an expired session, hostile names, and the budgets.
package console

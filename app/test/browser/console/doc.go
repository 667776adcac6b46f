// Package console tests the console's shell in a browser: the draft that all pages share, what others apply meanwhile,
// a service or a session that goes away, hostile names, and the budgets.
package console

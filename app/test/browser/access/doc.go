// Package access tests the console's pages about access and the appliance in a browser: users, API keys, devices,
// tablets, sign-ins, sessions, backups, the log.
package access

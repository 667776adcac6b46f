// Package install tests the service as it is installed: on a booted Linux, through an upgrade, and as a user of its own
// beside whom root works.
package install

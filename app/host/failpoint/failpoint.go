// Package failpoint marks the steps at which a test kills the process, as a power cut would. In the program that people
// run it does nothing: only a build with the tag failpoint dies, at the point that APP_FAILPOINT says.
package failpoint

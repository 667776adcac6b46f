// Package stops tests the floor's pages about stops, Tasks, corrections and thresholds in a browser, against the
// service.
package stops

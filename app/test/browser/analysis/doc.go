// Package analysis tests the page of analyses in a browser, against the real service with a simulated plant.
package analysis

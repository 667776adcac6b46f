// Package analysis tests the analysis page in a browser, against the real service with a simulated plant.
package analysis

// Package floor tests the floor page and the wall screen in a real browser, against the real service. It has tests
// alone. APP_COST=all measures what all views cost, and longer.
package floor

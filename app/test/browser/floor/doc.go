// Package floor tests the floor page and the wall screen in a real browser, against the real service. APP_COST=all
// measures the cost of all views, and longer.
package floor

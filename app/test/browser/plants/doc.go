// Package plants tests the console's pages of plants, groups and stations in a browser, against the real service.
package plants

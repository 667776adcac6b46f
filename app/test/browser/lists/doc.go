// Package lists tests in a browser, against the real service, what the console's lists give away and take in: CSV of SKUs,
// reasons and stations, and the audit.
package lists

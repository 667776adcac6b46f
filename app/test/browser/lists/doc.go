// Package lists tests import and export of the console's lists in a browser, against the real service: CSV of SKUs,
// reasons and stations, and the audit log.
package lists

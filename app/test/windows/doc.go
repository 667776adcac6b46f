// Package windows tests the product's Windows program under Wine: its commands with and without a service, its upgrade,
// its certificates, and its installation as a service.
package windows

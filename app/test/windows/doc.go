// Package windows tests the product's Windows program, under Wine: its commands with and without a service, its upgrade,
// its certificates, and how it is installed as a service.
package windows

// Package offline tests that what operators do on tablets is never lost, whatever the network does.
package offline

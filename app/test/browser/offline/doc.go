// Package offline tests that actions of operators on tablets are never lost, whatever happens to the network.
package offline

// Package kill tests the product's program where all goes wrong: killed under load, on a disk that is full, fails or is
// damaged, without its terminal, and what it says and leaves then.
package kill

// Package kill tests the product's program under failures: killed under load, with a full, failing or damaged disk,
// without its terminal, and what it reports and leaves behind.
package kill

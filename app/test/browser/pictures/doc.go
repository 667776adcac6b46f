// Package pictures takes the screenshots of the top README.
package pictures

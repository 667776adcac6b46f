// Package pictures takes the pictures of the top README.
package pictures

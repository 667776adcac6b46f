// Package station tests the page of a station, and the dialogs that tell how figures come about, in a browser against
// the real service.
package station

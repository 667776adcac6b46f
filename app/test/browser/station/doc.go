// Package station tests the page of a station, and the dialogs that explain figures, in a browser against the real
// service.
package station

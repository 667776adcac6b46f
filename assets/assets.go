// Package assets embeds the pages: native ES modules, style sheets and HTML templates, with no bundler and
// nothing from another host. shared holds what all pages use; every page has a folder of its own.
//
// words holds the pages' texts in ICU MessageFormat, in a folder for each language: one catalogue for what all
// pages use, and one for each page, with the name of its folder.
//
// vendor holds what others wrote, in a folder for each npm package: the files that are needed, unmodified, with the
// licence and package.json. vendor/SHA256SUMS has their hashes as in the packages' tarballs. The binary has their
// modules, compressed, from vendor.zip: `go run ./assets/vendoring` makes it from the folder.
package assets

import (
	"archive/zip"
	"bytes"
	"embed"
)

// FS holds the files of this folder. Those that end in .html are templates of app/web and are never sent as they
// are; the others are sent as they stand.
//
//go:embed shared console docs floor link signin tablet trust welcome words
var FS embed.FS

//go:embed vendor.zip
var vendored []byte

// Vendor returns the modules of the vendored packages, each at its npm name. They import each other by relative paths.
func Vendor() (*zip.Reader, error) {
	return zip.NewReader(bytes.NewReader(vendored), int64(len(vendored)))
}

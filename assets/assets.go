// Package assets embeds the pages: native ES modules, style sheets and HTML templates, with no bundler and
// nothing from another host. shared holds what all pages use; every page has a folder of its own.
package assets

import "embed"

// FS holds the files of this folder. Those that end in .html are templates of html/template and are never sent as
// they are; the others are sent as they stand.
//
//go:embed shared home docs link trust
var FS embed.FS

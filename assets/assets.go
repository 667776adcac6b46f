// Package assets embeds the pages: native ES modules, style sheets and HTML templates, with no bundler and
// nothing from another host. shared holds what all pages use; every page has a folder of its own,
// and vendor what others wrote: whole files of npm packages, unmodified, each with its licence and its package.json.
package assets

import "embed"

// FS holds the files of this folder. Those that end in .html are templates of app/web and are never sent as they
// are; the others are sent as they stand.
//
//go:embed shared home docs link trust console vendor
var FS embed.FS

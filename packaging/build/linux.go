package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"opsmon/app/host/service"
)

// nfpmConfig is the configuration of nfpm, which reads YAML and therefore JSON.
type nfpmConfig struct {
	Name            string            `json:"name"`
	Arch            string            `json:"arch"`
	Platform        string            `json:"platform"`
	Version         string            `json:"version"`
	VersionSchema   string            `json:"version_schema"`
	Release         string            `json:"release"`
	Section         string            `json:"section"`
	Priority        string            `json:"priority"`
	Maintainer      string            `json:"maintainer"`
	Vendor          string            `json:"vendor"`
	Description     string            `json:"description"`
	License         string            `json:"license"`
	Depends         []string          `json:"depends"`
	Contents        []nfpmContent     `json:"contents"`
	Scripts         map[string]string `json:"scripts"`
	DisableGlobbing bool              `json:"disable_globbing"`
	MTime           string            `json:"mtime"`
	RPM             map[string]string `json:"rpm"`
}

type nfpmContent struct {
	Source      string   `json:"src"`
	Destination string   `json:"dst"`
	Info        nfpmInfo `json:"file_info"`
}

type nfpmInfo struct {
	Mode  os.FileMode `json:"mode"`
	MTime string      `json:"mtime"`
}

// debianPackage makes the .deb.
func debianPackage(ctx context.Context, p *product) error {
	return p.nfpm(ctx, "deb", "app_"+packageVersion(p.Version)+"_"+p.Arch+".deb")
}

// rpmPackage makes the .rpm.
func rpmPackage(ctx context.Context, p *product) error {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[p.Arch]
	return p.nfpm(ctx, "rpm", "app-"+packageVersion(p.Version)+"-1."+arch+".rpm")
}

// nfpm makes a package with nfpm, which is in a separate module because it has far more dependencies than app.
func (p *product) nfpm(ctx context.Context, kind, name string) error {
	cfg, err := p.nfpmConfig()
	if err != nil {
		return err
	}
	text, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	config := filepath.Join(p.dir, kind+".yaml")
	if err := os.WriteFile(config, text, 0o644); err != nil {
		return err
	}
	file := p.file(name)
	if file, err = filepath.Abs(file); err != nil {
		return err
	}
	_, err = output(ctx, filepath.Join(p.root, "packaging", "nfpm"), []string{fmt.Sprint("SOURCE_DATE_EPOCH=", p.Time.Unix())}, "go", "tool", "nfpm", "package", "--config", config, "--packager", kind, "--target", file)
	return err
}

func (p *product) nfpmConfig() (nfpmConfig, error) {
	at := p.Time.Format("2006-01-02T15:04:05Z")
	linux := filepath.Join(p.root, "packaging", "linux")
	cfg := nfpmConfig{
		Name: "app", Arch: p.Arch, Platform: "linux", Version: packageVersion(p.Version), VersionSchema: "none", Release: "1",
		Section: "admin", Priority: "optional", Maintainer: "opsmon <packages@opsmon.invalid>", Vendor: "opsmon",
		Description: "manufacturing operations monitoring for one plant\nOne service that holds a plant's configuration, and an API for it on the LAN.",
		License:     p.licence(), Depends: []string{"systemd"}, DisableGlobbing: true, MTime: at,
		RPM: map[string]string{"buildhost": "reproducible", "summary": "manufacturing operations monitoring for one plant"},
		Scripts: map[string]string{
			"preinstall": filepath.Join(linux, "preinst"), "postinstall": filepath.Join(linux, "postinst"),
			"preremove": filepath.Join(linux, "prerm"), "postremove": filepath.Join(linux, "postrm"),
		},
	}
	add := func(destination string, mode os.FileMode, file string) {
		cfg.Contents = append(cfg.Contents, nfpmContent{file, destination, nfpmInfo{mode, at}})
	}
	add("/usr/bin/app", 0o755, p.binary)
	readme, err := plantReadme(p.root)
	if err != nil {
		return cfg, err
	}
	for destination, text := range map[string]string{
		"/usr/share/doc/app/README.md":        string(readme),
		"/usr/lib/systemd/system/app.service": service.Unit(service.UnitConfig{Binary: "/usr/bin/app", DataDir: "/var/lib/app"}),
		"/usr/lib/sysusers.d/app.conf":        service.Sysusers,
		"/usr/share/doc/app/copyright":        string(p.licences),
	} {
		file := filepath.Join(p.dir, filepath.Base(destination))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return cfg, err
		}
		add(destination, 0o644, file)
	}
	add("/usr/share/app/app.yaml", 0o644, filepath.Join(p.root, "app", "host", "config", "installed.yaml"))
	add("/usr/share/doc/app/CHANGELOG.md", 0o644, filepath.Join(p.root, "CHANGELOG.md"))
	slices.SortFunc(cfg.Contents, func(a, b nfpmContent) int { return strings.Compare(a.Destination, b.Destination) })
	return cfg, nil
}

// licence returns the SPDX expression of everything in the binary.
func (p *product) licence() string {
	var all []string
	for _, m := range p.modules {
		all = append(all, strings.Split(m.Licence, " AND ")...)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " AND ")
}

package main

import (
	"context"
	"path/filepath"
)

// compile builds the binary: stripped, with its version, its commit and the key that verifies upgrades, and without
// any data of this machine.
func (p *product) compile(ctx context.Context, publicKey string) error {
	stamps := "-s -w -X opsmon/app.version=" + p.Version + " -X opsmon/app.commit=" + p.Commit
	if publicKey != "" {
		stamps += " -X opsmon/app/host/upgrade.publicKey=" + publicKey
	}
	p.binary = filepath.Join(p.dir, p.exe())
	_, err := output(ctx, p.root, p.goVariables(), "go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", stamps, "-o", p.binary, ".")
	return err
}

// goVariables select the target system of the Go command, with the same options on every machine.
func (p *product) goVariables() []string {
	return []string{"GOOS=" + p.OS, "GOARCH=" + p.Arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0"}
}

package doctor

import (
	"context"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"opsmon/app/host/certs"
	"opsmon/app/host/mdns"
	"opsmon/app/host/service"
	"opsmon/kv"
	"opsmon/kv/file"
)

// Local returns the machine that the program runs on.
func Local() Machine {
	return Machine{
		OS: runtime.GOOS, Clock: time.Now, Zone: time.Local,
		Tool:     tool,
		Dial:     dial,
		Bind:     bind,
		Hostname: os.Hostname,
		Lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
		Ask:     mdns.Ask,
		Addrs:   addrs,
		Disk:    file.SpaceOf,
		Store:   kv.VersionOf,
		Files:   files,
		Service: state,
	}
}

// tool runs a program with the language in which its output is parsed.
func tool(ctx context.Context, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil && runtime.GOOS != "windows" {
		path, err = exec.LookPath(filepath.Join("/usr/sbin", name)) // not in the path of every user
	}
	if err != nil {
		return "", exec.ErrNotFound
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func dial(ctx context.Context, address string) error {
	c, err := (&net.Dialer{Timeout: 3 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return c.Close()
}

func bind(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return l.Close()
}

func addrs() ([]netip.Addr, error) {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var list []netip.Addr
	for _, one := range found {
		if p, err := netip.ParsePrefix(one.String()); err == nil {
			list = append(list, p.Addr())
		}
	}
	return list, nil
}

func state() (service.State, error) {
	s, err := service.Find()
	if err != nil {
		return service.State{}, err
	}
	return s.State()
}

// files lists the data directory, its folder of certificates, and its folder of restored files. All of those are
// secret; of the others the names decide: the store, the settings, which may hold a password, and keys.
func files(dir string) ([]File, error) {
	first, err := inspect(dir, false)
	if err != nil {
		return nil, err
	}
	list := []File{first}
	brought := filepath.Join(dir, "files")
	for _, folder := range []string{dir, filepath.Join(dir, "tls"), brought} {
		entries, err := os.ReadDir(folder)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			name := entry.Name()
			if name == "control.sock" { // the service checks who connects
				continue
			}
			f, err := inspect(filepath.Join(folder, name), folder == brought || secret(name))
			if os.IsNotExist(err) {
				continue // removed since
			}
			if err != nil {
				return nil, err
			}
			if name == "app.yaml" {
				f.Owner = "" // an administrator may keep the settings
			}
			list = append(list, f)
		}
	}
	return list, nil
}

// secret reports whether a file is secret, by its name. Files that a restore has replaced have their old names with a
// suffix.
func secret(name string) bool {
	return filepath.Ext(name) == ".db" || slices.ContainsFunc([]string{"app.db", "app.yaml", certs.CAKeyFile, certs.ServerFile}, func(of string) bool { return strings.HasPrefix(name, of) })
}

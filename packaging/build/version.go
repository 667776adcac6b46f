package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// semantic matches a version (semver.org 2.0.0, without build metadata).
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// described matches the output of git describe --long: the tag, the commits since, the commit, and whether files
// differ.
var described = regexp.MustCompile(`^v?(.+)-(\d+)-g([0-9a-f]+)(-dirty)?$`)

// source identifies the source of a build.
type source struct {
	Version string    // semver, without v
	Commit  string    // full hash; "" if unknown
	Time    time.Time // of the commit
}

// describe returns the version and the time of the source: from git, or from the argument version and the variable
// SOURCE_DATE_EPOCH.
func describe(ctx context.Context, root, version string) (source, error) {
	s := source{Version: version}
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		n, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil || n < 0 {
			return s, fmt.Errorf("SOURCE_DATE_EPOCH must be a number of seconds since 1970; it is %q", epoch)
		}
		s.Time = time.Unix(n, 0).UTC()
	}
	commit, err := output(ctx, root, nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		if s.Version == "" || s.Time.IsZero() {
			return s, fmt.Errorf("git has no version and time: %w; pass --version and set SOURCE_DATE_EPOCH", err)
		}
		return s, nil
	}
	hash, at, _ := strings.Cut(strings.TrimSpace(commit), " ")
	s.Commit = hash
	if s.Time.IsZero() {
		n, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return s, fmt.Errorf("read the commit's time from git: %w", err)
		}
		s.Time = time.Unix(n, 0).UTC()
	}
	if s.Version != "" {
		return s, nil
	}
	if text, err := output(ctx, root, nil, "git", "describe", "--tags", "--long", "--dirty", "--abbrev=12", "--match", "v[0-9]*"); err == nil {
		s.Version, err = fromTag(strings.TrimSpace(text))
		return s, err
	}
	count, err := output(ctx, root, nil, "git", "rev-list", "--count", "HEAD")
	if err != nil {
		return s, err
	}
	dirty, err := output(ctx, root, nil, "git", "status", "--porcelain")
	if err != nil {
		return s, err
	}
	s.Version = development("0.0.0", strings.TrimSpace(count), hash, dirty != "")
	return s, nil
}

// fromTag derives a version from the output of git describe: v1.4.0-0-gf00d is 1.4.0, and later commits precede
// 1.4.1.
func fromTag(text string) (string, error) {
	m := described.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("git describe returned %q, which has no tag", text)
	}
	tag := semantic.FindStringSubmatch(m[1])
	if tag == nil {
		return "", fmt.Errorf("the tag %q is not a version such as v1.4.0; pass --version", m[1])
	}
	if m[2] == "0" && m[4] == "" {
		return m[1], nil
	}
	next := m[1]
	if tag[4] == "" { // after a pre-release, the next version is the release itself
		patch, err := strconv.Atoi(tag[3])
		if err != nil {
			return "", err
		}
		next = fmt.Sprintf("%s.%s.%d", tag[1], tag[2], patch+1)
		return development(next, m[2], m[3], m[4] != ""), nil
	}
	return next + "." + strings.TrimPrefix(development("", m[2], m[3], m[4] != ""), "-"), nil
}

// development returns the version of a commit between two releases: before next, and after versions with fewer
// commits.
func development(next, commits, hash string, dirty bool) string {
	v := next + "-dev." + commits + ".g" + hash[:min(len(hash), 12)]
	if dirty {
		v += ".dirty"
	}
	return v
}

// packageVersion returns a version in the format of Debian and Red Hat: a suffix after ~ sorts before the release.
func packageVersion(version string) string {
	release, pre, found := strings.Cut(version, "-")
	if !found {
		return release
	}
	return release + "~" + strings.ReplaceAll(pre, "-", ".")
}

// windowsVersion returns the three numbers that Windows Installer compares. A version between releases has the
// numbers of the next release; versions with equal numbers replace each other.
func windowsVersion(version string) (string, error) {
	release, _, _ := strings.Cut(version, "-")
	limits := []int{255, 255, 65535}
	for i, part := range strings.Split(release, ".") {
		if n, err := strconv.Atoi(part); err != nil || n > limits[i] {
			return "", fmt.Errorf("the version %s cannot be that of an MSI: its numbers may be at most 255.255.65535", version)
		}
	}
	if release == "0.0.0" {
		return "0.0.1", nil // Windows Installer refuses 0.0.0
	}
	return release, nil
}

var errNoTool = errors.New("is not on this machine")

// Package webtest tests the pages in a real browser, against the real service. It is only for tests. A package that
// uses it has
//
//	func TestMain(m *testing.M) { webtest.Main(m) }
//
// and then one browser with isolated tabs.
package webtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"opsmon/app"
	"opsmon/app/ingest/transform"
)

// Browser is a running browser.
type Browser struct{ ctx context.Context }

// shared is the browser of the tests of a package.
var shared struct {
	mu     sync.Mutex
	inMain bool
	open   *Browser
	close  func()
	err    error
}

// Main runs the tests of a package and then closes their browser. It also runs the service's child process, because the
// service starts this program for it in tests.
func Main(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == app.WorkerCommand {
		if err := transform.Work(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	shared.inMain = true
	status := m.Run()
	if shared.close != nil {
		shared.close()
	}
	os.Exit(status)
}

// chromium returns the path of the browser. Without a browser the test is skipped, but fails in continuous integration.
func chromium(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("chromium is not installed, and CI is to test the pages in it")
		}
		t.Skip("chromium is not installed: the pages are not tested in a browser")
	}
	return path
}

// idle are browser features that no test needs. The address bar's suggestions would load two processes with each
// window, which takes longer than most of our pages and disturbs measurements.
const idle = "Translate,WebUIOmniboxPopup,WebUIOmniboxAimPopup"

func start(path, profile string, more ...chromedp.ExecAllocatorOption) (*Browser, func(), error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-features", idle))
	ctx, endProcess := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	ctx, end := chromedp.NewContext(ctx)
	closeAll := func() { end(); endProcess() }
	if err := chromedp.Do(ctx); err != nil {
		closeAll()
		return nil, nil, err
	}
	return &Browser{ctx}, closeAll, nil
}

// NewBrowser starts a browser with its own profile, for tests of state that belongs to a whole browser, such as
// authorities.
func NewBrowser(t *testing.T, options ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	b, end, err := start(chromium(t), t.TempDir(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return b
}

// Open opens a tab in the package's browser with its own cookies and storage. base is the address of a service, without
// a trailing slash.
func Open(t *testing.T, base string, view Viewport) *Tab {
	t.Helper()
	path := chromium(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !shared.inMain {
		t.Fatal("the package has no TestMain that calls webtest.Main: its browser would never end")
	}
	if shared.open == nil && shared.err == nil {
		shared.err = startShared(path)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.open.Open(t, base, view)
}

func startShared(path string) error {
	profile, err := os.MkdirTemp("", "webtest-")
	if err != nil {
		return err
	}
	b, end, err := start(path, profile)
	if err != nil {
		return err
	}
	shared.open, shared.close = b, func() { end(); os.RemoveAll(profile) }
	return nil
}

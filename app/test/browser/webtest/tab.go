package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Viewport is a screen. Width and height are in CSS pixels.
type Viewport struct {
	Width, Height int64
	Scale         float64 // device pixels for each; 0 = 1
	Touch         bool    // fingers instead of a mouse
}

// The screens that the pages are made for.
var (
	Laptop     = Viewport{Width: 1280, Height: 800}
	TabletWide = Viewport{Width: 1280, Height: 800, Scale: 2, Touch: true}
	TabletTall = Viewport{Width: 800, Height: 1280, Scale: 2, Touch: true}
	Phone      = Viewport{Width: 360, Height: 740, Scale: 3, Touch: true}
)

// patience is how long a page has for what a test waits for. It is generous: the machine may have other work.
const patience = 20 * time.Second

// Tab is a page in the browser that notes what a page must never do.
type Tab struct {
	Base string // address of the service, without a slash at the end

	t   *testing.T
	ctx context.Context

	close func() // of a tab beside another

	mu       sync.Mutex
	problems []string // console errors, exceptions, violations of the policy
	requests []string // addresses asked for
}

// Open opens a tab with cookies and storage of its own.
func (b *Browser) Open(t *testing.T, base string, view Viewport) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	return newTab(t, ctx, base, view)
}

// Beside opens another tab beside this one, with its cookies and storage.
func (p *Tab) Beside() *Tab {
	p.t.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx)
	p.t.Cleanup(cancel)
	beside := newTab(p.t, ctx, p.Base, Laptop)
	beside.close = cancel
	return beside
}

// Close closes a tab that Beside opened.
func (p *Tab) Close() { p.close() }

func newTab(t *testing.T, ctx context.Context, base string, view Viewport) *Tab {
	t.Helper()
	p := &Tab{Base: base, t: t, ctx: ctx}
	options := []chromedp.EmulateViewportOption{chromedp.EmulateScale(max(view.Scale, 1))}
	if view.Touch {
		options = append(options, chromedp.EmulateTouch, chromedp.EmulateMobile)
	}
	p.Do(chromedp.EmulateViewport(view.Width, view.Height, options...))
	if err := chromedp.Listen(ctx, p.note); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *Tab) note(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		p.problems = append(p.problems, "exception: "+text)
	case *runtime.EventConsoleAPICalled:
		said := make([]string, len(e.Args))
		for i, a := range e.Args {
			said[i] = strings.TrimSpace(a.Description + " " + string(a.Value))
		}
		p.problems = append(p.problems, fmt.Sprintf("console: %s %s", e.Type, strings.Join(said, " ")))
	case *log.EventEntryAdded:
		// An answer that is an error is noted by the browser as well; which ones there are, the tests decide.
		if !strings.HasPrefix(e.Entry.Text, "Failed to load resource: the server responded") && !strings.Contains(e.Entry.Text, "net::ERR_CONNECTION") && !strings.Contains(e.Entry.Text, "net::ERR_EMPTY_RESPONSE") && !strings.Contains(e.Entry.Text, "net::ERR_INCOMPLETE_CHUNKED_ENCODING") {
			p.problems = append(p.problems, fmt.Sprintf("%s %s: %s", e.Entry.Source, e.Entry.Level, e.Entry.Text))
		}
	}
}

// Context is the tab's, for what chromedp can do and Tab cannot.
func (p *Tab) Context() context.Context { return p.ctx }

// Do takes steps of chromedp.
func (p *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// Visit goes to a path of the service and waits until the page is loaded.
func (p *Tab) Visit(path string) { p.t.Helper(); p.Do(chromedp.Navigate(p.Base + path)) }

// Eval returns the value of an expression in the page; that of a promise when it is kept.
func Eval[T any](p *Tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Eval runs an expression in the page; its value does not matter.
func (p *Tab) Eval(expression string) {
	p.t.Helper()
	Eval[bool](p, "(async () => { await ("+expression+"); return true; })()")
}

// Until waits for an expression, or what its promise is kept with, to be true. A page that goes to another address meanwhile
// takes what is asked with it, and is asked again. (chromedp's own polling makes functions from text, which the pages' policy
// forbids.)
func (p *Tab) Until(expression string) {
	p.t.Helper()
	ask := chromedp.Evaluate[bool]("Promise.resolve("+expression+").then(Boolean)", chromedp.EvalAwaitPromise)
	deadline := time.Now().Add(patience)
	for {
		is, err := chromedp.Run(p.ctx, ask)
		if err != nil && !strings.Contains(err.Error(), "navigated") {
			p.t.Fatalf("%s: %v", expression, err)
		}
		if is && err == nil {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s is still not true at %s; the page shows:\n%s\n%s", expression, Eval[string](p, "location.href"),
				Eval[string](p, "document.body.innerText.slice(0, 1000)"), strings.Join(p.noted(), "\n"))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (p *Tab) noted() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.problems...)
}

// Text returns the text of the first element that a selector finds; it waits for one.
func (p *Tab) Text(selector string) string {
	p.t.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%s)", quote(selector)))
	return Eval[string](p, fmt.Sprintf("document.querySelector(%s).textContent", quote(selector)))
}

// Click clicks on the first element that a selector finds, when it is there.
func (p *Tab) Click(selector string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%s)?.checkVisibility()", quote(selector)))
	p.press(chromedp.Click(chromedp.CSS(selector)))
}

// Tap touches it with a finger.
func (p *Tab) Tap(selector string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%s)?.checkVisibility()", quote(selector)))
	p.press(chromedp.Tap(chromedp.CSS(selector)))
}

// press clicks or taps. A page may replace the element between the moment it is found and the moment the browser is
// asked where it is; nothing is pressed by then, so it is looked for again.
func (p *Tab) press(step chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := chromedp.Do(p.ctx, step)
		if err == nil {
			return
		}
		if !isReplaced(err) || time.Now().After(deadline) {
			p.t.Fatal(err)
		}
	}
}

// isReplaced reports whether the browser did not find an element where the page had one.
func isReplaced(err error) bool {
	var told *cdproto.Error
	return errors.Is(err, chromedp.ErrInvalidDimensions) || errors.As(err, &told) && told.Code == -32000 &&
		(strings.Contains(strings.ToLower(told.Message), "node") || strings.Contains(told.Message, "content quads"))
}

// Type puts the focus on the first element that a selector finds, and types in place of what it holds.
func (p *Tab) Type(selector, text string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%s)?.checkVisibility()", quote(selector)))
	p.Eval(fmt.Sprintf("(e => { e.focus(); e.select?.(); })(document.querySelector(%s))", quote(selector)))
	p.Press(text)
}

// Press presses keys where the focus is: characters, or keys of chromedp's package kb, with modifiers held.
func (p *Tab) Press(keys string, held ...chromedp.Modifier) {
	p.t.Helper()
	p.Do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(held...)))
}

// Media makes the page believe in a medium's feature, such as prefers-color-scheme: dark.
func (p *Tab) Media(feature, value string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: feature, Value: value}}})
	if err != nil {
		p.t.Fatal(err)
	}
}

// SlowCPU makes the page's computer so many times slower.
func (p *Tab) SlowCPU(times float64) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: times}); err != nil {
		p.t.Fatal(err)
	}
}

// Shot keeps a picture of the whole page in the directory of APP_SHOTS, for eyes; without the variable it does nothing.
func (p *Tab) Shot(name string) {
	p.t.Helper()
	dir := os.Getenv("APP_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// Before runs a script in each page that is visited from now on, before any of the page's own.
func (p *Tab) Before(script string) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		p.t.Fatal(err)
	}
}

// Requests returns the addresses that the tab has asked for.
func (p *Tab) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

// BytesOverWire returns how many bytes the page and what it loaded took, headers and compression counted.
func (p *Tab) BytesOverWire() int {
	p.t.Helper()
	return Eval[int](p, `performance.getEntries().reduce((sum, e) => sum + (e.transferSize ?? 0), 0)`)
}

// Clean checks what the page did: no error, nothing on the console, nothing that the policy forbids, no other host.
func (p *Tab) Clean() {
	p.t.Helper()
	for _, problem := range p.noted() {
		p.t.Error(problem)
	}
	requests := p.Requests()
	if len(requests) == 0 {
		p.t.Error("no request was seen: the watch is broken")
	}
	for _, address := range requests {
		if !strings.HasPrefix(address, p.Base+"/") && !strings.HasPrefix(address, "data:") && !strings.HasPrefix(address, "blob:"+p.Base+"/") {
			p.t.Errorf("the page asked another host: %s", address)
		}
	}
}

// quote writes text as JavaScript reads it.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic("webtest: " + err.Error()) // text always encodes
	}
	return string(b)
}

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

// Viewport is the size of a screen. Width and height are in CSS pixels.
type Viewport struct {
	Width, Height int64
	Scale         float64 // device pixels for each CSS pixel; 0: 1
	Touch         bool    // touch instead of mouse
}

// The screens that the pages are made for.
var (
	Laptop     = Viewport{Width: 1280, Height: 800}
	TabletWide = Viewport{Width: 1280, Height: 800, Scale: 2, Touch: true}
	TabletTall = Viewport{Width: 800, Height: 1280, Scale: 2, Touch: true}
	Phone      = Viewport{Width: 360, Height: 740, Scale: 3, Touch: true}
)

// patience is the timeout for what a test waits for. It is generous because the machine may be busy.
const patience = 20 * time.Second

// Tab is a page in the browser that records forbidden behaviour.
type Tab struct {
	Base string // address of the service, without a trailing slash

	t   *testing.T
	ctx context.Context

	close func() // of a tab opened by Beside

	mu       sync.Mutex
	problems []string // console errors, exceptions, violations of the policy
	requests []string // requested addresses
}

// Open opens a tab with its own cookies and storage.
func (b *Browser) Open(t *testing.T, base string, view Viewport) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	return newTab(t, ctx, base, view)
}

// Beside opens another tab with the same cookies and storage.
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
		// The browser logs every error answer, too; the tests decide which ones are allowed.
		if !strings.HasPrefix(e.Entry.Text, "Failed to load resource: the server responded") && !strings.Contains(e.Entry.Text, "net::ERR_CONNECTION") && !strings.Contains(e.Entry.Text, "net::ERR_EMPTY_RESPONSE") && !strings.Contains(e.Entry.Text, "net::ERR_INCOMPLETE_CHUNKED_ENCODING") {
			p.problems = append(p.problems, fmt.Sprintf("%s %s: %s", e.Entry.Source, e.Entry.Level, e.Entry.Text))
		}
	}
}

// Context returns the tab's context, for functions of chromedp that Tab lacks.
func (p *Tab) Context() context.Context { return p.ctx }

// Do runs actions of chromedp.
func (p *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// Visit opens a path of the service and waits until the page is loaded.
func (p *Tab) Visit(path string) { p.t.Helper(); p.Do(chromedp.Navigate(p.Base + path)) }

// Eval returns the value of an expression in the page, or of its promise.
func Eval[T any](p *Tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Eval evaluates an expression in the page and ignores its value.
func (p *Tab) Eval(expression string) {
	p.t.Helper()
	Eval[bool](p, "(async () => { await ("+expression+"); return true; })()")
}

// Until waits until an expression or its promise is true. If the page navigates meanwhile, the expression is evaluated
// again. (chromedp's own polling creates functions from text, which the pages' policy forbids.)
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

// Text returns the text of the first element found by a selector; it waits for one.
func (p *Tab) Text(selector string) string {
	p.t.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%s)", quote(selector)))
	return Eval[string](p, fmt.Sprintf("document.querySelector(%s).textContent", quote(selector)))
}

// Click clicks the first element found by a selector; it waits for one.
func (p *Tab) Click(selector string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%s)?.checkVisibility()", quote(selector)))
	p.press(chromedp.Click(chromedp.CSS(selector)))
}

// Tap taps the first element found by a selector.
func (p *Tab) Tap(selector string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%s)?.checkVisibility()", quote(selector)))
	p.press(chromedp.Tap(chromedp.CSS(selector)))
}

// press clicks or taps. A page may replace the element between finding it and asking the browser for its position.
// Nothing has been pressed then, so it is retried.
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

// isReplaced reports whether the browser did not find an element that the page had.
func isReplaced(err error) bool {
	var told *cdproto.Error
	return errors.Is(err, chromedp.ErrInvalidDimensions) || errors.As(err, &told) && told.Code == -32000 &&
		(strings.Contains(strings.ToLower(told.Message), "node") || strings.Contains(told.Message, "content quads"))
}

// Type focuses the first element found by a selector and replaces its content by typing.
func (p *Tab) Type(selector, text string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%s)?.checkVisibility()", quote(selector)))
	p.Eval(fmt.Sprintf("(e => { e.focus(); e.select?.(); })(document.querySelector(%s))", quote(selector)))
	p.Press(text)
}

// Press presses keys at the focus: characters, or keys of chromedp's package kb, with modifiers held.
func (p *Tab) Press(keys string, held ...chromedp.Modifier) {
	p.t.Helper()
	p.Do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(held...)))
}

// Media emulates a media feature, such as prefers-color-scheme: dark.
func (p *Tab) Media(feature, value string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: feature, Value: value}}})
	if err != nil {
		p.t.Fatal(err)
	}
}

// SlowCPU slows the page's processor down by a factor.
func (p *Tab) SlowCPU(times float64) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: times}); err != nil {
		p.t.Fatal(err)
	}
}

// Shot saves a picture of the whole page in the directory APP_SHOTS, for people; without the variable it does nothing.
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

// Before runs a script in each page visited from now on, before the page's own scripts.
func (p *Tab) Before(script string) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		p.t.Fatal(err)
	}
}

// Requests returns the addresses requested by the tab.
func (p *Tab) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

// BytesOverWire returns the transferred bytes of the page and its resources, including headers, after compression.
func (p *Tab) BytesOverWire() int {
	p.t.Helper()
	return Eval[int](p, `performance.getEntries().reduce((sum, e) => sum + (e.transferSize ?? 0), 0)`)
}

// Clean checks that the page had no errors, console output, policy violations or requests to other hosts.
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

// quote quotes text for JavaScript.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic("webtest: " + err.Error()) // cannot fail for strings
	}
	return string(b)
}

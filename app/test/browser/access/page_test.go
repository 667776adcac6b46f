//go:build rig

package access_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"opsmon/app/test/browser/webtest"
)

func TestMain(m *testing.M) { webtest.Main(m) }

// open opens a page of the console for a user with a role, and waits until it is drawn.
func open(t *testing.T, s *webtest.Service, role, path string) *webtest.Tab {
	t.Helper()
	tab := webtest.Open(t, s.Base, webtest.Laptop)
	s.SignIn(tab, role)
	visit(tab, path)
	return tab
}

func visit(tab *webtest.Tab, path string) {
	tab.Visit(path)
	tab.Until(`document.querySelector("#main h1")`)
}

// button clicks the button below a selector whose name or text has a prefix.
func button(tab *webtest.Tab, below, name string) {
	find := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((b) => (b.ariaLabel ?? b.textContent).trim().startsWith(%q) && !b.disabled && b.checkVisibility())`, below+" button", name)
	tab.Until(find)
	tab.Eval(find + `.click()`)
}

// row returns an expression for the text of the row that contains a text; "": no such row.
func row(with string) string {
	return fmt.Sprintf(`([...document.querySelectorAll("#main tbody tr")].find((tr) => tr.innerText.includes(%q))?.innerText ?? "")`, with)
}

// says waits until an element contains a text.
func says(tab *webtest.Tab, selector, text string) {
	tab.Until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.textContent.includes(%q))`, selector, text))
}

// told waits for a short message, and closes all messages.
func told(tab *webtest.Tab, text string) {
	says(tab, "#toasts .toast", text)
	tab.Eval(`document.querySelectorAll("#toasts button").forEach((b) => b.click())`)
}

// choose selects the option of a select whose label has a prefix.
func choose(tab *webtest.Tab, selector, label string) {
	tab.Until(fmt.Sprintf(`document.querySelector(%q)`, selector))
	tab.Eval(fmt.Sprintf(`((s) => { s.value = [...s.options].find((o) => o.label.startsWith(%q)).value; s.dispatchEvent(new Event("change")); })(document.querySelector(%q))`, label, selector))
}

// looks checks a state of the page on a laptop and a tablet in portrait format for accessibility and overflow; with
// dark also in dark colours.
func looks(tab *webtest.Tab, name string, dark bool) {
	check := func(name string) {
		tab.Shot(name)
		tab.Axe()
	}
	check(name)
	fits(tab)
	if dark {
		tab.Media("prefers-color-scheme", "dark")
		check(name + "-dark")
		tab.Media("prefers-color-scheme", "light")
	}
	tab.Do(chromedp.EmulateViewport(webtest.TabletTall.Width, webtest.TabletTall.Height, chromedp.EmulateTouch, chromedp.EmulateMobile))
	tab.Until(`innerWidth === 800 && matchMedia("(pointer: coarse)").matches`)
	fits(tab)
	check(name + "-tall")
	tab.Do(chromedp.EmulateViewport(webtest.Laptop.Width, webtest.Laptop.Height))
	tab.Until(`innerWidth === 1280`)
}

// fits waits until nothing is wider than the page, except content that scrolls in its own box.
func fits(tab *webtest.Tab) {
	tab.Until(`document.documentElement.scrollWidth <= innerWidth && document.querySelector("#main").scrollWidth <= document.querySelector("#main").clientWidth`)
}

// ask sends a request as a program with a key.
func ask(t *testing.T, s *webtest.Service, key, method, path string, body any) (status int, answer string) {
	t.Helper()
	in, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.Base+path, bytes.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	} else {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	req.Header.Set("X-API-KEY", key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}

// whoami asks in a page who is signed in: "address role", or the status.
func whoami(tab *webtest.Tab) string {
	return webtest.Eval[string](tab, `fetch("/auth/profile").then((a) => a.json().then((b) => b.result ? b.result.email + " " + b.result.role : String(a.status), () => String(a.status)))`)
}

// once checks that a secret in a dialog can be selected by a touch and copied or selected by its button, and returns
// it.
func once(t *testing.T, tab *webtest.Tab) (secret string) {
	t.Helper()
	tab.Until(`document.querySelector("dialog .secret input")?.value`)
	secret = webtest.Eval[string](tab, `document.querySelector("dialog .secret input").value`)
	tab.Eval(`((write) => { navigator.clipboard.writeText = (text) => { window.copied = text; return write.call(navigator.clipboard, text); }; })(navigator.clipboard.writeText)`)
	button(tab, "dialog .secret", "Copy")
	tab.Until(`/Copied|Selected/.test(document.querySelector("#toasts")?.textContent)`)
	if copied := webtest.Eval[string](tab, `window.copied`); copied != secret {
		t.Errorf("copied is %q, shown %q", copied, secret)
	}
	tab.Eval(`document.querySelector("dialog .secret input").focus()`)
	if selected := webtest.Eval[string](tab, `((box) => box.value.slice(box.selectionStart, box.selectionEnd))(document.querySelector("dialog .secret input"))`); selected != secret {
		t.Errorf("selected is %q, shown %q", selected, secret)
	}
	tab.Eval(`document.querySelectorAll("#toasts button").forEach((b) => b.click())`)
	return secret
}

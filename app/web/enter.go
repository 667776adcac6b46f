package web

import (
	"encoding/json"
	"net/http"
	"strconv"

	"opsmon/app/origin"
)

// enter answers POST /signin/enter of the demo: a one-time token that signs in as its administrator, made for the press of
// a button. It gives away nothing that the page does not show already (an administrator's key), and to nobody else: the
// request must come from this machine and name it, so that neither the network nor a page whose name was made to point here
// gets an answer; and it must come from the page itself, since browsers say where a POST is from and a page of another site
// is refused. The token works once, and is used up at once.
func (w *Web) enter(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Cache-Control", never)
	switch {
	case w.cfg.Demo == nil || w.cfg.Demo.Enter == nil || !ofThisMachine(r):
		refuse(rw, r, http.StatusNotFound, "notFound", "there is nothing at this path")
		return
	case r.Method != http.MethodPost:
		rw.Header().Set("Allow", http.MethodPost)
		refuse(rw, r, http.StatusMethodNotAllowed, "methodNotAllowed", "this path takes the method POST")
		return
	case origin.Foreign(r, w.cfg.Secure, w.cfg.PublicURL):
		refuse(rw, r, http.StatusForbidden, "forbidden", "this request comes from another site; open the page of the demo itself")
		return
	}
	token, err := w.cfg.Demo.Enter()
	if err != nil {
		rw.Header().Set("Retry-After", "1")
		refuse(rw, r, http.StatusServiceUnavailable, "unavailable", "the demo cannot be entered now: "+err.Error())
		return
	}
	type result struct {
		Token string `json:"token"`
	}
	body, err := json.Marshal(struct {
		IsSuccess bool   `json:"isSuccess"`
		Result    result `json:"result"`
	}{true, result{token}})
	if err != nil {
		panic("web: " + err.Error()) // strings always encode
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = rw.Write(body) // a client that went away is its own affair
}

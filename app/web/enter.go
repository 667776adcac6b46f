package web

import (
	"encoding/json"
	"net/http"
	"strconv"

	"opsmon/app/origin"
)

// enter handles POST /signin/enter of the demo: it returns a one-time token that signs in as the demo's administrator.
// This reveals nothing beyond the page, which shows an administrator's key. The request must come from this computer
// and name it as the host, so that neither the network nor a page with a forged host name gets a token. It must also
// come from the page itself: browsers send the origin of a POST, and other sites are refused. The token works once, and
// is used immediately.
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
		panic("web: " + err.Error()) // cannot fail for strings
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = rw.Write(body) // a client that has disconnected is not an error
}

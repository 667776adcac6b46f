package origin

import (
	"crypto/tls"
	"net/http"
	"testing"
)

func TestForeign(t *testing.T) {
	const clear, tlsOwn, proxied = 0, 1, 2
	for _, tt := range []struct {
		name   string
		over   int
		host   string
		header http.Header
		want   bool
	}{
		{"no browser", clear, "plant:8080", nil, false},
		{"own", clear, "plant:8080", http.Header{"Origin": {"http://plant:8080"}, "Sec-Fetch-Site": {"same-origin"}}, false},
		{"own by name in other letters", clear, "Plant:8080", http.Header{"Origin": {"http://plant:8080"}}, false},
		{"typed", clear, "plant:8080", http.Header{"Sec-Fetch-Site": {"none"}}, false},
		{"the default port", tlsOwn, "plant:443", http.Header{"Origin": {"https://plant"}}, false},
		{"IPv6", tlsOwn, "[::1]:8443", http.Header{"Origin": {"https://[::1]:8443"}}, false},
		{"Origin alone tells", clear, "plant:8080", http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"same-origin"}}, true},
		{"Sec-Fetch-Site alone tells", clear, "plant:8080", http.Header{"Origin": {"http://plant:8080"}, "Sec-Fetch-Site": {"cross-site"}}, true},
		{"another port", clear, "plant:8080", http.Header{"Origin": {"http://plant:9999"}, "Sec-Fetch-Site": {"same-origin"}}, true},
		{"no port", clear, "plant:8080", http.Header{"Origin": {"http://plant"}}, true},
		{"in the clear to TLS", tlsOwn, "plant:8443", http.Header{"Origin": {"http://plant:8443"}, "Sec-Fetch-Site": {"same-origin"}}, true},
		{"over TLS to the clear", clear, "plant:8080", http.Header{"Origin": {"https://plant:8080"}}, true},
		{"null", clear, "plant:8080", http.Header{"Origin": {"null"}}, true},
		{"an empty one", clear, "plant:8080", http.Header{"Origin": {""}}, true},
		{"one with a path", clear, "plant:8080", http.Header{"Origin": {"http://plant:8080/"}}, true},
		{"one with a name in it", clear, "plant:8080", http.Header{"Origin": {"http://a@plant:8080"}}, true},
		{"a second one", clear, "plant:8080", http.Header{"Origin": {"http://plant:8080", "http://evil.example"}}, true},
		{"same-site", clear, "plant:8080", http.Header{"Sec-Fetch-Site": {"same-site"}}, true},
		{"an unknown site", clear, "plant:8080", http.Header{"Sec-Fetch-Site": {"x"}}, true},
		{"behind a proxy", proxied, "plant", http.Header{"Origin": {"https://plant"}}, false},
		{"behind a proxy, from the clear", proxied, "plant", http.Header{"Origin": {"http://plant"}}, true},
		{"past the proxy", proxied, "127.0.0.1:8080", http.Header{"Origin": {"http://127.0.0.1:8080"}}, false},
		{"past the proxy, another port", proxied, "localhost:8080", http.Header{"Origin": {"http://localhost:3000"}}, true},
	} {
		r := &http.Request{Host: tt.host, Header: tt.header}
		if tt.over == tlsOwn {
			r.TLS = &tls.ConnectionState{}
		}
		if got := Foreign(r, tt.over != clear, ""); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// A proxy may ask for another host than the one that its clients opened, which is set as the URL of the service.
func TestForeignWithAPublicURL(t *testing.T) {
	for _, tt := range []struct {
		url, origin string
		want        bool
	}{
		{"https://plant.example", "https://plant.example", false},
		{"https://plant.example/", "https://Plant.example", false},
		{"https://plant.example:443", "https://plant.example", false},
		{"https://plant.example:8443", "https://plant.example:8443", false},
		{"https://plant.example:8443", "https://plant.example", true},
		{"https://plant.example", "http://plant.example", true},
		{"https://plant.example", "https://plant.example.evil.example", true},
		{"https://plant.example", "https://evil.example", true},
		{"https://plant.example", "https://a@plant.example", true},
		{"https://plant.example", "null", true},
		{"https://plant.example", "", true},
		{"", "null", true},
		{"", "", true},
	} {
		r := &http.Request{Host: "upstream", Header: http.Header{"Origin": {tt.origin}}}
		if got := Foreign(r, true, tt.url); got != tt.want {
			t.Errorf("opened by %q, from %q: %v", tt.url, tt.origin, got)
		}
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		if !Foreign(r, true, tt.url) {
			t.Errorf("opened by %q, from %q: what the browser says of the site is not heard", tt.url, tt.origin)
		}
	}
}

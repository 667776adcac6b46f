package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/kv"
	"opsmon/kv/kvtest"
	"opsmon/schema/schematest"
)

// wire is a client with almost no cost: it writes prepared bytes and skips the answer.
type wire struct {
	net.Conn
	r       *bufio.Reader
	request []byte
	want    []byte // beginning of the status line
}

func newWire(b *testing.B, server *httptest.Server, request string, status int) *wire {
	b.Helper()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return &wire{c, bufio.NewReaderSize(c, 256<<10), []byte(request), fmt.Appendf(nil, "HTTP/1.1 %d ", status)}
}

// do sends the request and reads its answer.
func (w *wire) do() error {
	if _, err := w.Write(w.request); err != nil {
		return err
	}
	length := 0
	for line := 0; ; line++ {
		text, err := w.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if line == 0 && !bytes.HasPrefix(text, w.want) {
			return fmt.Errorf("answer %q", text)
		}
		if n, found := bytes.CutPrefix(text, []byte("Content-Length: ")); found {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(n))); err != nil {
				return err
			}
		}
		if len(text) == 2 {
			break
		}
	}
	_, err := w.r.Discard(length)
	return err
}

// slice runs n operations on the workers and returns the total time.
func slice(b *testing.B, n int, workers []func() error) time.Duration {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	start := time.Now()
	var wg sync.WaitGroup
	for _, work := range workers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := work(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// rivals are the measured operations and their lower bounds, by name.
type rivals struct {
	ours   []func() error
	floors map[string][]func() error
}

// race runs short slices of each in turn and reports the medians of the ratios of each lower bound to ours: 1 is as
// fast as the lower bound. The machine is noisy, so only slices that ran in turn are compared.
func race(b *testing.B, r rivals) {
	b.Helper()
	const aim = 15 * time.Millisecond
	n := 1
	for took := time.Duration(0); took < aim; n *= 2 {
		took = slice(b, n, r.ours)
	}
	ratios := map[string][]float64{}
	var each []float64
	for b.Loop() {
		ours := slice(b, n, r.ours)
		each = append(each, float64(ours.Nanoseconds())/float64(n)/1000)
		for name, floor := range r.floors {
			took := slice(b, n, floor)
			again := slice(b, n, r.ours)
			ratios[name] = append(ratios[name], 2*float64(took)/float64(ours+again))
		}
	}
	for name, list := range ratios {
		b.ReportMetric(median(list), name)
	}
	b.ReportMetric(median(each), "µs/request")
	b.ReportMetric(0, "ns/op")
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// quiet returns a log with the service's level that discards its output.
func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func bare(b *testing.B, handle http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(handle)
	b.Cleanup(s.Close)
	return s
}

func repeat(n int, one func() func() error) []func() error {
	list := make([]func() error, n)
	for i := range list {
		list[i] = one()
	}
	return list
}

var manifests = []struct {
	name           string
	stations, skus int
}{{"70KB", 1, 1}, {"1000stations", 1000, 1000}, {"10000stations", 10_000, 10_000}}

func benchAccount(b *testing.B, stations, skus int) (*server, string, *account.Representation) {
	b.Helper()
	s := newServer(b, options{log: quiet()})
	s.makeAccount("large.example", "admin@large.example", schematest.Large(stations, skus))
	snap, err := s.Accounts.Get("large")
	s.must(nil, err)
	return s, s.key("large", "admin@large.example"), snap.Answer(true)
}

var (
	nosniffFloor    = []string{"nosniff"}
	revalidateFloor = []string{"private, no-cache"}
	varyFloor       = []string{"Accept-Encoding, Cookie, X-API-KEY"}
)

// ourHeaders sets the headers of the service's answers, so the lower bound writes as much.
func ourHeaders(w http.ResponseWriter, rep *account.Representation) {
	h := w.Header()
	h["X-Request-Id"] = []string{"mwpy1xlp-1"}
	h["X-Content-Type-Options"], h["Cache-Control"], h["Vary"], h["Etag"] = nosniffFloor, revalidateFloor, varyFloor, []string{rep.ETag}
}

// BenchmarkGetAccount: GET /account with a key against a bare net/http handler that writes the same bytes. Goal 0.85.
func BenchmarkGetAccount(b *testing.B) {
	for _, m := range manifests {
		for _, connections := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", m.name, connections), func(b *testing.B) {
				s, key, rep := benchAccount(b, m.stations, m.skus)
				body := rep.Bytes()
				floor := bare(b, func(w http.ResponseWriter, _ *http.Request) {
					w.Header()["Content-Type"] = rest.JSONType
					w.Header()["Content-Length"] = []string{rep.Length}
					w.Write(body)
				})
				same := bare(b, func(w http.ResponseWriter, _ *http.Request) {
					ourHeaders(w, rep)
					w.Header()["Content-Type"] = rest.JSONType
					w.Header()["Content-Length"] = []string{rep.Length}
					w.Write(body)
				})
				request := "GET /account HTTP/1.1\r\nHost: x\r\nX-API-KEY: " + key + "\r\n\r\n"
				race(b, rivals{
					repeat(connections, func() func() error { return newWire(b, s.http, request, 200).do }),
					map[string][]func() error{
						"ratio":         repeat(connections, func() func() error { return newWire(b, floor, request, 200).do }),
						"ratio_headers": repeat(connections, func() func() error { return newWire(b, same, request, 200).do }),
					},
				})
				b.ReportMetric(float64(len(body)), "bytes")
			})
		}
	}
}

// BenchmarkGetAccountUnchanged: the same with If-None-Match against a bare 304. Goal 0.85.
func BenchmarkGetAccountUnchanged(b *testing.B) {
	for _, m := range manifests {
		for _, connections := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/%d", m.name, connections), func(b *testing.B) {
				s, key, rep := benchAccount(b, m.stations, m.skus)
				floor := bare(b, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
				request := "GET /account HTTP/1.1\r\nHost: x\r\nX-API-KEY: " + key + "\r\nIf-None-Match: " + rep.ETag + "\r\n\r\n"
				same := bare(b, func(w http.ResponseWriter, _ *http.Request) {
					ourHeaders(w, rep)
					w.WriteHeader(http.StatusNotModified)
				})
				race(b, rivals{
					repeat(connections, func() func() error { return newWire(b, s.http, request, 304).do }),
					map[string][]func() error{
						"ratio":         repeat(connections, func() func() error { return newWire(b, floor, request, 304).do }),
						"ratio_headers": repeat(connections, func() func() error { return newWire(b, same, request, 304).do }),
					},
				})
			})
		}
	}
}

// storing returns several ways to store the same number of bytes: in bare bbolt, with Update for one connection and
// Batch for more; in one Put per transaction; the same in a bare net/http handler that reads the body; and in a handler
// with one bucket for each part, as in the service, because the number of pages that a transaction writes dominates its
// cost. The first part is overwritten each time, the others are appended.
func storing(b *testing.B, connections int, request string, parts ...[]byte) map[string][]func() error {
	var buckets []*kv.Bucket[uint64, []byte]
	var names []string
	for i := range parts {
		names = append(names, fmt.Sprintf("part%d", i))
		buckets = append(buckets, kv.NewBucket(names[i], kv.Uint64, kv.Raw))
	}
	store := kvtest.New(b, func(c *kv.Config) { c.Buckets = names })
	var next atomic.Uint64
	whole := bytes.Join(parts, nil)
	one := func() error {
		n := next.Add(1)
		return store.Update(func(tx *kv.Tx) error { return buckets[0].Put(tx, n, whole) })
	}
	apart := func() error {
		n := next.Add(1)
		return store.Update(func(tx *kv.Tx) error {
			for i, part := range parts {
				key := n
				if i == 0 {
					key = 0
				}
				if err := buckets[i].Put(tx, key, part); err != nil {
					return err
				}
			}
			return nil
		})
	}
	answer := []byte(`{"isSuccess":true}`)
	behind := func(put func() error) []func() error {
		handler := bare(b, func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			if err == nil {
				err = put()
			}
			if err != nil {
				b.Error(err)
			}
			w.Header()["Content-Type"] = rest.JSONType
			w.Write(answer)
		})
		return repeat(connections, func() func() error { return newWire(b, handler, request, 200).do })
	}
	raw := kvtest.Raw(b, connections)
	return map[string][]func() error{
		"ratio_bbolt": repeat(connections, func() func() error { return func() error { return raw(whole) } }),
		"ratio_store": repeat(connections, func() func() error { return one }),
		"ratio_http":  behind(one),
		"ratio_parts": behind(apart),
	}
}

// encodedOf returns values in their stored encoding.
func encodedOf(b *testing.B, values ...any) (parts [][]byte) {
	for _, v := range values {
		raw, err := json.Marshal(v)
		if err != nil {
			b.Fatal(err)
		}
		parts = append(parts, raw)
	}
	return parts
}

// BenchmarkPostAccount: POST /account that changes a value, against storing as many bytes. Goal 0.8.
func BenchmarkPostAccount(b *testing.B) {
	for _, connections := range []int{1, 64} {
		b.Run(strconv.Itoa(connections), func(b *testing.B) {
			s := newServer(b, options{log: quiet()})
			key := s.roleKey(auth.Member)
			snap, err := s.Accounts.Get("acme")
			s.must(nil, err)
			page, err := s.listAudit("acme", audit.Query{Limit: 1})
			s.must(nil, err)
			parts := encodedOf(b, snap.Account, account.Revision{Account: *snap.Account}, page.Records[0])
			request := func(value int) string {
				body := fmt.Sprintf(`{"electricalPricePerKwh":%d}`, 100+value)
				return fmt.Sprintf("POST /account HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", key, len(body), body)
			}
			var nth atomic.Int64
			race(b, rivals{
				repeat(connections, func() func() error {
					w := newWire(b, s.http, request(0), 200)
					turns := [2][]byte{[]byte(request(1)), []byte(request(2))}
					n := nth.Add(1)
					return func() error {
						n++
						w.request = turns[n&1]
						return w.do()
					}
				}),
				storing(b, connections, request(0), parts...),
			})
			b.ReportMetric(float64(len(bytes.Join(parts, nil))), "bytes")
		})
	}
}

// BenchmarkPostKey: POST /key against storing as many bytes. Goal 0.8.
func BenchmarkPostKey(b *testing.B) {
	for _, connections := range []int{1, 64} {
		b.Run(strconv.Itoa(connections), func(b *testing.B) {
			s := newServer(b, options{log: quiet()})
			key := s.roleKey(auth.Member)
			page, err := s.listAudit("acme", audit.Query{Limit: 1, Action: "key.create"})
			s.must(nil, err)
			at := instant.Of(time.Now())
			parts := encodedOf(b, page.Records[0], auth.Key{Email: mailOf(auth.Member), Role: auth.Member, CreatedAt: at})
			request := "POST /key HTTP/1.1\r\nHost: x\r\nX-API-KEY: " + key + "\r\nContent-Length: 0\r\n\r\n"
			race(b, rivals{
				repeat(connections, func() func() error { return newWire(b, s.http, request, 200).do }),
				storing(b, connections, request, parts...),
			})
			b.ReportMetric(float64(len(bytes.Join(parts, nil))), "bytes")
		})
	}
}

package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"opsmon/app/host/certs"
	"opsmon/app/host/config"
	"opsmon/app/host/datadir"
	"opsmon/app/host/mdns"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/httpapi/rest"
	"opsmon/app/instant"
	"opsmon/app/web"
)

// CertificateDir is the folder in the data directory that the appliance's own certificate authority is in.
const CertificateDir = "tls"

// ErrNoAuthority says that the appliance has not made its certificate authority.
var ErrNoAuthority = errors.New("there is no certificate authority yet; the service makes it when it first starts with tls: auto")

// keeper keeps the certificate right that the service answers with: *certs.Auto for tls: auto, *certs.Files for the
// plant's own.
type keeper interface {
	TLS() *tls.Config
	CA() *certs.CA // the appliance's own authority, nil for a certificate of the plant's
	Fingerprint() string
	Expires() time.Time
	Hosts() ([]string, []netip.Addr)
	Reachable() []string
	Problems() []string
	Close()
}

// security is what makes a service trusted and found on the plant's network. It needs no store. The zero value is that
// of a service without TLS.
type security struct {
	keeper keeper
	trust  *web.Trust      // the page that tells how to trust the appliance; nil without TLS
	clear  net.Listener    // the port in the clear, nil where there is none
	names  *mdns.Responder // answers to the appliance's name; nil where nobody is to find it
}

// openSecurity opens the certificate, and makes the trust page for it. Error: *config.Error for files that cannot be
// used, and those of certs.Open.
func (h *Host) openSecurity() error {
	if !h.cfg.OwnTLS() {
		return nil
	}
	if err := h.openKeeper(); err != nil {
		return err
	}
	h.base.hosts = h.hosts
	url := ""
	if strings.HasPrefix(h.cfg.URL, "https://") {
		url = h.cfg.URL
	}
	var err error
	h.secure.trust, err = web.NewTrust(web.TrustConfig{
		Web: h.web, CA: trustedCA(h.secure.keeper.CA()), URL: url, Hosts: h.hosts,
		Port: func() int { return portOf(h.network) }, ClearPort: func() int { return portOf(h.secure.clear) },
	})
	return err
}

func (h *Host) openKeeper() error {
	cert, key, err := h.cfg.CertificateFiles()
	if err != nil {
		return err
	}
	if cert != "" {
		files, err := certs.OpenFiles(certs.FilesConfig{Cert: cert, Key: key, Clock: h.cfg.Clock, Log: h.log})
		if err != nil {
			return h.cfg.Wrong("tls", "is to name the files of a certificate and its key: %w", err)
		}
		h.secure.keeper = files
		return nil
	}
	dir := filepath.Join(h.cfg.DataDir, CertificateDir)
	auto, err := certs.Open(certs.Config{Dir: dir, Name: h.cfg.Name, Clock: h.cfg.Clock, Log: h.log})
	if err != nil {
		return err
	}
	h.secure.keeper = auto
	for _, name := range []string{"", certs.CAFile, certs.CAKeyFile, certs.ServerFile} {
		if err := datadir.HandOver(h.cfg.DataDir, filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// hosts returns the names and addresses by which other machines reach the service, the best first.
func (h *Host) hosts() []string {
	if host, _, err := net.SplitHostPort(h.cfg.Listen); h.secure.keeper == nil || err == nil && !config.Everywhere(host) {
		return h.cfg.Hosts()
	}
	if h.secure.keeper.CA() == nil {
		return h.secure.keeper.Reachable()
	}
	return h.cfg.Reachable(h.secure.keeper.Reachable())
}

// linksStayHere reports whether others can reach the service, and the address that links start with is not for them.
func (h *Host) linksStayHere() bool {
	host, _, err := net.SplitHostPort(h.cfg.Listen)
	return err == nil && h.cfg.URL == "" && config.Everywhere(host) && len(h.hosts()) == 0
}

// listenClear opens the port in the clear, behind limits of its own, so that whoever fills it keeps nobody from the
// service. It gives nil where none is asked for.
func (h *Host) listenClear() (net.Listener, error) {
	if h.cfg.ClearListen == "" {
		return nil, nil
	}
	l, err := h.listenOn("clearListen", h.cfg.ClearListen)
	if err != nil {
		return nil, err
	}
	h.secure.clear = newLimitListener(l, newPlaces(max(8, h.cfg.MaxConnections/4), max(4, h.cfg.MaxConnections/16)))
	return h.secure.clear, nil
}

// answerToName begins to answer to the appliance's name where others are to reach the service.
func (h *Host) answerToName() {
	host, _, err := net.SplitHostPort(h.cfg.Listen)
	if err != nil || config.Loopback(host) || !h.cfg.MDNS {
		return
	}
	if !h.cfg.AnswersToName() {
		h.log.Warn("the appliance's name is the machine's own, so it is left to the operating system to answer to it; set name to another if devices cannot find it", slog.String("name", h.cfg.Name+".local"))
		return
	}
	address, _ := netip.ParseAddr(host) // a name, or nothing, stands for every address
	if address.IsUnspecified() {
		address = netip.Addr{}
	}
	h.secure.names = mdns.Start(mdns.Config{Name: h.cfg.Name, Address: address, Log: h.log})
}

// urls returns the addresses by which people reach the service, the best first.
func (h *Host) urls() []string {
	if h.cfg.URL != "" {
		return []string{h.base.get()}
	}
	scheme := "http"
	if h.cfg.Secure() {
		scheme = "https"
	}
	return addresses(scheme, h.hosts(), portOf(h.network), "")
}

// trustPages returns the addresses of the trust page: in the clear where it is served so, since devices that do not
// trust the appliance yet warn of the others.
func (h *Host) trustPages() []string {
	if n := portOf(h.secure.clear); n != 0 {
		return addresses("http", h.hosts(), n, "/trust")
	}
	return addresses("https", h.hosts(), portOf(h.network), "/trust")
}

// addresses returns the addresses of a path by hosts, or that for this machine where there are none.
func addresses(scheme string, hosts []string, port int, path string) []string {
	if len(hosts) == 0 {
		hosts = []string{"127.0.0.1"}
	}
	list := make([]string, len(hosts))
	for i, host := range hosts {
		list[i] = scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port)) + path
	}
	return list
}

// CertificateOf returns the state of the certificate while no service runs; nil without TLS. One of the appliance's own
// authority is made when the service starts, so its end is "" then. Errors: ErrNoAuthority; files that cannot be used,
// with what to do.
func CertificateOf(c config.Settings) (*appliance.CertificateStatus, error) {
	cert, key, err := c.CertificateFiles()
	if err != nil {
		return nil, err
	}
	if cert != "" {
		files, err := certs.OpenFiles(certs.FilesConfig{Cert: cert, Key: key, Clock: c.Clock})
		if err != nil {
			return nil, c.Wrong("tls", "is to name the files of a certificate and its key: %w", err)
		}
		defer files.Close()
		return (&security{keeper: files}).status(nil), nil
	}
	dir := filepath.Join(c.DataDir, CertificateDir)
	ca, err := certs.ReadCA(dir)
	switch {
	case errors.Is(err, os.ErrNotExist) && !c.OwnTLS():
		return nil, nil
	case errors.Is(err, os.ErrNotExist):
		return nil, ErrNoAuthority
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("%w; ask as the administrator", err)
	case err != nil:
		return nil, err
	}
	clock := c.Clock
	if clock == nil {
		clock = time.Now
	}
	listen, scheme := c.Listen, "https"
	if c.ClearListen != "" {
		listen, scheme = c.ClearListen, "http"
	}
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, c.Check()
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, c.Check()
	}
	return &appliance.CertificateStatus{
		Fingerprint: ca.Fingerprint(), Problems: append([]string{}, ca.Problems(clock(), dir)...), Hosts: []string{},
		Authority: authorityStatus(ca, addresses(scheme, c.Hosts(), n, "/trust")),
	}, nil
}

func authorityStatus(ca *certs.CA, pages []string) *appliance.AuthorityStatus {
	return &appliance.AuthorityStatus{Name: ca.Name(), EndsAt: instant.Format(ca.Expires()), PEM: string(ca.PEM()), Pages: pages}
}

// status tells of the certificate, nil without TLS. pages gives the addresses of the trust page.
func (s *security) status(pages func() []string) *appliance.CertificateStatus {
	if s.keeper == nil {
		return nil
	}
	problems := append([]string{}, s.keeper.Problems()...) // first: it looks at the machine again
	names, addrs := s.keeper.Hosts()
	out := &appliance.CertificateStatus{
		EndsAt: instant.Format(s.keeper.Expires()), Fingerprint: s.keeper.Fingerprint(), Problems: problems, Hosts: slices.Clone(names),
	}
	for _, addr := range addrs {
		out.Hosts = append(out.Hosts, addr.String())
	}
	if ca := s.keeper.CA(); ca != nil {
		out.Authority = authorityStatus(ca, pages())
	}
	return out
}

// gauges measures the certificate at a time, for /metrics.
func (s *security) gauges(now time.Time) []rest.Gauge {
	if s.keeper == nil {
		return nil
	}
	list := []rest.Gauge{
		{Name: "app_certificate_remaining_seconds", Help: "Time until the certificate ends; negative when it has.", Value: s.keeper.Expires().Sub(now).Seconds()},
		{Name: "app_certificate_problems", Help: "What is wrong with the certificate; app trust tells it.", Value: float64(len(s.keeper.Problems()))},
	}
	if ca := s.keeper.CA(); ca != nil {
		list = append(list, rest.Gauge{Name: "app_certificate_authority_remaining_seconds", Help: "Time until the appliance's own certificate authority ends; negative when it has.", Value: ca.Expires().Sub(now).Seconds()})
	}
	return list
}

// handles reports whether a path is the trust page's.
func (s *security) handles(path string) bool { return s.trust != nil && s.trust.Handles(path) }

// strict makes browsers stay with HTTPS where the certificate is one that the plant has brought.
func (s *security) strict(next http.Handler) http.Handler {
	if s.keeper == nil || s.keeper.CA() != nil {
		return next
	}
	return web.StrictTransport(next)
}

// close ends what openSecurity and answerToName began.
func (s *security) close() {
	if s.names != nil {
		s.names.Close()
	}
	if s.keeper != nil {
		s.keeper.Close()
	}
}

// trustedCA returns an authority in the forms that devices take, nil for none.
func trustedCA(ca *certs.CA) *web.CA {
	if ca == nil {
		return nil
	}
	return &web.CA{Name: ca.Name(), Fingerprint: ca.Fingerprint(), DER: ca.DER(), PEM: ca.PEM(), Profile: ca.Profile()}
}

// addressOf returns the address and port of a listener, "" for none.
func addressOf(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

// portOf returns the port of a listener, 0 for none.
func portOf(l net.Listener) int {
	if l == nil {
		return 0
	}
	if at, ok := l.Addr().(*net.TCPAddr); ok {
		return at.Port
	}
	return 0
}

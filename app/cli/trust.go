package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/host/config"
	"opsmon/app/host/control"
)

// certificate is the service's certificate as reported by the service or, while it is not running, as read from its
// files.
type certificate struct {
	EndsAt      string   `json:"endsAt"`      // "" for one that is created at the service's start
	Fingerprint string   `json:"fingerprint"` // SHA-256, for people to compare
	Problems    []string `json:"problems"`
	Hosts       []string `json:"hosts"`
	Authority   *struct {
		Name   string   `json:"name"`
		EndsAt string   `json:"endsAt"`
		PEM    string   `json:"pem"`
		Pages  []string `json:"pages"`
	} `json:"authority"` // null for a certificate of the plant
}

func (e *env) trust() *cobra.Command {
	var text bool
	cmd := &cobra.Command{
		Use: "trust", Short: "Show the fingerprint to compare before trusting the appliance", Args: cobra.NoArgs,
		Long: `Shows the fingerprint of the appliance's own certificate authority, its expiry, and the address of the page that explains
how to trust it. Compare the fingerprint that a device shows with this one before you trust the appliance there.`,
		Example: "  app trust\n  app trust --pem > opsmon-ca.pem",
		RunE: func(*cobra.Command, []string) error {
			c, err := e.certificate()
			if err != nil {
				return err
			}
			if text && !e.json {
				if c.Authority == nil {
					return errors.New("the service uses a certificate that the plant has brought (tls: CERT,KEY), whose issuer is not known here: ask who issued it")
				}
				return e.write([]byte(c.Authority.PEM))
			}
			return e.print(c, func(w io.Writer) { c.print(w) })
		},
	}
	cmd.Flags().BoolVar(&text, "pem", false, "write the authority's certificate, in PEM, to standard output")
	return cmd
}

var errTLSOff = errors.New("TLS is off, so there is nothing to trust; turn it on in app.yaml: tls: auto")

// certificate requests it from the running service, or reads the files if none is running.
func (e *env) certificate() (*certificate, error) {
	h, err := control.Client(e.dataDir)
	switch {
	case err == nil:
		defer h.CloseIdleConnections()
		var status struct {
			Certificate *certificate `json:"certificate"`
		}
		if err := (&client{http: h}).call(http.MethodGet, "/local/status", nil, nil, &status); err != nil {
			return nil, err
		}
		if status.Certificate == nil {
			return nil, errTLSOff
		}
		return status.Certificate, nil
	case !errors.Is(err, control.ErrNotRunning):
		return nil, err
	}
	cfg, err := config.Load(e.dataDir, e.getenv)
	if err != nil {
		return nil, err
	}
	found, err := app.CertificateOf(cfg)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, errTLSOff
	}
	b, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	c := new(certificate)
	return c, json.Unmarshal(b, c)
}

// print writes the fingerprint and the addresses for people.
func (c *certificate) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name string, values ...string) {
		for _, value := range values {
			fmt.Fprintf(t, "%s\t%s\n", name, value)
			name = ""
		}
	}
	fingerprint := inParts(c.Fingerprint)
	if a := c.Authority; a != nil {
		line("Certificate authority", a.Name)
		line("SHA-256 fingerprint", fingerprint...)
		line("It lasts until", day(a.EndsAt))
	} else {
		line("Certificate", "brought by the plant")
		line("SHA-256 fingerprint", fingerprint...)
	}
	if c.EndsAt != "" {
		line("Certificate in use", "until "+day(c.EndsAt)+", for "+strings.Join(slices.DeleteFunc(c.Hosts, localHost), ", "))
	}
	if c.Authority != nil {
		line("Trust page", c.Authority.Pages...)
	}
	t.Flush()
	for _, problem := range c.Problems {
		fmt.Fprintln(w, "Problem:", problem)
	}
	if c.Authority != nil {
		fmt.Fprintln(w, "\nOpen the trust page on each device. Trust the authority only where the device shows this fingerprint.")
	}
}

// inParts formats a fingerprint like the trust page: two lines of four groups, which are easier to compare.
func inParts(fingerprint string) []string {
	pairs := strings.Split(fingerprint, ":")
	var parts, lines []string
	for chunk := range slices.Chunk(pairs, 4) {
		parts = append(parts, strings.Join(chunk, ":"))
	}
	for chunk := range slices.Chunk(parts, 4) {
		lines = append(lines, strings.Join(chunk, "  "))
	}
	return lines
}

// localHost reports whether a name or address is not reachable from other networks, so people need not see it.
func localHost(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (addr.IsLoopback() || addr.IsLinkLocalUnicast())
}

// day returns the date of an API time.
func day(at string) string {
	date, _, _ := strings.Cut(at, "T")
	return date
}

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"rsc.io/qr"

	"opsmon/app/account"
	"opsmon/app/errdefs"
)

// maxManifest is the largest manifest, in bytes (decisions.md section 1).
const maxManifest = 32 << 20

// readFile reads a file, or standard input for "-".
func (e *env) readFile(name string) ([]byte, error) {
	in := e.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the manifest: %w", err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxManifest+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", title(name), err)
	}
	if len(b) > maxManifest {
		return nil, fmt.Errorf("%s is larger than 32 MiB, the most that a manifest may be", title(name))
	}
	return b, nil
}

// title returns the name of a manifest's file for a sentence.
func title(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

func validate(raw []byte) account.Report { return account.Validate(raw, time.Now()) }

func (e *env) manifestCommands() *cobra.Command {
	return group("manifest", "The account's configuration as one document",
		e.manifestValidate(), e.manifestApply(), e.manifestExport(), e.manifestRevisions(), e.manifestShow(), e.manifestRestore())
}

func (e *env) manifestValidate() *cobra.Command {
	return &cobra.Command{
		Use: "validate FILE", Short: "Validate a manifest file, without a service or a store", Args: cobra.ExactArgs(1),
		Example: "  app manifest validate northgate.json\n  cat northgate.json | app manifest validate -",
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := e.readFile(args[0])
			if err != nil {
				return err
			}
			report := validate(raw)
			report.Details, report.Warnings = errdefs.Cap(report.Details), errdefs.Cap(report.Warnings)
			err = e.print(report, func(w io.Writer) {
				for _, d := range report.Details {
					fmt.Fprintf(w, "error: %s\n", fieldLine(d))
				}
				for _, d := range report.Warnings {
					fmt.Fprintf(w, "warning: %s\n", fieldLine(d))
				}
				if report.Valid {
					fmt.Fprintf(w, "%s is valid.\n", title(args[0]))
				}
			})
			if err == nil && !report.Valid {
				fmt.Fprintf(e.stderr, "app: %s is not valid\n", title(args[0]))
				return errReported
			}
			return err
		},
	}
}

func (e *env) manifestApply() *cobra.Command {
	var dryRun bool
	var note string
	cmd := &cobra.Command{
		Use: "apply FILE", Short: "Apply a manifest file as the account's configuration", Args: cobra.ExactArgs(1),
		Example: "  app manifest apply northgate.json --dry-run\n  app manifest apply northgate.json --note \"line 3 added\"",
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := e.readFile(args[0])
			if err != nil {
				return err
			}
			query := url.Values{}
			if dryRun {
				query.Set("dryrun", "true")
			}
			if note != "" {
				query.Set("note", note)
			}
			return e.with(false, func(c *client) error {
				b, err := c.do(http.MethodPut, "/account/manifest", query, raw)
				if err != nil {
					return err
				}
				return e.printApplied(b, dryRun)
			})
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "check and show changes, but apply nothing")
	cmd.Flags().StringVar(&note, "note", "", "a note for the list of revisions, up to 200 characters")
	return cmd
}

// printApplied prints the result of applying a manifest.
func (e *env) printApplied(body []byte, dryRun bool) error {
	var envelope struct {
		Result account.ApplyResult `json:"result"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return fmt.Errorf("read the service's answer: %w", err)
	}
	r := envelope.Result
	return e.print(r, func(w io.Writer) {
		for _, d := range errdefs.Cap(r.Warnings) {
			fmt.Fprintf(w, "warning: %s\n", fieldLine(d))
		}
		for _, c := range r.Changes {
			switch c.Kind {
			case "added":
				fmt.Fprintf(w, "+ %s\n", c.Path)
			case "removed":
				fmt.Fprintf(w, "- %s\n", c.Path)
			default:
				fmt.Fprintf(w, "~ %s: %s -> %s\n", c.Path, oneLine(c.From), oneLine(c.To))
			}
		}
		if more := r.TotalChanges - len(r.Changes); more > 0 {
			fmt.Fprintf(w, "… and %s\n", count(more, "more change", "more changes"))
		}
		switch {
		case !r.Changed:
			fmt.Fprintf(w, "Nothing to change: revision %d has this content already.\n", r.Revision)
		case dryRun:
			fmt.Fprintf(w, "%s; nothing was changed (dry run).\n", count(r.TotalChanges, "change", "changes"))
		default:
			fmt.Fprintf(w, "%s applied as revision %d.\n", count(r.TotalChanges, "change", "changes"), r.Revision)
		}
	})
}

func oneLine(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return errdefs.ShortenTo(string(b), 80)
}

func (e *env) manifestExport() *cobra.Command {
	return &cobra.Command{
		Use: "export", Short: "Print the manifest in force", Args: cobra.NoArgs,
		Example: "  app manifest export > northgate.json",
		RunE:    func(*cobra.Command, []string) error { return e.document("/account/manifest") },
	}
}

func (e *env) manifestShow() *cobra.Command {
	return &cobra.Command{
		Use: "show REVISION", Short: "Print the manifest of a revision", Args: revisionArg,
		Example: "  app manifest show 7 > revision-7.json",
		RunE: func(_ *cobra.Command, args []string) error {
			return e.document("/account/manifest/revisions/" + args[0])
		},
	}
}

// document prints a document: unchanged for programs, indented for people.
func (e *env) document(path string) error {
	return e.with(false, func(c *client) error {
		b, err := c.do(http.MethodGet, path, nil, nil)
		if err != nil {
			return err
		}
		if !e.json {
			var out bytes.Buffer
			if err := json.Indent(&out, b, "", "  "); err != nil {
				return fmt.Errorf("read the service's answer: %w", err)
			}
			b = out.Bytes()
		}
		return e.write(append(b, '\n'))
	})
}

func revisionArg(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give the number of one revision")
	}
	if _, err := strconv.ParseUint(args[0], 10, 64); err != nil {
		return fmt.Errorf("%q is not the number of a revision", args[0])
	}
	return nil
}

func (e *env) manifestRevisions() *cobra.Command {
	limit := 100
	cmd := &cobra.Command{
		Use: "revisions", Short: "List the revisions, newest first", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.with(false, func(c *client) error {
				list := []account.RevisionInfo{}
				if err := c.call(http.MethodGet, "/account/manifest/revisions", url.Values{"limit": {strconv.Itoa(limit)}}, nil, &list); err != nil {
					return err
				}
				return e.print(list, func(w io.Writer) {
					table(w, "REVISION\tAT\tBY\tNOTE", len(list), func(i int) []any {
						return []any{list[i].Revision, list[i].CreatedAt, list[i].Author, orDash(&list[i].Note)}
					})
				})
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", limit, "maximum number of results, up to 1000")
	return cmd
}

func (e *env) manifestRestore() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: "restore REVISION", Short: "Restore the manifest of an earlier revision", Args: revisionArg,
		Example: "  app manifest restore 7 --note \"back to what ran last week\"",
		RunE: func(_ *cobra.Command, args []string) error {
			query := url.Values{}
			if note != "" {
				query.Set("note", note)
			}
			return e.with(false, func(c *client) error {
				b, err := c.do(http.MethodPost, "/account/manifest/revisions/"+args[0]+"/restore", query, nil)
				if err != nil {
					return err
				}
				return e.printApplied(b, false)
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "a note for the list of revisions, up to 200 characters")
	return cmd
}

// readDate parses a date, which means its end in UTC, or a time.
func readDate(text string) (string, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1).Add(-time.Second).Format(time.RFC3339), nil
	}
	if _, err := time.Parse(time.RFC3339, text); err == nil {
		return text, nil
	}
	return "", fmt.Errorf("--expires must be a date such as 2027-01-31 or a time such as 2027-01-31T12:00:00Z; it is %q", text)
}

// printQR draws a QR code with half blocks, dark on light in any terminal theme.
func printQR(w io.Writer, text string) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return // too long for a QR code: the link itself is printed
	}
	if p, ok := w.(printable); ok {
		w = p.w // the colours are control characters, so they bypass printable
	}
	const margin = 2
	for y := -margin; y < code.Size+margin; y += 2 {
		fmt.Fprint(w, "\x1b[30;47m")
		for x := -margin; x < code.Size+margin; x++ {
			switch top, bottom := code.Black(x, y), code.Black(x, y+1); {
			case top && bottom:
				fmt.Fprint(w, "█")
			case top:
				fmt.Fprint(w, "▀")
			case bottom:
				fmt.Fprint(w, "▄")
			default:
				fmt.Fprint(w, " ")
			}
		}
		fmt.Fprint(w, "\x1b[0m\n")
	}
}

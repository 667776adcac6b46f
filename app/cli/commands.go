package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"opsmon/app"
	"opsmon/app/errdefs"
)

func (e *env) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print version, commit and Go version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := app.BuildInfo()
			return e.print(b, func(w io.Writer) {
				commit := b.Commit
				if commit == "" {
					commit = "unknown commit"
				}
				fmt.Fprintf(w, "app %s (%s) %s %s/%s\n", b.Version, commit, b.Go, runtime.GOOS, runtime.GOARCH)
				e.warnUncheckable()
			})
		},
	}
}

func (e *env) init() *cobra.Command {
	var account newAccount
	cmd := &cobra.Command{
		Use: "init", Short: "Create the first account and its first administrator", Args: cobra.NoArgs,
		Long: `Creates the store, the first account and its first administrator, and prints an API key, once.
Without --manifest the account starts with one plant, one group and one station.`,
		Example: `  app init --domain northgate.example --email it@northgate.example
  app init --domain northgate.example --email it@northgate.example --manifest northgate.json`,
		RunE: func(*cobra.Command, []string) error {
			return account.make(e, true, "/local/init", fmt.Sprintf("\nRun the service with: app serve%s\n", e.dirFlag()))
		},
	}
	account.flags(cmd)
	return cmd
}

// require makes flags required; cobra reports missing ones as wrong usage.
func require(cmd *cobra.Command, names ...string) {
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		var missing []string
		for _, name := range names {
			if f := cmd.Flags().Lookup(name); f.Value.String() == "" {
				missing = append(missing, "--"+name)
			}
		}
		if len(missing) > 0 {
			return &usageError{cmd.CommandPath(), fmt.Errorf("%s must be given", strings.Join(missing, " and "))}
		}
		return nil
	}
}

// dirFlag returns the flag that must be added to a command to use this directory.
func (e *env) dirFlag() string {
	if e.dataDir == defaultDataDir(e.getenv) || e.dataDir == e.getenv("APP_DATA_DIR") {
		return ""
	}
	return " --data-dir " + app.Quote(e.dataDir)
}

// count formats a number with its noun in singular or plural.
func count(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

func (e *env) warnings(list []errdefs.Detail) {
	for _, d := range errdefs.Cap(list) {
		fmt.Fprintf(e.stderr, "warning: %s\n", fieldLine(d))
	}
}

// newAccount has the flags for creating an account.
type newAccount struct{ domain, email, id, manifest string }

// flags adds the flags to a command.
func (n *newAccount) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&n.domain, "domain", "", "e-mail `domain` of the account's users")
	f.StringVar(&n.email, "email", "", "e-mail address of the first administrator")
	f.StringVar(&n.id, "id", "", "account id; default: the first label of the domain")
	f.StringVar(&n.manifest, "manifest", "", "manifest `file`; - is standard input")
	require(cmd, "domain", "email")
}

// make creates the account and prints its key; hint follows in the output for people.
func (n *newAccount) make(e *env, create bool, path, hint string) error {
	in, err := e.accountBody(n.id, n.domain, n.email, n.manifest)
	if err != nil {
		return err
	}
	return e.with(create, func(c *client) error {
		var out struct {
			AccountID string           `json:"accountId"`
			Email     string           `json:"email"`
			APIKey    string           `json:"apiKey"`
			Warnings  []errdefs.Detail `json:"warnings"`
		}
		if err := c.call(http.MethodPost, path, nil, in, &out); err != nil {
			return err
		}
		e.warnings(out.Warnings)
		return e.print(map[string]string{"accountId": out.AccountID, "email": out.Email, "apiKey": out.APIKey}, func(w io.Writer) {
			fmt.Fprintf(w, "Account %s is made, with the administrator %s.\n\nAPI key (shown this once):\n\n  %s\n%s", out.AccountID, out.Email, out.APIKey, hint)
		})
	})
}

// accountBody returns the body of a request to create an account.
func (e *env) accountBody(id, domain, email, manifest string) (map[string]any, error) {
	in := map[string]any{}
	for name, v := range map[string]string{"id": id, "domain": domain, "email": email} {
		if v != "" {
			in[name] = v
		}
	}
	if manifest != "" {
		raw, err := e.readFile(manifest)
		if err != nil {
			return nil, err
		}
		if report := validate(raw); !report.Valid {
			return nil, &errdefs.Error{Kind: errdefs.Invalid, Message: title(manifest) + " has problems; nothing was made", Details: report.Details}
		}
		in["manifest"] = json.RawMessage(raw)
	}
	return in, nil
}

// accountLine is an account in lists.
type accountLine struct {
	ID         string  `json:"id"`
	Domain     string  `json:"domain"`
	Revision   uint64  `json:"revision"`
	CreatedAt  string  `json:"createdAt"`
	UpdatedAt  string  `json:"updatedAt"`
	ArchivedAt *string `json:"archivedAt"`
}

func (e *env) accountCommands() *cobra.Command {
	var archived bool
	list := &cobra.Command{
		Use: "list", Short: "List the accounts", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.with(false, func(c *client) error {
				lines := []accountLine{}
				if err := c.call(http.MethodGet, "/local/account", url.Values{"archived": {fmt.Sprint(archived)}}, nil, &lines); err != nil {
					return err
				}
				return e.print(lines, func(w io.Writer) {
					table(w, "ID\tDOMAIN\tREVISION\tUPDATED\tARCHIVED", len(lines), func(i int) []any {
						l := lines[i]
						return []any{l.ID, l.Domain, l.Revision, l.UpdatedAt, orDash(l.ArchivedAt)}
					})
				})
			})
		},
	}
	list.Flags().BoolVar(&archived, "archived", false, "list archived accounts too")
	show := &cobra.Command{
		Use: "show", Short: "Show the account's settings", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.with(false, func(c *client) error {
				var account map[string]json.RawMessage // keeps all digits of numbers
				if err := c.call(http.MethodGet, "/account", nil, nil, &account); err != nil {
					return err
				}
				delete(account, "manifest") // shown by app manifest export
				return e.print(account, func(w io.Writer) { pretty(w, account) })
			})
		},
	}
	var account newAccount
	create := &cobra.Command{
		Use: "create", Short: "Create another account", Args: cobra.NoArgs,
		Example: "  app account create --domain southmill.example --email it@southmill.example",
		RunE: func(*cobra.Command, []string) error {
			return account.make(e, false, "/local/account", "")
		},
	}
	account.flags(create)
	set := &cobra.Command{
		Use: "set KEY=VALUE", Short: "Set stationCountLimit or appUrls", Args: cobra.ExactArgs(1),
		Example: "  app account set stationCountLimit=60\n  app account set appUrls=null",
		RunE: func(cmd *cobra.Command, args []string) error {
			name, value, found := strings.Cut(args[0], "=")
			if !found {
				return &usageError{cmd.CommandPath(), fmt.Errorf("%q is not of the form KEY=VALUE", args[0])}
			}
			return e.with(false, func(c *client) error {
				var account map[string]json.RawMessage
				if err := c.call(http.MethodPost, "/local/account/set", nil, map[string]string{"name": name, "value": value}, &account); err != nil {
					return err
				}
				delete(account, "manifest")
				return e.print(account, func(w io.Writer) { fmt.Fprintf(w, "%s is now %s.\n", name, account[name]) })
			})
		},
	}
	archive := e.archive("archive", "Archive the account: its keys still read, nothing can be changed", "archived")
	unarchive := e.archive("unarchive", "Bring an archived account back", "active again")
	return group("account", "The accounts of this appliance", list, show, create, set, archive, unarchive)
}

func (e *env) archive(name, short, state string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		Example: "  app account " + name + " --account northgate",
		RunE: func(*cobra.Command, []string) error {
			return e.with(false, func(c *client) error {
				var line accountLine
				if err := c.call(http.MethodPost, "/local/account/"+name, nil, nil, &line); err != nil {
					return err
				}
				return e.print(line, func(w io.Writer) { fmt.Fprintf(w, "Account %s is %s.\n", line.ID, state) })
			})
		},
	}
}

// table writes rows below a heading, or a note that the table is empty.
func table(w io.Writer, heading string, rows int, row func(int) []any) {
	if rows == 0 {
		fmt.Fprintln(w, "None.")
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, heading)
	for i := range rows {
		for j, cell := range row(i) {
			if j > 0 {
				fmt.Fprint(t, "\t")
			}
			fmt.Fprint(t, cell)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func orDash(s *string) string {
	if s == nil || *s == "" {
		return "-"
	}
	return *s
}

func pretty(w io.Writer, v any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v) // decoded JSON can be encoded
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// roles are the values of --role, highest first.
var roles = []string{"admin", "member", "supervisor", "operator", "readonly"}

func checkRole(cmd *cobra.Command, role string) error {
	if !slices.Contains(roles, role) {
		return &usageError{cmd.CommandPath(), fmt.Errorf("%q is not a role; the roles are %s", role, strings.Join(roles, ", "))}
	}
	return nil
}

// one is the check of a command with one argument.
func one(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return fmt.Errorf("give one %s", what)
		}
		return nil
	}
}

// keyID checks that the argument is a key's ID and not its secret.
func keyID(cmd *cobra.Command, args []string) error {
	if err := one("key id; app key list shows them")(cmd, args); err != nil {
		return err
	}
	if strings.HasPrefix(args[0], "opk_") {
		return errors.New("this is a key itself and not its id: other users of this machine may have seen it now; find its id with app key list and revoke it")
	}
	return nil
}

// user is a member of an account.
type user struct {
	Email     string `json:"email"`
	Role      string `json:"role"`
	CreatedAt string `json:"createdAt"`
}

// lister returns a command that lists the items at a path, one for each row.
func lister[T any](e *env, short, path, heading string, row func(T) []any) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: short, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return e.with(false, func(c *client) error {
				all := []T{}
				if err := c.call(http.MethodGet, path, nil, nil, &all); err != nil {
					return err
				}
				return e.print(all, func(w io.Writer) { table(w, heading, len(all), func(i int) []any { return row(all[i]) }) })
			})
		},
	}
}

// remove deletes the item with an ID below a path. done is its JSON output, said its output for people.
func (e *env) remove(path, done, id, said string) error {
	return e.with(false, func(c *client) error {
		if err := c.call(http.MethodDelete, path+url.PathEscape(id), nil, nil, nil); err != nil {
			return err
		}
		return e.print(map[string]string{done: id}, func(w io.Writer) { fmt.Fprintln(w, said) })
	})
}

// setUser adds a user or changes a user's role.
func (e *env) setUser(method, path string, body map[string]string) error {
	return e.with(false, func(c *client) error {
		var u user
		if err := c.call(method, path, nil, body, &u); err != nil {
			return err
		}
		return e.print(u, func(w io.Writer) { fmt.Fprintf(w, "%s is now %s.\n", u.Email, u.Role) })
	})
}

func (e *env) userCommands() *cobra.Command {
	var role string
	add := &cobra.Command{
		Use: "add EMAIL", Short: "Add a user", Args: one("e-mail address"),
		Example: "  app user add shift.lead@northgate.example --role supervisor",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkRole(cmd, role); err != nil {
				return err
			}
			return e.setUser(http.MethodPost, "/user", map[string]string{"email": args[0], "role": role})
		},
	}
	add.Flags().StringVar(&role, "role", "", "admin, member, supervisor, operator or readonly")
	require(add, "role")
	list := lister(e, "List the users", "/user", "EMAIL\tROLE\tADDED", func(u user) []any { return []any{u.Email, u.Role, u.CreatedAt} })
	change := &cobra.Command{
		Use: "role EMAIL ROLE", Short: "Change a user's role", ValidArgsFunction: completeRole, Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 || args[0] == "" {
				return errors.New("give one e-mail address and one role")
			}
			return nil
		},
		Example: "  app user role shift.lead@northgate.example member",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkRole(cmd, args[1]); err != nil {
				return err
			}
			return e.setUser(http.MethodPut, "/user/"+url.PathEscape(args[0]), map[string]string{"role": args[1]})
		},
	}
	remove := &cobra.Command{
		Use: "remove EMAIL", Short: "Remove a user and end their keys and sessions", Args: one("e-mail address"),
		Example: "  app user remove shift.lead@northgate.example",
		RunE: func(_ *cobra.Command, args []string) error {
			return e.remove("/user/", "removed", args[0], args[0]+" is removed.")
		},
	}
	return group("user", "The users of an account", add, change, list, remove)
}

// key is an API key without its secret.
type key struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"`
	Email      string  `json:"email"`
	Role       string  `json:"role"`
	CreatedAt  string  `json:"createdAt"`
	LastUsedAt *string `json:"lastUsedAt"`
	ExpiresAt  *string `json:"expiresAt"`
}

func (e *env) keyCommands() *cobra.Command {
	list := lister(e, "List the API keys, without their secrets", "/key", "ID\tNAME\tUSER\tROLE\tCREATED\tLAST USED\tEXPIRES", func(k key) []any {
		return []any{k.ID, orDash(&k.Name), k.Email, k.Role, k.CreatedAt, orDash(k.LastUsedAt), orDash(k.ExpiresAt)}
	})
	revoke := &cobra.Command{
		Use: "revoke ID", Short: "Revoke an API key by its id", Args: keyID,
		Long: `Revokes an API key by its id, which "app key list" shows. The key itself is never typed on a command line, where other
users of the machine could see it.`,
		Example: "  app key revoke 6clvhkpv7nfx",
		RunE: func(_ *cobra.Command, args []string) error {
			return e.remove("/key/", "revoked", args[0], "The key is revoked.")
		},
	}
	return group("key", "The API keys of an account", e.createKey(), list, revoke)
}

func (e *env) createKey() *cobra.Command {
	var email, role, name, expires string
	create := &cobra.Command{
		Use: "create", Short: "Create an API key; it is printed once", Args: cobra.NoArgs,
		Example: "  app key create --email it@northgate.example --role readonly --name dashboard --expires 2027-01-31",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if role != "" {
				if err := checkRole(cmd, role); err != nil {
					return err
				}
			}
			in := map[string]string{"email": email}
			for field, v := range map[string]string{"role": role, "name": name} {
				if v != "" {
					in[field] = v
				}
			}
			if expires != "" {
				at, err := readDate(expires)
				if err != nil {
					return &usageError{cmd.CommandPath(), err}
				}
				in["expiresAt"] = at
			}
			return e.with(false, func(c *client) error {
				var out struct {
					ID  string `json:"id"`
					Key string `json:"key"`
				}
				if err := c.call(http.MethodPost, "/local/key", nil, in, &out); err != nil {
					return err
				}
				return e.print(out, func(w io.Writer) {
					fmt.Fprintf(w, "API key %s of %s (shown this once):\n\n  %s\n", out.ID, email, out.Key)
				})
			})
		},
	}
	f := create.Flags()
	f.StringVar(&email, "email", "", "e-mail address of the user that the key acts for")
	f.StringVar(&role, "role", "", "role of the key, at most the user's; default: the user's")
	f.StringVar(&name, "name", "", "description of the key")
	f.StringVar(&expires, "expires", "", "`date` (2027-01-31: its end in UTC) or time (2027-01-31T12:00:00Z) of expiry")
	require(create, "email")
	return create
}

// device is a credential that sends signals, with its state.
type device struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	StationCodes     []string `json:"stationCodes"`
	CreatedAt        string   `json:"createdAt"`
	LastSeenAt       *string  `json:"lastSeenAt"`
	Accepted         uint64   `json:"accepted"`
	Refused          uint64   `json:"refused"`
	Throttled        uint64   `json:"throttled"`
	SignalsPerSecond float64  `json:"signalsPerSecond"`
	ClockAheadMs     int64    `json:"clockAheadMs"`
	LastIssue        *string  `json:"lastIssue"`
	LastIssueAt      *string  `json:"lastIssueAt"`
	Connections      int      `json:"connections"`
}

func (e *env) deviceCommands() *cobra.Command {
	var stations string
	add := &cobra.Command{
		Use: "add NAME", Short: "Add a device; its token is printed once", Args: one("name"),
		Long: `Adds a device: a credential that may only send signals of the given stations. For MQTT its id is the user name and its
token the password, on the topics v1/ACCOUNT/signals/STATION; for HTTP the token goes into X-API-KEY.`,
		Example: "  app device add press-gateway --stations PRESS-1,PRESS-2",
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(false, func(c *client) error {
				var out struct {
					ID    string `json:"id"`
					Token string `json:"token"`
				}
				if err := c.call(http.MethodPost, "/device", nil, map[string]any{"name": args[0], "stationCodes": strings.Split(stations, ",")}, &out); err != nil {
					return err
				}
				return e.print(out, func(w io.Writer) {
					fmt.Fprintf(w, "Device %s. Its token (shown this once):\n\n  %s\n", out.ID, out.Token)
				})
			})
		},
	}
	add.Flags().StringVar(&stations, "stations", "", "`codes` of its stations, separated by commas")
	require(add, "stations")
	list := lister(e, "List the devices, without their tokens", "/device",
		"NAME\tSTATIONS\tLAST SEEN\tCONNECTED\tACCEPTED\tREFUSED\tPER SECOND\tCLOCK AHEAD\tLAST PROBLEM", func(d device) []any {
			return []any{d.Name, strings.Join(d.StationCodes, ","), orDash(d.LastSeenAt), d.Connections, d.Accepted, d.Refused, d.SignalsPerSecond,
				(time.Duration(d.ClockAheadMs) * time.Millisecond).Round(time.Second), orDash(d.LastIssue)}
		})
	revoke := &cobra.Command{
		Use: "revoke NAME", Short: "Revoke a device; its connections end at once", Args: one("name; app device list shows them"),
		Example: "  app device revoke press-gateway",
		RunE: func(_ *cobra.Command, args []string) error {
			return e.remove("/device/", "revoked", args[0], args[0]+" is revoked.")
		},
	}
	return group("device", "The devices that send signals", add, list, revoke)
}

func (e *env) loginLink() *cobra.Command {
	var code string
	cmd := &cobra.Command{
		Use: "login-link [EMAIL]", Short: "Print a one-time sign-in link",
		Long: `Prints a one-time sign-in link that works for 15 minutes: for an e-mail address, or with --code for the sign-in for which
a browser waits. Compare the five digits with those on that screen before you hand over the link.`,
		Example: "  app login-link it@northgate.example\n  app login-link --code 12345",
		Args: func(_ *cobra.Command, args []string) error {
			if (len(args) == 1 && args[0] != "") == (code != "") || len(args) > 1 {
				return fmt.Errorf("give either an e-mail address or --code NNNNN")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			in := map[string]string{"code": code}
			if code == "" {
				in = map[string]string{"email": args[0]}
			}
			return e.with(false, func(c *client) error {
				return c.printLink(e, "/local/login-link", in, "Sign-in of %s as %s to %s")
			})
		},
	}
	cmd.Flags().StringVar(&code, "code", "", "the five digits that the waiting browser shows")
	return cmd
}

// printLink requests a one-time link and prints it; heading describes the link, its user, role and account.
func (c *client) printLink(e *env, path string, in map[string]string, heading string) error {
	var out struct {
		Link      string `json:"link"`
		Code      string `json:"code"`
		ExpiresAt string `json:"expiresAt"`
		Email     string `json:"email"`
		Role      string `json:"role"`
		Account   string `json:"account"`
		From      string `json:"from"`
	}
	if err := c.call(http.MethodPost, path, nil, in, &out); err != nil {
		return err
	}
	return e.print(out, func(w io.Writer) {
		fmt.Fprintf(w, heading, out.Email, out.Role, out.Account)
		if out.From != "" {
			fmt.Fprintf(w, ", asked for from %s", out.From)
		}
		fmt.Fprintf(w, "\nCode   %s\nUntil  %s\nLink   %s\n\n", out.Code, out.ExpiresAt, out.Link)
		printQR(w, out.Link)
	})
}

func (e *env) resetAdmin() *cobra.Command {
	return &cobra.Command{
		Use: "reset-admin EMAIL", Short: "Make a person administrator and print a one-time sign-in link",
		Long: `For an account in which nobody can sign in as an administrator. The address becomes an administrator of the account; it
is added if necessary. Its sessions and pending sign-ins end, its API keys stay, and a sign-in link is printed that works
once, for 15 minutes. The audit records this.`,
		Example: "  app reset-admin it@northgate.example",
		Args:    one("e-mail address"),
		RunE: func(_ *cobra.Command, args []string) error {
			return e.with(false, func(c *client) error {
				return c.printLink(e, "/local/reset-admin", map[string]string{"email": args[0]}, "%s is now %s of %s; earlier sessions have ended")
			})
		},
	}
}

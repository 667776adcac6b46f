package cli

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"opsmon/app/host/config"
)

var update = flag.Bool("update", false, "write packaging/plant-it/reference.md")

// setting is a row of the reference: the meaning of a setting, and its default in words if the value is not clear
// enough.
type setting struct{ meaning, fallback string }

// settingRows has the settings in the order of the reference. TestReference fails if one is missing.
var settingRows = []struct {
	name string
	setting
}{
	{"listen", setting{"address and port of HTTP; `:8443` is every address of the machine", ""}},
	{"url", setting{"address at which people reach the service; one-time links begin with it", "made from `listen`, or the first address on the network"}},
	{"tls", setting{"`off`; `auto`: certificates of the appliance's own authority; or the files of a certificate and its key: `CERT,KEY`. New files are read within seconds", ""}},
	{"clearListen", setting{"address and port without TLS, only for the trust page and redirects to HTTPS", "none"}},
	{"name", setting{"the appliance answers to `<name>.local`; it must differ from the machine's own name", ""}},
	{"mdns", setting{"answer to `<name>.local` when the service listens beyond loopback", ""}},
	{"insecureHttp", setting{"listen beyond loopback without TLS", ""}},
	{"logLevel", setting{"`debug`, `info`, `warn` or `error`", ""}},
	{"hostNames", setting{"further names and addresses by which browsers may reach the service, separated by commas: `mes.plant.example,*.line.example`", "none"}},
	{"maxConnections", setting{"HTTP connections at the same time; one address may have a quarter of them", ""}},
	{"auditDays", setting{"days for which audit records are retained, 30 or more; an account has at most a million", ""}},
	{"mqtt.listen", setting{"address and port for MQTT over TLS, with the certificate of `tls`", "none; `:8883` when installed"}},
	{"mqtt.insecure.networks", setting{"networks whose devices may use MQTT without TLS, separated by commas: `10.1.7.0/24`", "none"}},
	{"mqtt.insecure.listen", setting{"address and port for MQTT without TLS", "`:1883` if `mqtt.insecure.networks` is set, else none"}},
	{"mqtt.topics", setting{"further topic templates, separated by commas: `plant/+/{station}/data`. A level is text, `+`, `{account}` or `{station}`", "none"}},
	{"mqtt.maxConnections", setting{"MQTT connections at the same time; one address may have a quarter of them", ""}},
	{"mqtt.maxPerDevice", setting{"MQTT connections of one device at the same time", ""}},
	{"plantBroker.url", setting{"the plant's own MQTT broker: `mqtts://host:8883` or `mqtt://host:1883`", "none"}},
	{"plantBroker.ca", setting{"PEM file of the authority that signed the broker's certificate", "the machine's authorities"}},
	{"plantBroker.username", setting{"user name at the broker", "none"}},
	{"plantBroker.passwordFile", setting{"file whose first line is the password", "none"}},
	{"plantBroker.clientId", setting{"client id; the broker queues messages for it while the service is away", "`name`"}},
	{"plantBroker.topics", setting{"topic filters to subscribe to, separated by commas", "none"}},
	{"plantBroker.template", setting{"topic template with `{station}`, which finds the station of a message", "none"}},
	{"plantBroker.mapping", setting{"JSONata that makes a signal, or an array of signals, from a message; it can use `$topic` and `$station`", "none"}},
	{"plantBroker.account", setting{"account of the signals", "the only account"}},
	{"signals.days", setting{"days for which signals are retained", ""}},
	{"signals.perSecond", setting{"signals per second from one device or key, with bursts of twice as many; above that the sender gets 429 or has to wait", ""}},
	{"signals.aliveMinutes", setting{"minutes without a sign of life, 1 to 60, after which a station is disconnected; nothing is known from the last sign on. A change does not affect what was calculated before, unless late signals cause it to be calculated again", ""}},
	{"signals.spreadMinutes", setting{"minutes, 1 to 60. If stops are found from production, the units of one signal are spread evenly over the time since the station's previous count signal, if that is at most this long. Counts stay at their signal", ""}},
	{"windows.days", setting{"days for which results calculated from signals are retained, and operators' entries with them; schedules are retained for `signals.days` and `windows.days` together", ""}},
	{"memory.limit", setting{"MiB of memory that the service keeps to by collecting garbage more often. Pages of the store's file come on top; the system takes them back when it needs memory", "a quarter of the memory of the machine or its control group, 256 to 2048"}},
	{"backup.dir", setting{"folder of the backups, also on a mounted share; it must exist unless it is the default", "`backups` in the data directory"}},
	{"backup.at", setting{"time of day of scheduled backups, by the machine's clock", ""}},
	{"backup.every", setting{"days between scheduled backups; 0 turns them off", ""}},
	{"backup.keepDaily", setting{"days of which the newest scheduled backup is retained", ""}},
	{"backup.keepWeekly", setting{"weeks of which the newest scheduled backup is retained", ""}},
	{"backup.keepMonthly", setting{"months of which the newest scheduled backup is retained", ""}},
	{"backup.maxBytes", setting{"bytes of all scheduled backups together", "no limit"}},
	{"backup.passphraseFile", setting{"file whose first line, of at least 12 characters, encrypts scheduled backups. A shorter one is still used and reported as a problem", "not encrypted"}},
	{"smtp.host", setting{"mail server that delivers sign-in links", "no mail"}},
	{"smtp.port", setting{"port of the mail server", ""}},
	{"smtp.username", setting{"user name at the mail server", "none"}},
	{"smtp.password", setting{"password at the mail server", "none"}},
	{"smtp.from", setting{"sender of the mails", "none"}},
	{"smtp.tls", setting{"`starttls`, `tls` or `none`", ""}},
}

// TestReference compares packaging/plant-it/reference.md with the settings and the commands; -update writes the file.
func TestReference(t *testing.T) {
	text := reference(t)
	file := filepath.Join("..", "..", "packaging", "plant-it", "reference.md")
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(committed, []byte("\r\n"), []byte("\n")), text) {
		t.Errorf("%s is out of date; write it with: go test ./app/cli -run TestReference -update", file)
	}
}

func reference(t *testing.T) []byte {
	t.Helper()
	e := &env{getenv: func(string) string { return "" }}
	root := e.root()
	var b bytes.Buffer
	b.WriteString(`# Settings and commands

This file is generated: ` + "`go test ./app/cli -run TestReference -update`" + `.

## Settings

A flag of ` + "`app serve`" + ` takes precedence over an environment variable, that over ` + "`app.yaml`" + ` in the data directory, and that over the
default. An unknown key in the file is an error. Relative paths in the file are relative to its folder. A name with a dot is nested
in the file: ` + "`smtp.host`" + ` is ` + "`host:`" + ` below ` + "`smtp:`" + `. A change applies after ` + "`app restart`" + `.

| ` + "`app.yaml`" + ` | environment | flag | default | meaning |
|---|---|---|---|---|
| (none) | ` + "`APP_DATA_DIR` | `--data-dir` | `/var/lib/app`, `%ProgramData%\\app`" + ` | directory of the store and ` + "`app.yaml`" + ` |
`)
	root.PersistentFlags().Lookup("data-dir").DefValue = "" // the system's default, which is in the table
	flags := serveFlags(t, root)
	defaults := settingsOf(reflect.ValueOf(config.Defaults()), "")
	for _, row := range settingRows {
		value, ok := defaults[row.name]
		if !ok {
			t.Errorf("the reference has the setting %s, which does not exist", row.name)
			continue
		}
		delete(defaults, row.name)
		fallback := row.fallback
		if fallback == "" {
			fallback = "`" + fmt.Sprint(value) + "`"
		}
		variable := variableOf(row.name)
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", row.name, variable, flags[variable], fallback, row.meaning)
		if row.fallback == "" && value.IsZero() && value.Kind() == reflect.String {
			t.Errorf("the reference shows an empty default of %s", row.name)
		}
		isRead(t, row.name, variable, value)
	}
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		t.Errorf("the reference lacks the setting %s", name)
	}
	b.WriteString(`
## Commands

Commands work in the same way whether the service runs or not. While it runs they reach it over a socket in the data directory (a named
pipe on Windows), which only root or an administrator, and the user of the service, can use.

Exit status: 0 success; 1 failure, with a message on standard error that says what failed, why, and what to do; 2 wrong usage.

These flags work with every command:

`)
	code(&b, flagsText(root.PersistentFlags()))
	for _, cmd := range root.Commands() {
		commandText(&b, cmd)
	}
	return b.Bytes()
}

// settingsOf returns the fields of a configuration by the names of their settings.
func settingsOf(v reflect.Value, prefix string) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := field.Tag.Get("yaml")
		switch {
		case field.Anonymous:
			maps.Copy(all, settingsOf(v.Field(i), prefix))
		case name == "" || name == "-":
		case v.Field(i).Kind() == reflect.Struct:
			maps.Copy(all, settingsOf(v.Field(i), prefix+name+"."))
		default:
			all[prefix+name] = v.Field(i)
		}
	}
	return all
}

// variableOf returns the environment variable of a setting: APP_SMTP_HOST for smtp.host.
func variableOf(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r == '.' || unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		if r != '.' {
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return "APP_" + b.String()
}

// isRead checks that an environment variable changes a setting.
func isRead(t *testing.T, name, variable string, before reflect.Value) {
	t.Helper()
	other := "other"
	switch before.Kind() {
	case reflect.Int:
		other = fmt.Sprint(before.Int() + 1)
	case reflect.Bool:
		other = fmt.Sprint(!before.Bool())
	}
	cfg, err := config.Load(t.TempDir(), func(asked string) string {
		if asked == variable {
			return other
		}
		return ""
	})
	if err != nil {
		t.Errorf("%s=%s: %v", variable, other, err)
	} else if got := fmt.Sprint(settingsOf(reflect.ValueOf(cfg), "")[name]); got != other {
		t.Errorf("%s=%s leaves %s at %s", variable, other, name, got)
	}
}

// serveFlags returns the flags of app serve by the environment variables in their help.
func serveFlags(t *testing.T, root *cobra.Command) map[string]string {
	t.Helper()
	serve, _, err := root.Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	serve.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if _, variable, found := strings.Cut(f.Usage, "also "); found {
			all[variable] = "`--" + f.Name + "`"
		} else if !f.Hidden {
			t.Errorf("the help of serve --%s names no environment variable", f.Name)
		}
	})
	return all
}

// commandText writes a command and its subcommands.
func commandText(b *bytes.Buffer, cmd *cobra.Command) {
	if cmd.Hidden {
		return
	}
	if !cmd.HasSubCommands() || cmd.Example != "" { // others only have subcommands
		fmt.Fprintf(b, "\n### %s\n\n%s.\n", cmd.CommandPath(), strings.TrimSuffix(cmd.Short, "."))
		if cmd.Long != "" {
			fmt.Fprintf(b, "\n%s\n", cmd.Long)
		}
		b.WriteByte('\n')
		text := cmd.UseLine() + "\n"
		if flags := flagsText(cmd.LocalNonPersistentFlags()); flags != "" {
			text += "\n" + flags
		}
		if cmd.Example != "" {
			text += "\nExamples:\n" + cmd.Example + "\n"
		}
		code(b, text)
	}
	for _, sub := range cmd.Commands() {
		commandText(b, sub)
	}
}

// flagsText returns the help of flags without defaults that depend on the computer.
func flagsText(flags *pflag.FlagSet) string {
	var b strings.Builder
	for line := range strings.Lines(flags.FlagUsagesWrapped(110)) {
		if !strings.Contains(line, "-h, --help") {
			b.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
	}
	return b.String()
}

func code(b *bytes.Buffer, text string) { b.WriteString("```text\n" + text + "```\n") }

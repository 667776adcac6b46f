//go:build rig

package install_test

import (
	"encoding/json"
	"testing"

	"opsmon/app/host/doctor"
	"opsmon/app/test/apptest"
)

// onNetwork connects the machine to an isolated network.
func onNetwork(t *testing.T, m plantPC) {
	m.Must(t, "sh", "-c", "ip link add lan0 type veth peer name lan1 && ip link set lan1 up && ip link set lan0 up && ip addr add 10.77.0.2/24 dev lan0")
}

// examine runs app doctor on the machine and returns its findings by check.
func (m plantPC) examine(t *testing.T) map[string][]doctor.Finding {
	t.Helper()
	out, stderr, status := m.Run(t.Context(), nil, "app", "doctor", "--json")
	var list []doctor.Finding
	if err := json.Unmarshal([]byte(out), &list); err != nil || status > 1 {
		t.Fatalf("app doctor: status %d, %v, %s%s", status, err, out, stderr)
	}
	found := map[string][]doctor.Finding{}
	for _, f := range list {
		if !f.OK && status == 0 {
			t.Errorf("status 0 with %+v", f)
		}
		found[f.Check] = append(found[f.Check], f)
	}
	return found
}

// examined: an installed service has no findings, and the doctor's commands fix problems when they are typed.
func examined(t *testing.T, m plantPC) {
	found := m.examine(t)
	for _, check := range []string{"service", "settings", "port", "rights", "certificate"} {
		for _, f := range found[check] {
			if !f.OK {
				t.Errorf("%+v", f)
			}
		}
	}
	t.Logf("the rest: %+v %+v %+v", found["firewall"], found["clock"], found["names"])
	for _, ill := range []struct {
		check string
		harm  []string
	}{
		{"service", []string{"systemctl", "disable", "app"}},
		{"rights", []string{"chown", "root:", "/var/lib/app/app.db"}},
		{"rights", []string{"chmod", "o+rx", "/var/lib/app", "/var/lib/app/tls", "/var/lib/app/tls/ca.key"}},
		{"service", []string{"systemctl", "stop", "app"}},
	} {
		m.Must(t, ill.harm...)
		found := m.examine(t)[ill.check]
		if len(found) != 1 || found[0].OK {
			t.Errorf("after %v: %+v", ill.harm, found)
		}
		for _, f := range found {
			m.Must(t, "sh", "-c", f.Fix)
		}
		apptest.Eventually(t, "what mends "+ill.check, func() bool { return m.examine(t)[ill.check][0].OK })
	}
	m.Must(t, "chmod", "700", "/var/lib/app", "/var/lib/app/tls")
}

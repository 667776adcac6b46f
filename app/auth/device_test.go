package auth

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opsmon/app/errdefs"
)

func (f *fixture) device(p Principal, name string, stations ...string) (Device, string) {
	f.t.Helper()
	d, token, err := f.AddDevice(p, DeviceInput{Name: name, StationCodes: stations})
	f.want(err, none)
	return d, f.hide(token)
}

// TestDevice checks that a device's token is valid until it is revoked, also after a restart.
func TestDevice(t *testing.T) {
	f := newFixture(t)
	d, token := f.device(f.admin, "Gateway_1", "F1", "F2")
	if d.ID != plantA+"/Gateway_1" {
		t.Errorf("its id is %s", d.ID)
	}
	for range 2 {
		p, err := f.AuthenticateDevice(token)
		f.want(err, none)
		want := Principal{Type: TypeDevice, AccountID: plantA, UserRole: UserRoleCustomer, DeviceID: d.ID, StationCodes: []string{"F1", "F2"}}
		if diff := cmp.Diff(want, p); diff != "" {
			t.Error(diff)
		}
		if got := p.Actor().Credential; got != "device:"+d.ID {
			t.Errorf("its actor is %s", got)
		}
		f.restart()
	}
	p, err := f.AuthenticateDevice(token)
	f.want(err, none)
	// It may do nothing that needs a role.
	_, _, err = f.CreateKey(p, KeyInput{})
	f.want(err, errdefs.Forbidden)
	_, err = f.ListKeys(p)
	f.want(err, errdefs.Forbidden)
	_, err = f.ListDevices(p)
	f.want(err, errdefs.Forbidden)
	if p.Role.AtLeast(Readonly) {
		t.Error("it has a role")
	}
	_, err = f.AuthenticateKey(token)
	f.want(err, errdefs.Unauthorized)

	list, err := f.ListDevices(f.admin)
	f.want(err, none)
	if diff := cmp.Diff([]Device{d}, list); diff != "" {
		t.Error(diff)
	}
	f.accounts.archive(plantA, true)
	_, err = f.AuthenticateDevice(token)
	f.want(err, errdefs.Unauthorized)
	f.accounts.archive(plantA, false)

	var told []string
	f.OnDeviceRevoked(func(id string) { told = append(told, id) })
	f.want(f.RevokeDevice(f.admin, strings.ToUpper("gateway_1")), none)
	if diff := cmp.Diff([]string{d.ID}, told); diff != "" {
		t.Error(diff)
	}
	_, err = f.AuthenticateDevice(token)
	f.want(err, errdefs.Unauthorized)
	f.restart()
	_, err = f.AuthenticateDevice(token)
	f.want(err, errdefs.Unauthorized)
	f.want(f.RevokeDevice(f.admin, d.ID), errdefs.NotFound)
	if got := len(f.audited(plantA, "device.add")) + len(f.audited(plantA, "device.revoke")); got != 2 {
		t.Errorf("%d audit records, want 2", got)
	}
}

func TestDeviceInput(t *testing.T) {
	f := newFixture(t)
	many := make([]string, maxTabletStations+1)
	for i := range many {
		many[i] = strings.Repeat("S", i%30+1) + string(rune('A'+i/30%26)) + string(rune('0'+i/780))
	}
	for _, c := range []struct {
		in     DeviceInput
		fields []string
	}{
		{DeviceInput{}, []string{"name", "stationCodes"}},
		{DeviceInput{Name: "a/b", StationCodes: []string{"F1"}}, []string{"name"}},
		{DeviceInput{Name: strings.Repeat("a", 65), StationCodes: []string{"F1"}}, []string{"name"}},
		{DeviceInput{Name: "+", StationCodes: []string{"F1"}}, []string{"name"}},
		{DeviceInput{Name: "a", StationCodes: []string{"F1", "F/2", "F1"}}, []string{"stationCodes[1]", "stationCodes[2]"}},
		{DeviceInput{Name: "a", StationCodes: many}, []string{"stationCodes"}},
	} {
		_, _, err := f.AddDevice(f.admin, c.in)
		f.wantField(err, c.fields...)
	}
	f.device(f.admin, strings.Repeat("a", 64), many[:maxTabletStations]...)
	f.device(f.admin, "gw", "F1")
	_, _, err := f.AddDevice(f.admin, DeviceInput{Name: "GW", StationCodes: []string{"F1"}})
	f.want(err, errdefs.Conflict)
	for role, p := range f.everyRole() {
		want := errdefs.Forbidden
		if role == Admin {
			want = none
		}
		_, token, err := f.AddDevice(p, DeviceInput{Name: string(role), StationCodes: []string{"F1"}})
		f.want(err, want)
		if err == nil {
			f.hide(token)
		}
		_, err = f.ListDevices(p)
		f.want(err, want)
		if role != Admin {
			f.want(f.RevokeDevice(p, "gw"), errdefs.Forbidden)
		}
	}
}

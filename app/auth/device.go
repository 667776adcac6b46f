package auth

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// Device is a credential that may only send signals of its stations (monitoring.md section 2).
type Device struct {
	ID           string       `json:"id"` // <account>/<name>
	Name         string       `json:"name"`
	StationCodes []string     `json:"stationCodes"` // stations whose signals it may send
	CreatedAt    instant.Time `json:"createdAt"`
}

// DeviceInput describes a new device.
type DeviceInput struct {
	// 1 to 64 letters, digits, hyphens and underscores; unique in the account, ignoring case.
	Name         string   `json:"name"`
	StationCodes []string `json:"stationCodes"` // at least one. The caller checks that they exist
}

// deviceRecord is one device. It is stored: a changed field needs a migration.
type deviceRecord struct {
	Hash         []byte       `json:"hash"` // SHA-256 of its token, 32 bytes
	Name         string       `json:"name"`
	StationCodes []string     `json:"stationCodes"`
	CreatedAt    instant.Time `json:"createdAt"`
}

// devices is keyed by the account and the name in lower case.
var devices = kv.NewBucket("authDevice", kv.PairOf(kv.String, kv.String), kv.JSON[deviceRecord]())

// liveDevice must not be changed once it is in memory.
type liveDevice struct {
	at        place
	hash      [32]byte
	principal Principal
}

func (r deviceRecord) device(at place) Device {
	return Device{ID: at.A + "/" + r.Name, Name: r.Name, StationCodes: append([]string{}, r.StationCodes...), CreatedAt: r.CreatedAt}
}

func (r deviceRecord) live(at place) *liveDevice {
	return &liveDevice{at: at, hash: [32]byte(r.Hash), principal: Principal{
		Type: TypeDevice, AccountID: at.A, UserRole: UserRoleCustomer, DeviceID: at.A + "/" + r.Name, StationCodes: r.StationCodes,
	}}
}

// Check validates the input independent of the caller: Invalid (name, stationCodes[n]).
func (in DeviceInput) Check() error {
	var details []errdefs.Detail
	if !isDeviceName(in.Name) {
		details = append(details, errdefs.Detail{Field: "name", Issue: "must be 1 to 64 letters, digits, hyphens and underscores"})
	}
	details = append(details, stationIssues(in.StationCodes)...)
	return errdefs.InvalidDetails("the device", errdefs.Cap(details))
}

// isDeviceName excludes characters with a meaning in topics, paths and user names.
func isDeviceName(s string) bool {
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && s[i] != '-' && s[i] != '_' {
			return false
		}
	}
	return 1 <= len(s) && len(s) <= maxName
}

// stationIssues validates a list of station codes that must not be empty.
func stationIssues(codes []string) (details []errdefs.Detail) {
	switch n := len(codes); {
	case n > maxTabletStations:
		return []errdefs.Detail{{Field: "stationCodes", Issue: fmt.Sprintf("must have %d items or fewer; it has %d", maxTabletStations, n)}}
	case n == 0:
		return []errdefs.Detail{{Field: "stationCodes", Issue: "must name at least one station"}}
	}
	for i, code := range codes {
		field := fmt.Sprintf("stationCodes[%d]", i)
		if !isStationCode(code) {
			details = append(details, errdefs.Detail{Field: field, Issue: "must be a station's code"})
		} else if slices.Index(codes, code) < i {
			details = append(details, errdefs.Detail{Field: field, Issue: "must not be there twice"})
		}
	}
	return details
}

// AddDevice adds a device and returns its token, which is not shown again. Requires admin. Errors: Invalid (name,
// stationCodes[n]), Forbidden, Conflict for a name in use and on an archived account.
func (s *Service) AddDevice(p Principal, in DeviceInput) (device Device, token string, err error) {
	if err := in.Check(); err != nil {
		return Device{}, "", err
	}
	token, made := newToken(prefixDevice)
	at := place{A: p.AccountID, B: strings.ToLower(in.Name)}
	err = s.write(p, Admin, func(tx *kv.Tx, _ Role, c *changes) error {
		if devices.Has(tx, at) {
			return errdefs.New(errdefs.Conflict, "another device has the name %q; revoke it first, or choose another", in.Name)
		}
		record := deviceRecord{Hash: made.hash[:], Name: in.Name, StationCodes: slices.Clone(in.StationCodes), CreatedAt: instant.Of(tx.Now())}
		device = record.device(at)
		c.devices = []place{at}
		if err := devices.Put(tx, at, record); err != nil {
			return err
		}
		return audit.Put(tx, p.AccountID, p.Actor(), "device.add", device.ID, map[string]string{"stationCodes": strings.Join(in.StationCodes, ",")})
	})
	if err != nil {
		return Device{}, "", err
	}
	return device, token, nil
}

// ListDevices returns the devices of the caller's account, by name; the list is never nil. Requires admin. Errors:
// Forbidden.
func (s *Service) ListDevices(p Principal) ([]Device, error) {
	list := []Device{}
	err := s.view(p, func(tx *kv.Tx) error {
		for item, err := range devices.Scan(tx, kv.Under(devices, p.AccountID)) {
			if err != nil {
				return err
			}
			list = append(list, item.Value.device(item.Key))
		}
		return nil
	})
	return list, err
}

// RevokeDevice revokes a device by its id or name. When it returns, the token is invalid and the functions passed to
// OnDeviceRevoked have been called. Requires admin. Errors: Forbidden, NotFound, Conflict on an archived account.
func (s *Service) RevokeDevice(p Principal, id string) error {
	name := strings.ToLower(strings.TrimPrefix(id, p.AccountID+"/"))
	return s.write(p, Admin, func(tx *kv.Tx, _ Role, c *changes) error {
		at := place{A: p.AccountID, B: name}
		record, err := devices.Get(tx, at)
		if errors.Is(err, kv.ErrNotFound) {
			return errdefs.New(errdefs.NotFound, "there is no such device")
		}
		if err != nil {
			return err
		}
		c.devices = []place{at}
		if err := devices.Delete(tx, at); err != nil {
			return err
		}
		return audit.Put(tx, p.AccountID, p.Actor(), "device.revoke", record.device(at).ID, nil)
	})
}

// OnDeviceRevoked registers a function that is called with the id of each revoked device, before RevokeDevice
// returns, to close the device's connections. fn must not block.
func (s *Service) OnDeviceRevoked(fn func(id string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onRevoked = append(s.onRevoked, fn)
}

// AuthenticateDevice returns the device with a token, from memory. It rejects devices of archived accounts. Errors:
// Unauthorized.
func (s *Service) AuthenticateDevice(raw string) (Principal, error) {
	hash, ok := parseToken(prefixDevice, raw)
	if !ok {
		return Principal{}, errMalformed
	}
	s.mu.RLock()
	device := s.devices[hash]
	s.mu.RUnlock()
	if device == nil {
		return Principal{}, errUnauthorized
	}
	if account, found := s.accounts.Account(device.at.A); !found || account.Archived {
		return Principal{}, errUnauthorized
	}
	return device.principal, nil
}

// AuthenticateSender returns the owner of an API key or the device with a token. Errors: Unauthorized.
func (s *Service) AuthenticateSender(raw string) (Principal, error) {
	if strings.HasPrefix(raw, prefixDevice) {
		return s.AuthenticateDevice(raw)
	}
	return s.AuthenticateKey(raw)
}

// setDevice updates a device in memory. m.mu must be held.
func (m *memory) setDevice(at place, record *deviceRecord) {
	if old := m.devicesByID[at]; old != nil {
		delete(m.devices, old.hash)
		delete(m.devicesByID, at)
		for _, tell := range m.onRevoked {
			tell(old.principal.DeviceID)
		}
	}
	if record == nil || len(record.Hash) != 32 {
		return
	}
	device := record.live(at)
	m.devices[device.hash], m.devicesByID[at] = device, device
}

// loadDevices reads all devices.
func loadDevices(tx *kv.Tx) (map[place]*deviceRecord, error) {
	all := map[place]*deviceRecord{}
	for item, err := range devices.Scan(tx, kv.Range{}) {
		if err != nil {
			return nil, err
		}
		all[item.Key] = &item.Value
	}
	return all, nil
}

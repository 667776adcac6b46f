package auth

import (
	"time"

	"opsmon/app/instant"
	"opsmon/kv"
)

// place is an account's id and the id of something in it.
type place = kv.Pair[string, string]

var (
	users        = kv.NewBucket("authUser", kv.PairOf(kv.String, kv.String), kv.Cached(kv.JSON[userRecord](), as[userRecord]))
	keys         = kv.NewBucket("authKey", kv.String, kv.Cached(kv.JSON[keyRecord](), as[keyRecord]))
	keyUses      = kv.NewBucket("authKeyUse", kv.String, kv.JSON[instant.Time]())
	sessions     = kv.NewBucket("authSession", kv.String, kv.JSON[sessionRecord]())
	tablets      = kv.NewBucket("authTablet", kv.PairOf(kv.String, kv.String), kv.JSON[tabletRecord]())
	links        = kv.NewBucket("authLink", kv.Bytes32, kv.JSON[linkRecord]())
	codes        = kv.NewBucket("authCode", kv.String, kv.Raw)
	waits        = kv.NewBucket("authWait", kv.Bytes32, kv.Raw)
	lastAccounts = kv.NewBucket("authLastAccount", kv.String, kv.Raw)
)

// as copies a record whose fields are never changed in place.
func as[V any](v V) V { return v }

// Buckets returns the names of the package's buckets, for kv.Config.Buckets.
func Buckets() []string {
	return []string{
		users.Name(), keys.Name(), keyUses.Name(), sessions.Name(), tablets.Name(), devices.Name(),
		links.Name(), codes.Name(), waits.Name(), lastAccounts.Name(),
	}
}

// userRecord is one person in one account. It is stored: a changed field needs a migration.
type userRecord struct {
	Role      Role         `json:"role"`
	CreatedAt instant.Time `json:"createdAt"`
	Refused   bool         `json:"refused,omitempty"` // removed although on the account's domain: no role
}

// keyRecord is one API key. It is stored: a changed field needs a migration.
type keyRecord struct {
	Hash      []byte        `json:"hash"` // SHA-256 of the raw key, 32 bytes
	AccountID string        `json:"accountId"`
	Email     string        `json:"email"`
	Name      string        `json:"name"`
	Role      Role          `json:"role"` // the maximum role
	CreatedAt instant.Time  `json:"createdAt"`
	ExpiresAt *instant.Time `json:"expiresAt,omitempty"`
	RevokedAt *instant.Time `json:"revokedAt,omitempty"` // set: the record is only a tombstone
}

// sessionRecord is one signed-in browser or tablet. It is stored: a changed field needs a migration.
type sessionRecord struct {
	Hash      []byte       `json:"hash"` // SHA-256 of the raw session, 32 bytes
	AccountID string       `json:"accountId"`
	Email     string       `json:"email"`
	CreatedAt instant.Time `json:"createdAt"`
	ExpiresAt instant.Time `json:"expiresAt"`       // lags behind the end in memory by up to one flush interval
	Bound     bool         `json:"bound,omitempty"` // may not change its account
	Address   string       `json:"address"`         // network address at sign-in

	// Of a tablet only.
	TabletID     string   `json:"tabletId,omitempty"`
	Role         Role     `json:"role,omitempty"`
	StationCodes []string `json:"stationCodes,omitempty"`
}

// tabletRecord is one paired tablet, or one that may still be paired. It is stored: a changed field needs a migration.
type tabletRecord struct {
	Name         string        `json:"name"`
	Email        string        `json:"email"` // its identity, "tablet:<name>@<account domain>"
	Role         Role          `json:"role"`
	StationCodes []string      `json:"stationCodes"`
	CreatedAt    instant.Time  `json:"createdAt"`
	PairedAt     *instant.Time `json:"pairedAt,omitempty"`
	LinkHash     []byte        `json:"linkHash"`            // of its pairing link
	SessionID    string        `json:"sessionId,omitempty"` // set when it is paired
}

// linkRecord is a one-time link. It is stored until it expires, to distinguish a second use from an unknown link. A
// changed field needs a migration.
type linkRecord struct {
	Email     string        `json:"email"`              // the person or tablet that signs in
	AccountID string        `json:"accountId"`          // the account shown with the request
	Enter     string        `json:"enter,omitempty"`    // the account to sign in to; empty: the last used
	Bound     bool          `json:"bound,omitempty"`    // the session is restricted to that account
	TabletID  string        `json:"tabletId,omitempty"` // set: the link pairs this tablet
	Code      string        `json:"code,omitempty"`     // five digits; empty for a tablet
	Address   string        `json:"address"`            // address of the request
	Wait      []byte        `json:"wait,omitempty"`     // hash of the asking browser's token, 32 bytes
	CreatedAt instant.Time  `json:"createdAt"`
	ExpiresAt instant.Time  `json:"expiresAt"`
	Tries     int           `json:"tries,omitempty"` // number of wrong codes
	UsedAt    *instant.Time `json:"usedAt,omitempty"`
	Approved  bool          `json:"approved,omitempty"` // used to sign in the requesting browser
}

// live reports whether a link is still valid. A link that was created well after now is from when the clock was
// wrong; it is invalid, because otherwise it would be valid for as long as the clock was ahead.
func (l linkRecord) live(now time.Time) bool {
	return now.Before(l.ExpiresAt.Time) && l.ExpiresAt.Sub(now) <= 2*LinkLifetime
}

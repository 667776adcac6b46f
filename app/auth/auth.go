// Package auth authenticates and authorizes callers: users and their roles, API keys, sessions, one-time links,
// tablets, devices, throttling and the mail with a link (http-api.md sections 2.4, 4 and 5; decisions.md sections 4
// to 6).
//
// Every secret has 168 random bits; only its SHA-256 is stored. A write is one transaction that checks the caller's
// permission again, makes the change and writes its audit record. The in-memory index, which authenticates every
// request, is updated before the caller gets an answer.
//
// The bucket tree:
//
//	authUser        (account id, e-mail) -> userRecord      a role, or the refusal of a removed user
//	authKey         key id -> keyRecord                     active keys and the tombstones of revoked ones
//	authKeyUse      key id -> instant.Time                  last use, written periodically
//	authSession     session id -> sessionRecord
//	authTablet      (account id, tablet id) -> tabletRecord
//	authDevice      (account id, name in lower case) -> deviceRecord
//	authLink        SHA-256 of a link's token -> linkRecord
//	authCode        five digits -> SHA-256 of the link's token, while the link is pending
//	authWait        SHA-256 of a waiting browser's token -> SHA-256 of the link's token
//	authLastAccount e-mail -> id of the account used last
package auth

import (
	"strings"
	"time"

	"opsmon/app/audit"
	"opsmon/app/errdefs"
)

// Role is a role in an account, highest first.
//
// See decisions.md section 4.
//
//openapi:schema Role
type Role string

// The roles, highest first.
const (
	Admin      Role = "admin"
	Member     Role = "member"
	Supervisor Role = "supervisor"
	Operator   Role = "operator"
	Readonly   Role = "readonly"
)

// Rank orders the roles: 5 for admin down to 1 for readonly, 0 for anything that is not a role.
func (r Role) Rank() int {
	switch r {
	case Admin:
		return 5
	case Member:
		return 4
	case Supervisor:
		return 3
	case Operator:
		return 2
	case Readonly:
		return 1
	}
	return 0
}

// AtLeast reports whether a role is at least as high as need; false for an invalid role, even if need is empty.
func (r Role) AtLeast(need Role) bool { return r.Rank() > 0 && r.Rank() >= need.Rank() }

// lower returns the lower of two roles.
func lower(a, b Role) Role {
	if a.Rank() < b.Rank() {
		return a
	}
	return b
}

// ParseRole parses a role, which must be written exactly like a constant. Otherwise it returns Invalid, field "role".
func ParseRole(s string) (Role, error) {
	if role := Role(s); role.Rank() > 0 {
		return role, nil
	}
	return "", errdefs.InvalidField("role", "must be one of admin, member, supervisor, operator and readonly")
}

// Type is the kind of a caller's credential: `type` of http-api.md section 2.4.
type Type string

// The types of caller.
const (
	TypeSession Type = "session" // a browser or a tablet that signed in
	TypeAPIKey  Type = "apiKey"
	TypeLogin   Type = "login"  // asked to sign in, but not authenticated
	TypeDevice  Type = "device" // may only send signals
	TypeLocal   Type = "local"  // the machine's own command line
	TypeSetup   Type = "setup"  // sets up an empty appliance with its one-time code
)

// The values of `userRole` (http-api.md section 2.4; decisions.md section 4).
const (
	UserRoleCustomer = "customer"
	UserRoleSystem   = "system" // the appliance's own operator: the local command line
)

// Principal is the authenticated caller of an operation. It is a snapshot: writes check it again.
type Principal struct {
	Type      Type
	Email     string // lower case; a tablet's is "tablet:<name>@<account domain>"; empty for the local command line
	AccountID string
	Role      Role      // the effective role: never above the user's current role in the account
	UserRole  string    // UserRoleCustomer or UserRoleSystem
	Expires   time.Time // zero: never
	KeyID     string    // public id, for TypeAPIKey
	SessionID string    // public id, for TypeSession
	DeviceID  string    // "<account>/<name>", for TypeDevice
	// the stations that a tablet or a device is bound to, nil for people; shared, not to be changed
	StationCodes []string
	RenewCookie  bool // the session was just extended: set its cookie again, until Expires

	Address string // network address of the request; set by the transport
}

// Actor returns the caller for an audit record.
func (p Principal) Actor() audit.Actor {
	actor := audit.Actor{Email: p.Email, Credential: string(p.Type), Address: p.Address}
	switch p.Type {
	case TypeAPIKey:
		actor.Credential = "key:" + p.KeyID
	case TypeSession:
		actor.Credential = "session:" + p.SessionID
	case TypeDevice:
		actor.Credential = "device:" + p.DeviceID
	}
	return actor
}

// Tablet reports whether the caller is a paired tablet.
func (p Principal) Tablet() bool { return strings.HasPrefix(p.Email, tabletPrefix) }

// Local returns the principal of the machine's own command line: an admin of every account, acting on one of them.
func Local(accountID string) Principal {
	return Principal{Type: TypeLocal, AccountID: accountID, Role: Admin, UserRole: UserRoleSystem}
}

// Accounts looks up accounts. Its methods are called for every request, concurrently, and must answer from memory.
type Accounts interface {
	Account(id string) (AccountInfo, bool)
	AccountByDomain(domain string) (AccountInfo, bool) // domain in lower case
}

// AccountInfo is the part of an account that matters for signing in (http-api.md section 2.1).
type AccountInfo struct {
	ID       string
	Domain   string // users with an e-mail address on it need not be added
	Archived bool   // keys can still read; nobody can sign in or write
}

// Membership is an account that a person belongs to.
//
// See http-api.md section 2.4.
//
//openapi:schema Membership
type Membership struct {
	Role      Role   `json:"role"`
	AccountID string `json:"accountId"` // identifier of the account
	Domain    string `json:"domain"`    // e-mail domain of the account
}

// Lifetimes and limits (decisions.md sections 4 and 5).
const (
	SessionLifetime = 30 * 24 * time.Hour // of an unused session; every use restarts it
	LinkLifetime    = 15 * time.Minute    // of a one-time link, from its request
	slideStep       = time.Hour           // a session's end is extended at most this often
	tombstoneLife   = 400 * 24 * time.Hour
	maxTries        = 5 // number of wrong codes that invalidate a link
)

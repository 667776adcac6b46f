// Package auth knows who is asking: users and their roles, API keys, sessions, one-time links, tablets, throttling
// and the mail that carries a link (http-api.md sections 2.4, 4 and 5; decisions.md sections 4 to 6).
//
// Every secret is 168 random bits of which only the SHA-256 is stored. A write is one transaction that checks the
// caller's right anew, makes the change and its audit record; the in-memory index, from which every request is
// authenticated, follows before the caller gets an answer.
//
// The bucket tree:
//
//	authUser        (account id, e-mail) -> userRecord      a role, or the refusal of a removed user
//	authKey         key id -> keyRecord                     live keys and the tombstones of revoked ones
//	authKeyUse      key id -> instant.Time                  last used, written now and then
//	authSession     session id -> sessionRecord
//	authTablet      (account id, tablet id) -> tabletRecord
//	authDevice      (account id, name in lower case) -> deviceRecord
//	authLink        SHA-256 of a link's token -> linkRecord
//	authCode        five digits -> SHA-256 of the link's token, while the link waits to be used
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

// AtLeast reports whether a role is as high as another. What is not a role is never high enough, not even for the
// empty role.
func (r Role) AtLeast(need Role) bool { return r.Rank() > 0 && r.Rank() >= need.Rank() }

// lower is the lower of two roles.
func lower(a, b Role) Role {
	if a.Rank() < b.Rank() {
		return a
	}
	return b
}

// ParseRole reads a role, written exactly as the constants are. Anything else is Invalid, field "role".
func ParseRole(s string) (Role, error) {
	if role := Role(s); role.Rank() > 0 {
		return role, nil
	}
	return "", errdefs.InvalidField("role", "must be one of admin, member, supervisor, operator and readonly")
}

// Type is how a caller proved who it is: `type` of http-api.md section 2.4.
type Type string

// The types of caller.
const (
	TypeSession Type = "session" // a browser or a tablet that signed in
	TypeAPIKey  Type = "apiKey"
	TypeLogin   Type = "login"  // asked to sign in and has not proven anything yet
	TypeDevice  Type = "device" // may send signals, nothing else
	TypeLocal   Type = "local"  // the machine's own command line
	TypeSetup   Type = "setup"  // who sets up an empty appliance, by its one-time code
)

// The values of `userRole` (http-api.md section 2.4; decisions.md section 4).
const (
	UserRoleCustomer = "customer"
	UserRoleSystem   = "system" // the appliance's own operator: the local command line
)

// Principal is the caller of an operation, proven by a credential. It is a snapshot: writes check again.
type Principal struct {
	Type         Type
	Email        string // lower case; a tablet's is "tablet:<name>@<account domain>"; empty for the local command line
	AccountID    string
	Role         Role      // the role in force: never above the user's present role in the account
	UserRole     string    // UserRoleCustomer or UserRoleSystem
	Expires      time.Time // zero: never
	KeyID        string    // public id, for TypeAPIKey
	SessionID    string    // public id, for TypeSession
	DeviceID     string    // "<account>/<name>", for TypeDevice
	StationCodes []string  // the stations that a tablet or a device is bound to, nil for people; shared, not to be changed
	RenewCookie  bool      // the session was just made longer: set its cookie again, to Expires

	Address string // the network address asked from; filled in by the transport
}

// Actor names the caller for an audit record.
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

// Tablet reports whether the caller is a paired tablet and no person.
func (p Principal) Tablet() bool { return strings.HasPrefix(p.Email, tabletPrefix) }

// Local is the machine's own command line: an admin of every account. It acts on one of them at a time.
func Local(accountID string) Principal {
	return Principal{Type: TypeLocal, AccountID: accountID, Role: Admin, UserRole: UserRoleSystem}
}

// Accounts is what this room must know about accounts. Both methods are called for every request and must
// answer from memory; they may be called by many goroutines at once.
type Accounts interface {
	Account(id string) (AccountInfo, bool)
	AccountByDomain(domain string) (AccountInfo, bool) // domain in lower case
}

// AccountInfo is an account as far as signing in goes (http-api.md section 2.1).
type AccountInfo struct {
	ID       string
	Domain   string // users with an e-mail address on it need not be added
	Archived bool   // keys still read; nobody signs in, nothing is written
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
	SessionLifetime = 30 * 24 * time.Hour // of a session that is not used; every use starts it again
	LinkLifetime    = 15 * time.Minute    // of a one-time link, from the moment it was asked for
	slideStep       = time.Hour           // a session's end moves at most this often
	tombstoneLife   = 400 * 24 * time.Hour
	maxTries        = 5 // wrong codes that kill a link
)

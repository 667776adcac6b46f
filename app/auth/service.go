package auth

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

// Config configures a Service.
type Config struct {
	Store    *kv.Store        // must have Buckets() and audit.Buckets()
	Accounts Accounts         // must have every account of the store before the first request
	Mailer   *Mailer          // sends links; nil: an administrator passes them on. Closed by the Service
	Log      *slog.Logger     // nil: nothing is logged
	Clock    func() time.Time // nil = time.Now; use the same for the store
}

// Service authenticates and authorizes callers. Its methods may be called by many goroutines at once. A method that
// writes returns only after the change is durable and effective; its errors wrap an *errdefs.Error or are those of
// the store.
type Service struct {
	store    *kv.Store
	accounts Accounts
	mailer   *Mailer
	log      *slog.Logger
	clock    func() time.Time

	memory
	wrong, byAddress, byPair, byDestination *throttle
	entered                                 *tracked[time.Time] // last sign-in of a person from an address, by both

	stop     chan struct{}
	stopped  sync.WaitGroup
	closing  sync.Once
	closeErr error
}

// New reads users, keys and sessions into memory and starts the background work, which writes last uses and session
// ends every minute. Sweep removes expired records. Errors are those of the store; ErrDamaged too, because an
// unreadable user might have been removed.
func New(cfg Config) (*Service, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	s := &Service{
		store: cfg.Store, accounts: cfg.Accounts, mailer: cfg.Mailer, log: cfg.Log, clock: cfg.Clock,
		memory:        newMemory(),
		wrong:         newThrottle(20, time.Minute/10),
		byAddress:     newThrottle(loginsOfAddress, loginWindow/loginsOfAddress),
		byPair:        newThrottle(loginsOfPair, loginWindow/loginsOfPair),
		byDestination: newThrottle(loginsOfStrangers, loginWindow/loginsOfStrangers),
		entered:       newTracked[time.Time](),
		stop:          make(chan struct{}),
	}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("load users and keys: %w", err)
	}
	s.stopped.Go(s.background)
	return s, nil
}

// Mails reports whether links are mailed; otherwise an administrator passes them on.
func (s *Service) Mails() bool { return s.mailer != nil }

// Close stops the background work and the mailer and writes pending last uses. It must be called before the store is
// closed; afterwards only the Authenticate methods may be called. Later calls return the same result.
func (s *Service) Close() error {
	s.closing.Do(func() {
		close(s.stop)
		s.stopped.Wait()
		if s.mailer != nil {
			s.mailer.Close()
		}
		s.closeErr = s.flush()
	})
	return s.closeErr
}

// background calls flush until Close.
func (s *Service) background() {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		if err := s.flush(); err != nil {
			s.log.Error("last use of keys and sessions was not written", "error", err)
		}
	}
}

// errUnauthorized is the only information for a caller without a valid credential.
var errUnauthorized error = errdefs.New(errdefs.Unauthorized, "the credential is invalid or has expired")

// errMalformed is the error for a credential that is mistyped or incomplete.
var errMalformed error = errdefs.New(errdefs.Unauthorized, "the credential is incomplete or mistyped")

// write runs the transaction of a change and updates the memory. The caller must have a role, and the account must
// not be archived. fn may run more than once; it gets the caller's role as of the transaction.
func (s *Service) write(p Principal, need Role, fn func(tx *kv.Tx, role Role, c *changes) error) error {
	if err := s.writable(p.AccountID); err != nil {
		return err
	}
	return s.update(func(tx *kv.Tx, c *changes) error {
		role, err := s.authorize(tx, p, need)
		if err != nil {
			return err
		}
		return fn(tx, role, c)
	})
}

// update runs a transaction and updates the memory with its changes.
func (s *Service) update(fn func(tx *kv.Tx, c *changes) error) error {
	var c changes
	err := s.store.Update(func(tx *kv.Tx) error {
		c = changes{}
		return fn(tx, &c)
	})
	if err != nil {
		return err
	}
	return s.refresh(c)
}

// writable refuses changes to an account that is archived or missing.
func (s *Service) writable(accountID string) error {
	account, found := s.accounts.Account(accountID)
	if !found {
		return errdefs.New(errdefs.NotFound, "there is no such account")
	}
	if account.Archived {
		return errdefs.New(errdefs.Conflict, "the account %s is archived and cannot be changed", accountID)
	}
	return nil
}

// Authorize checks, in a transaction of another package, that the caller's credential is still valid and its role
// high enough: it may have been revoked while the request arrived. Errors: Unauthorized, Forbidden.
func (s *Service) Authorize(tx *kv.Tx, p Principal, need Role) error {
	_, err := s.authorize(tx, p, need)
	return err
}

// authorize checks in a transaction that the caller's credential is still valid and its role high enough. Errors:
// Unauthorized, Forbidden.
func (s *Service) authorize(tx *kv.Tx, p Principal, need Role) (Role, error) {
	role, err := s.roleOf(tx, p)
	if err != nil {
		return "", err
	}
	if !role.AtLeast(need) {
		return "", errdefs.New(errdefs.Forbidden, "this needs the role %s; yours is %s", need, role)
	}
	return role, nil
}

func (s *Service) roleOf(tx *kv.Tx, p Principal) (Role, error) {
	switch p.Type {
	case TypeLocal:
		return Admin, nil
	case TypeAPIKey:
		key, err := keys.Get(tx, p.KeyID)
		if errors.Is(err, kv.ErrNotFound) {
			return "", errUnauthorized
		}
		if err != nil {
			return "", err
		}
		if key.RevokedAt != nil || key.expired(tx.Now()) || key.AccountID != p.AccountID || key.Email != p.Email {
			return "", errUnauthorized
		}
		role, err := s.userRole(tx, p.AccountID, p.Email)
		return lower(key.Role, role), err
	case TypeSession:
		session, err := sessions.Get(tx, p.SessionID)
		if errors.Is(err, kv.ErrNotFound) {
			return "", errUnauthorized
		}
		if err != nil {
			return "", err
		}
		// The end at authentication counts, because the stored one lags behind.
		if session.AccountID != p.AccountID || session.Email != p.Email || !tx.Now().Before(p.Expires) {
			return "", errUnauthorized
		}
		if session.TabletID != "" {
			return session.Role, nil
		}
		return s.userRole(tx, p.AccountID, p.Email)
	}
	return "", errdefs.New(errdefs.Forbidden, "this credential cannot do that")
}

// userRole returns the current role of an address in an account. Errors: Unauthorized if none.
func (s *Service) userRole(tx *kv.Tx, accountID, email string) (Role, error) {
	user, err := users.Get(tx, place{A: accountID, B: email})
	switch {
	case err == nil && !user.Refused:
		return user.Role, nil
	case err == nil:
		return "", errUnauthorized
	case !errors.Is(err, kv.ErrNotFound):
		return "", err
	}
	if account, found := s.accounts.Account(accountID); found && onDomain(email, account.Domain) {
		return Readonly, nil
	}
	return "", errUnauthorized
}

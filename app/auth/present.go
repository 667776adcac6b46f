package auth

// Present returns the current state of a caller, for requests that last long: the effective role, the session's
// account, its stations. It reads from memory, does not extend a session and does not count as a use of a key.
// Errors: Unauthorized if the credential was revoked or has expired, or its user was removed.
func (s *Service) Present(p Principal) (Principal, error) {
	switch p.Type {
	case TypeLocal:
		return p, nil
	case TypeAPIKey:
		return s.presentKey(p)
	case TypeSession:
		return s.presentSession(p)
	}
	return Principal{}, errUnauthorized
}

func (s *Service) presentKey(p Principal) (Principal, error) {
	s.mu.RLock()
	key := s.keysByID[p.KeyID]
	if key == nil {
		s.mu.RUnlock()
		return Principal{}, errUnauthorized
	}
	entitlement := s.entitled(key.record.AccountID, key.record.Email)
	s.mu.RUnlock()
	account, found := s.accounts.Account(key.record.AccountID)
	role, entitled := entitlement.role(account, key.record.Email)
	if !found || !entitled || !key.expires.IsZero() && !s.clock().Before(key.expires) {
		return Principal{}, errUnauthorized
	}
	p.AccountID, p.Email, p.Role, p.Expires = key.record.AccountID, key.record.Email, lower(key.record.Role, role), key.expires
	return p, nil
}

func (s *Service) presentSession(p Principal) (Principal, error) {
	s.mu.RLock()
	session := s.sessionsByID[p.SessionID]
	if session == nil {
		s.mu.RUnlock()
		return Principal{}, errUnauthorized
	}
	record := &session.record
	entitlement := s.entitled(record.AccountID, record.Email)
	s.mu.RUnlock()
	role, entitled := s.sessionRole(record, entitlement)
	if !entitled || s.clock().UnixMilli() >= session.end.at.Load() {
		return Principal{}, errUnauthorized
	}
	p.AccountID, p.Email, p.Role, p.StationCodes = record.AccountID, record.Email, role, record.StationCodes
	return p, nil
}

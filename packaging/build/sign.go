package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"aead.dev/minisign"
)

// readKey reads a minisign secret key, nil for no file. The password of an encrypted key is in APP_SIGN_PASSWORD.
func readKey(file string) (*minisign.PrivateKey, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the key to sign with: %w", err)
	}
	var key minisign.PrivateKey
	if !minisign.IsEncrypted(b) {
		if err := key.UnmarshalText(b); err != nil {
			return nil, fmt.Errorf("%s is not a minisign secret key: %w", file, err)
		}
		return &key, nil
	}
	password := os.Getenv("APP_SIGN_PASSWORD")
	if password == "" {
		return nil, fmt.Errorf("the key %s has a password: set the variable APP_SIGN_PASSWORD to it", file)
	}
	if key, err = minisign.DecryptKey(password, b); err != nil {
		return nil, errors.Join(fmt.Errorf("the key %s cannot be opened with the password in APP_SIGN_PASSWORD", file), err)
	}
	return &key, nil
}

// publicKey returns the key that verifies signatures, in one line of base64; "" for nil.
func publicKey(key *minisign.PrivateKey) string {
	if key == nil {
		return ""
	}
	return key.Public().(minisign.PublicKey).String()
}

// sign returns the prehashed minisign signature of a file's content. It is deterministic: the trusted comment has the
// time of the source.
func sign(key minisign.PrivateKey, content []byte, name string, src source) []byte {
	r := minisign.NewReader(bytes.NewReader(content))
	if _, err := io.Copy(io.Discard, r); err != nil {
		panic(err) // reading from memory cannot fail
	}
	return r.SignWithComments(key, fmt.Sprintf("timestamp:%d\tfile:%s\tversion:%s", src.Time.Unix(), name, src.Version), "signature of "+name)
}

package upgrade

import (
	"errors"
	"fmt"
	"io"

	"aead.dev/minisign"
)

// publicKey is the key that releases are signed with, in the form of minisign. Release builds set it with -ldflags
// "-X opsmon/app/host/upgrade.publicKey=RWQ…"; without one everything counts as unsigned.
var publicKey string

// The failures of a signature, matched by errors.Is.
var (
	ErrUnsigned  = errors.New("not signed")             // or no key is built in to check it with
	ErrSignature = errors.New("the signature is wrong") // of another key, or of another file
)

// SignatureSuffix is the suffix of a signature's file name after that of the signed file.
const SignatureSuffix = ".minisig"

// PublicKey returns the built-in key, "" if there is none.
func PublicKey() string { return publicKey }

// Uncheckable returns the sentence about what a build without a key cannot check; "" for others.
func Uncheckable() string {
	if publicKey != "" {
		return ""
	}
	return "This build is not signed and has no key: it CANNOT CHECK who made an upgrade, and takes a file with --unsigned only. Use a signed release in a plant."
}

// Verify checks the signature (minisign, prehashed) of the content of r with a key. Errors: ErrSignature; r's; an
// invalid key.
func Verify(key string, r io.Reader, signature []byte) error {
	var public minisign.PublicKey
	if err := public.UnmarshalText([]byte(key)); err != nil {
		return fmt.Errorf("the public key that is built in is not one: %w", err)
	}
	var parsed minisign.Signature
	if err := parsed.UnmarshalText(signature); err != nil {
		return fmt.Errorf("%w: it cannot be read: %w", ErrSignature, err)
	}
	if parsed.KeyID != public.ID() {
		return fmt.Errorf("%w: it is of the key %X and not of %X", ErrSignature, parsed.KeyID, public.ID())
	}
	if parsed.Algorithm != minisign.HashEdDSA {
		return fmt.Errorf("%w: it is of the old form without hashing", ErrSignature)
	}
	in := minisign.NewReader(r)
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	if !in.Verify(public, signature) {
		return fmt.Errorf("%w: the file is not the one that was signed", ErrSignature)
	}
	return nil
}

package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
)

// ServerFile holds the current certificate and its key, in PEM, for the next start. It is one file, since a certificate
// without its key is useless. Backups leave it out, since the authority issues another one.
const ServerFile = "server.pem"

// errNone means that no certificate is stored.
var errNone = errors.New("there is none yet")

// keep writes a certificate with its key.
func (d disk) keep(l *leaf) error {
	der, err := x509.MarshalPKCS8PrivateKey(l.tls.PrivateKey)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: l.tls.Leaf.Raw})
	return d.write(ServerFile, append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})...))
}

// kept reads the stored certificate. The error says why it cannot be used: it is missing, damaged, of another
// authority, or others could read its key.
func (a *authority) kept(d disk) (*leaf, error) {
	info, err := os.Lstat(d.path(ServerFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNone
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return nil, fmt.Errorf("%s is no file of a certificate", d.path(ServerFile))
	}
	if open, err := d.private(ServerFile); err != nil || open {
		return nil, errors.Join(errors.New("others could read the key of the last one"), err)
	}
	text, err := os.ReadFile(d.path(ServerFile))
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(text, text)
	if err != nil { // it shows nothing of the key
		return nil, fmt.Errorf("%s is damaged: %w", d.path(ServerFile), err)
	}
	if err := pair.Leaf.CheckSignatureFrom(a.cert); err != nil {
		return nil, errors.New("the last one is of another authority")
	}
	l := &leaf{tls: pair, names: pair.Leaf.DNSNames}
	for _, ip := range pair.Leaf.IPAddresses {
		if addr, ok := netip.AddrFromSlice(ip); ok {
			l.addrs = append(l.addrs, addr.Unmap())
		}
	}
	slices.Sort(l.names)
	slices.SortFunc(l.addrs, netip.Addr.Compare)
	return l, nil
}

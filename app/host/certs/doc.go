// Package certs keeps the certificate that the service answers with on the plant's network (decisions.md section 7,
// `app serve --tls`). Plants have no internet, so no public authority can vouch for the machine; there are two ways:
//
//   - Open makes a certificate authority of the appliance's own, which people trust once per device, and issues
//     certificates from it that follow the machine's names, addresses and clock by themselves.
//   - OpenFiles takes the certificate that the plant brings, and follows its files.
//
// Either way TLS gives the configuration of the listener. Connections that are open keep the certificate that they
// began with; the next one gets the new.
//
// # The authority
//
// It is an ECDSA P-256 root for ten years in ca.crt and ca.key. Its key could otherwise vouch for any site in the
// world to the devices that trust it, so three things bind it:
//
//   - Its basic constraints allow no authority below it.
//   - Its extended key usage is that of TLS servers: it cannot vouch for programs or mail.
//   - Its name constraints permit names that are the plant's own alone: those of the machine when the authority was
//     made, and those below local, lan, internal and home.arpa, which nobody owns on the internet; and addresses of
//     loopback, private and link-local networks, with the network (/24 or /64) of each other address that the machine
//     had.
//
// The name constraints are critical (RFC 5280 section 4.2.1.10): a client that does not know them refuses the authority, and
// does not trust it for every site in the world. Go, OpenSSL, NSS, Windows, browsers and Apple's systems since iOS 13 know
// them. An authority that was made before they were critical stays as it is. A name or address that is not permitted is left
// out of the certificates, since clients refuse a certificate that has one; the log says so.
//
// # The certificate in use
//
// It is kept in server.pem with its key, readable by the service's user only, and written whole or not at all. A start goes on
// with it until a third of its time is left, the machine's names or addresses have changed, or it is not of this authority; so
// clients that remember a certificate meet the same one.
//
// # Clocks
//
// Machines in plants have empty clock batteries. A certificate is valid from a day before it was made, and one whose
// time does not hold the clock's is made anew, in the handshake at the latest. The clock is not believed where it
// is before the authority was made, or, for the authority itself, before this program was: clients know better.
package certs

package certs

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"strings"
)

// profileText is a configuration profile of Apple's with one certificate in it.
const profileText = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>PayloadContent</key>
	<array>
		<dict>
			<key>PayloadCertificateFileName</key>
			<string>ca.crt</string>
			<key>PayloadContent</key>
			<data>%[2]s</data>
			<key>PayloadDescription</key>
			<string>The certificate authority of this opsmon appliance</string>
			<key>PayloadDisplayName</key>
			<string>%[1]s</string>
			<key>PayloadIdentifier</key>
			<string>opsmon.ca.%[3]s</string>
			<key>PayloadType</key>
			<string>com.apple.security.root</string>
			<key>PayloadUUID</key>
			<string>%[3]s</string>
			<key>PayloadVersion</key>
			<integer>1</integer>
		</dict>
	</array>
	<key>PayloadDescription</key>
	<string>Lets this device trust the opsmon appliance of your plant</string>
	<key>PayloadDisplayName</key>
	<string>%[1]s</string>
	<key>PayloadIdentifier</key>
	<string>opsmon.trust.%[4]s</string>
	<key>PayloadType</key>
	<string>Configuration</string>
	<key>PayloadUUID</key>
	<string>%[4]s</string>
	<key>PayloadVersion</key>
	<integer>1</integer>
</dict>
</plist>
`

// Profile returns the certificate as a configuration profile, which iPads and iPhones install. It is not signed, since
// nobody could vouch for it. The same authority always has the same profile, so that installing it again replaces it.
func (c *CA) Profile() []byte {
	var name strings.Builder
	_ = xml.EscapeText(&name, []byte(c.Name())) // a strings.Builder takes everything
	return fmt.Appendf(nil, profileText, name.String(), base64.StdEncoding.EncodeToString(c.cert.Raw), uuid("ca", c.cert.Raw), uuid("profile", c.cert.Raw))
}

// uuid makes an identifier from bytes (RFC 9562 section 5.8).
func uuid(kind string, of []byte) string {
	b := sha256.Sum256(append([]byte(kind+"\x00"), of...))
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%X-%X-%X-%X-%X", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

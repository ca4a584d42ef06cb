package undo

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"io"
	"strings"
)

const (
	credentialPrefix = "u-"
	// credentialBytes of randomness make credentialChars characters.
	credentialBytes = 16
	credentialChars = 26
	// credentialAlphabet leaves out i, l, o and u: a credential is read from a screen and typed.
	credentialAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"
)

// NewCredential returns a new credential, "u-" and 26 characters, with 128 bits from rand.
func NewCredential(rand io.Reader) string {
	var raw [credentialBytes]byte
	if _, err := io.ReadFull(rand, raw[:]); err != nil {
		// The random source is the operating system's, which does not fail (crypto/rand ends the process itself if it
		// does); a credential without randomness could be guessed.
		panic("undo: random source: " + err.Error())
	}
	return credentialPrefix + base32.NewEncoding(credentialAlphabet).WithPadding(base32.NoPadding).EncodeToString(raw[:])
}

// IsCredential reports whether s has the form of a credential.
func IsCredential(s string) bool {
	body, ok := strings.CutPrefix(s, credentialPrefix)
	if !ok || len(body) != credentialChars {
		return false
	}
	for i := range len(body) {
		if strings.IndexByte(credentialAlphabet, body[i]) < 0 {
			return false
		}
	}
	return true
}

// CredentialDigest returns what is stored of a credential: 64 hexadecimal characters from which it cannot be found again.
func CredentialDigest(credential string) string {
	sum := sha256.Sum256([]byte("correx undo credential\n" + credential))
	return hex.EncodeToString(sum[:])
}

// Matches reports whether digest, as CredentialDigest returned it, is that of credential. It takes the same time wherever
// the two differ. Nothing matches an empty digest.
func Matches(credential, digest string) bool {
	return subtle.ConstantTimeCompare([]byte(CredentialDigest(credential)), []byte(digest)) == 1
}

package undo

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
)

func TestCredentials(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		c := NewCredential(rand.Reader)
		if !IsCredential(c) || seen[c] {
			t.Fatalf("credential %q", c)
		}
		seen[c] = true
		d := CredentialDigest(c)
		if !isDigest(d) || strings.Contains(d, c[2:]) || !Matches(c, d) {
			t.Fatalf("digest %q", d)
		}
		if Matches(c, CredentialDigest(NewCredential(rand.Reader))) || Matches(c, "") || Matches("", d) || Matches(d, d) {
			t.Fatal("matches something else")
		}
	}
	zero := NewCredential(bytes.NewReader(make([]byte, credentialBytes)))
	if zero != "u-"+strings.Repeat("0", 26) {
		t.Fatalf("got %q", zero)
	}
	for _, bad := range []string{
		"", "u-", "0123456789abcdefghjkmnpqrs", "u-0123456789abcdefghjkmnpqr", "u-0123456789abcdefghjkmnpqrst",
		"U-0123456789abcdefghjkmnpqrs", "u-0123456789ABCDEFGHJKMNPQRS", "u-o123456789abcdefghjkmnpqrs",
		"u-0123456789abcdefghjkmnpq\n", " u-0123456789abcdefghjkmnpqrs", "e-0123456789abcdefghjkmnpqrs",
	} {
		if IsCredential(bad) {
			t.Errorf("%q counts as a credential", bad)
		}
	}
	if !IsCredential("u-0123456789abcdefghjkmnpqrs") {
		t.Error("a good one does not")
	}
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "random source") {
			t.Fatalf("recovered %v", r)
		}
	}()
	NewCredential(strings.NewReader("short"))
}

func FuzzIsCredential(f *testing.F) {
	f.Add("u-0123456789abcdefghjkmnpqrs")
	f.Fuzz(func(t *testing.T, s string) {
		if IsCredential(s) && (len(s) != 28 || strings.ContainsAny(s, " \n/\\iloA\x00")) {
			t.Fatalf("%q", s)
		}
	})
}

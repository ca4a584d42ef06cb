package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/correx/correx/internal/change"
)

// Expiry is what becomes of a request that nobody answered in time.
type Expiry string

// The expiries, from the mildest on. Under the last two the request ends as timed out and nothing of it lands; they differ in
// what whoever asked is told: that it may ask again, or that policy says no where nobody says yes.
const (
	ExpiryPause  Expiry = "pause"
	ExpiryReject Expiry = "reject"
	ExpiryDeny   Expiry = "auto_deny"
)

// Timeouts says how long a request waits for a person.
type Timeouts struct {
	// After is the time that a request waits, where its tier does not wait for ever.
	After time.Duration
	// Tiers has what becomes of a request then, by the tier of its verdict; one without an entry waits for ever.
	Tiers map[change.Tier]Expiry
}

// Of returns how long a request of tier t waits and what becomes of it then; ok is false if it waits for ever.
func (t Timeouts) Of(tier change.Tier) (after time.Duration, then Expiry, ok bool) {
	then, ok = t.Tiers[tier]
	return t.After, then, ok
}

const (
	defaultAfter = 24 * time.Hour
	// longestAfter keeps the time at which a request ends one that can be written down.
	longestAfter = 10 * 365 * 24 * time.Hour
)

// timeoutKeys are the settings of [timeouts].
func timeoutKeys() []key {
	list := []key{{
		name: "timeouts.after", kind: kindString, def: `"24h"`,
		doc: `How long a request waits for a person, such as "90s", "30m" or "8h", where its tier below does not wait for ever.`,
		check: func(v any) error {
			d, err := time.ParseDuration(v.(string))
			if err != nil {
				return fmt.Errorf("expected a duration such as \"90s\", \"30m\" or \"8h\", found %q", v)
			}
			if d <= 0 || d > longestAfter {
				return fmt.Errorf("expected a duration over 0s and up to %dh, found %q", longestAfter/time.Hour, v)
			}
			return nil
		},
		set:     func(c *Config, v entry) { c.Timeouts.After = duration(v.value) },
		compare: func(c *Config, v any) int { return cmp.Compare(duration(v), c.Timeouts.After) },
	}}
	for _, tier := range []change.Tier{change.T1, change.T2, change.T3, change.T4} {
		list = append(list, key{
			name: "timeouts." + string(tier), kind: kindString, def: `"pause"`,
			doc:   fmt.Sprintf(`What becomes of a %s request then: "pause" it goes on waiting, "reject" or "auto_deny" it ends as timed out.`, tier),
			check: oneOf(string(ExpiryPause), string(ExpiryReject), string(ExpiryDeny)),
			set: func(c *Config, v entry) {
				then := Expiry(v.value.(string))
				if then == ExpiryPause {
					delete(c.Timeouts.Tiers, tier)
					return
				}
				if c.Timeouts.Tiers == nil {
					c.Timeouts.Tiers = map[change.Tier]Expiry{}
				}
				c.Timeouts.Tiers[tier] = then
			},
			// A request that ends is answered yes less often than one that waits.
			compare: func(c *Config, v any) int {
				return cmp.Compare(c.Timeouts.Tiers[tier].strictness(), Expiry(v.(string)).strictness())
			},
		})
	}
	return list
}

// duration returns a checked duration.
func duration(value any) time.Duration {
	d, err := time.ParseDuration(value.(string))
	if err != nil {
		return defaultAfter // the key's check has refused it
	}
	return d
}

// strictness orders expiries from the mildest on; an empty one pauses.
func (e Expiry) strictness() int {
	return max(0, slices.Index([]Expiry{ExpiryPause, ExpiryReject, ExpiryDeny}, e))
}

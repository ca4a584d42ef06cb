package tiers

import "fmt"

// PatternError is returned for a path pattern that the dialect refuses.
type PatternError struct {
	// Pattern is the text as it was given.
	Pattern string
	// Problem says what is wrong with it.
	Problem string
}

// Error returns the pattern, quoted, and the problem.
func (e *PatternError) Error() string {
	return fmt.Sprintf("pattern %q: %s", e.Pattern, e.Problem)
}

// Package grants answers from memory what a person need not be asked again, and what need not be asked again because
// somebody said no.
//
// A chain is how a commit passes without a question: content that landed or was approved, one change after another, from
// what HEAD holds to what is staged. It speaks of exact contents, so content that was approved once is not approved for
// ever: after HEAD has moved past it there is no chain to it any more.
//
// Refusals are the file changes that were refused, each with both its ends. A set of nothing but refused changes is
// answered with the first refusal; a byte of base or proposal that differs makes it another change.
//
// A grant is a remembered yes: to ops on paths, or to one exact set of changes, for a session, a stage or the project. What
// it covers is for package tiers to say; here is which there are, which of them stand, and how often each was used.
//
// Everything here is pure: events are handed in by who reads the ledger, and nothing is written.
package grants

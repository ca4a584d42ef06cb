package gate

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/correx/correx/internal/apply"
	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/internal/ledger/projection"
)

func TestNumbers(t *testing.T) {
	for word, want := range map[string][]int{
		"1": {1}, "7": {7}, "1,3": {1, 3}, "3,1,3": {1, 3}, "2-4": {2, 3, 4}, "5-5": {5}, "1-2,6-7,4": {1, 2, 4, 6, 7}, "1-7": {1, 2, 3, 4, 5, 6, 7}, "01": {1},
	} {
		got, err := numbers(word, 7)
		if list := slices.Sorted(maps.Keys(got)); err != nil || !slices.Equal(list, want) {
			t.Errorf("%q: %v, %v; want %v", word, list, err, want)
		}
	}
	for _, word := range []string{
		"", ",", "1,", ",1", "1,,2", "0", "8", "1-8", "0-1", "4-2", "-1", "1-", "-", "1-2-3", " 1", "1 ", "1, 2", "+1", "1.0", "0x1", "1e0", "all", "1;2",
		"99999999999999999999", "1-99999999999999999999", "2-18446744073709551615", "\u0661", "1\n",
	} {
		if got, err := numbers(word, 7); err == nil {
			t.Errorf("%q: %v", word, got)
		}
	}
}

// TestNoHunks: what hunks cannot be chosen of is refused with the reason.
func TestNoHunks(t *testing.T) {
	one := func(f func(*change.FileChange)) *projection.Entry {
		e := unit(1, change.StatePending, "a:1>2")
		f(&e.Files[0])
		return e
	}
	commit := unit(1, change.StatePending, "a:1>2")
	commit.Origin = change.OriginCommit
	for want, e := range map[string]*projection.Entry{
		"2 are chosen":               unit(1, change.StatePending, "a:1>2 b:1>2"),
		"made by a commit":           commit,
		"approved before":            unit(1, change.StateApproved, "a:1>2"),
		"whole or not at all (crea":  unit(1, change.StatePending, "a:>2"),
		"whole or not at all (delet": unit(1, change.StatePending, "a:1>"),
		"whole or not at all (renam": unit(1, change.StatePending, "a=b:1>2"),
		"whole or not at all (copy)": one(func(f *change.FileChange) { f.Op, f.Base = change.OpCopy, change.Absent() }),
		"whole or not at all (edit)": one(func(f *change.FileChange) { f.Base.Kind = change.KindSubmodule }),
		"is binary":                  one(func(f *change.FileChange) { f.Binary = true }),
		"too large":                  one(func(f *change.FileChange) { f.TooLarge, f.Op = true, change.OpOverwrite }),
		"is a symlink":               one(func(f *change.FileChange) { f.Proposed.Kind, f.Op = change.KindSymlink, change.OpRetype }),
		"only the mode":              one(func(f *change.FileChange) { f.Op = change.OpChmod }),
	} {
		var usage *UsageError
		if _, err := (&Gate{}).ChooseHunks(context.Background(), e, nil, "1"); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestJournalOfHunks: recovery believes a journal of a choice of hunks only if it goes where these lead.
func TestJournalOfHunks(t *testing.T) {
	allowed := unit(1, change.StateApproved, "a:1>2 b:1>2")
	allowed.Grant, allowed.Digest, allowed.Only = "e-yes", change.Digest(allowed.Files), []change.Path{"b"}
	allowed.Hunks = &projection.ChosenHunks{File: files("b:1>half")[0]}
	g := &Gate{state: projection.New()}
	g.state.Sets[1] = allowed
	for text, want := range map[string]bool{"b:1>half": true, "b:1>2": false, "b:half>2": false, "a:1>2": false, "a:1>2 b:1>half": false} {
		done, err := g.committed(apply.Landing{ID: "e-yes", Set: 1, Digest: allowed.Digest, Steps: stepsOf(files(text))})
		var journal *JournalError
		if done || want != (err == nil) || !want && !errors.As(err, &journal) {
			t.Errorf("%s: %v, %v", text, done, err)
		}
	}
}

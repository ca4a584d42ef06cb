package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/correx/correx/internal/change"
)

const (
	// hookColumns and hookPaths bound the message of a hook: clients cut what is wider, and show little of what is longer.
	hookColumns = 80
	hookPaths   = 5
	// hookPathColumns is the widest that a path is shown.
	hookPathColumns = 40
)

// HookPath is a staged path that may not be committed.
type HookPath struct {
	File    change.FileChange
	Verdict change.Verdict
	// Set is the change set that waits with exactly these bytes, or decided on them; 0 when there is none.
	Set int
	// State is that set's state, Reason and By what a person said and who, where one said no.
	State      change.State
	Reason, By string
}

// HookInput is what a commit hook has to say.
type HookInput struct {
	// Staged is how many paths are staged, Blocked those that may not be committed.
	Staged  int
	Blocked []HookPath
	// Set waits with the paths that were changed directly in the tree; 0 when nothing was recorded.
	Set int
	// Temporary says that git made an index for this commit alone, which is gone when the hook has ended.
	Temporary bool
	// Exit is the exit code that goes with the message: 3 waits, 4 a person said no, 5 policy denies, 6 changed since.
	Exit int
}

// HookMessage returns what the hook prints when it stops a commit: at most 12 lines of at most 80 printable ASCII
// characters, each ended by LF. The first stands alone, then come the paths with the reason in words, the one command for
// a person, what an agent should do, how the rest of the commit gets through, the rule, and last a line for machines:
//
//	correx-status: blocked reason=waiting change=#12 exit=3
//
// It names no way round the hook. Nothing blocked gives no message.
func HookMessage(in HookInput) string {
	if len(in.Blocked) == 0 {
		return ""
	}
	m := &hookMessage{in: in}
	m.lead, m.sets = m.concerned()
	m.add("correx: commit stopped - " + m.headline())
	m.paths()
	m.person()
	m.add("agent:  " + m.agent())
	m.rest()
	m.rule()
	m.status(m.reason())
	return m.text.String()
}

// HookBroken is the message of a hook that cannot do its work; it stops the commit all the same.
func HookBroken(problem string, exit int) string {
	m := &hookMessage{in: HookInput{Exit: exit}}
	m.add("correx: commit stopped - correx cannot check it")
	m.add("  " + cutMiddle(escapeASCII(problem), hookColumns-2))
	m.add("person: correx doctor")
	m.add("agent:  this is not for you to mend. Stop here and tell a person.")
	m.status("broken")
	return m.text.String()
}

type hookMessage struct {
	in HookInput
	// sets are the change sets concerned; lead is the one that the exit code is about, 0 when it is about none.
	sets []int
	lead int
	text strings.Builder
}

// add writes one line, cut with dots where it would be too wide.
func (m *hookMessage) add(line string) {
	m.text.WriteString(cutRight(line, hookColumns) + "\n")
}

// cutRight cuts s, which is ASCII, at its end and says so.
func cutRight(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return s[:max(limit-3, 0)] + "..."
}

// cutMiddle cuts s, which is ASCII, in its middle and says so: what was done stands first in a problem, its cause last.
func cutMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head := limit / 4
	return s[:head] + "..." + s[len(s)-(limit-head-3):]
}

// set is the change set that a blocked path belongs to, or 0.
func (m *hookMessage) set(b HookPath) int {
	if b.Set == 0 && m.word(b) == wordWaiting {
		return m.in.Set
	}
	return b.Set
}

// concerned returns the sets of the blocked paths, those that the exit code is about first, and the first of these.
func (m *hookMessage) concerned() (lead int, sets []int) {
	var first, others []int
	for _, b := range m.in.Blocked {
		id := m.set(b)
		switch {
		case id == 0 || slices.Contains(first, id):
		case m.word(b) == m.reason():
			first = append(first, id)
		default:
			others = append(others, id)
		}
	}
	if len(first) > 0 {
		lead = first[0]
	}
	return lead, append(first, others...)
}

// The words for why a path is blocked; each is also the reason in the last line.
const (
	wordWaiting  = "waiting"
	wordRejected = "rejected"
	wordDenied   = "denied"
	wordStale    = "stale"
)

// word says why a path is blocked.
func (m *hookMessage) word(b HookPath) string {
	switch {
	case b.State == change.StateRejected || b.State == change.StateUndone:
		return wordRejected
	case b.Verdict.Outcome == change.Deny:
		return wordDenied
	case b.State == change.StateStale:
		return wordStale
	}
	return wordWaiting
}

// reason is the word of the exit code.
func (m *hookMessage) reason() string {
	switch m.in.Exit {
	case 4:
		return wordRejected
	case 5:
		return wordDenied
	case 6:
		return wordStale
	}
	return wordWaiting
}

// only reports whether every blocked path has the same word.
func (m *hookMessage) only(word string) bool {
	return !slices.ContainsFunc(m.in.Blocked, func(b HookPath) bool { return m.word(b) != word })
}

func (m *hookMessage) headline() string {
	n := len(m.in.Blocked)
	subject := fmt.Sprintf("%d of %d staged files", n, max(m.in.Staged, n))
	is, was := "are", "were"
	if n == 1 {
		is, was = "is", "was"
	}
	if n == 1 && m.in.Staged == 1 {
		subject = "the one staged file"
	}
	if n == 1 && m.only(wordRejected) {
		subject = shorten(escapeASCII(string(m.in.Blocked[0].File.Path)), hookPathColumns-8)
	}
	end := ""
	if len(m.sets) > 0 {
		end = fmt.Sprintf(" (change #%d)", m.sets[0])
	}
	switch {
	case m.only(wordRejected):
		return subject + " " + was + " rejected" + m.by() + end
	case m.only(wordDenied):
		return subject + " may not be committed" + end
	case m.only(wordStale):
		return subject + " changed since approval" + end
	}
	return subject + " " + is + " not approved" + end
}

func (m *hookMessage) by() string {
	if by := escapeASCII(m.in.Blocked[0].By); by != "" {
		return " by " + cutRight(strings.TrimPrefix(by, "person:"), 16)
	}
	return " by a person"
}

// paths writes the first paths with their reasons.
func (m *hookMessage) paths() {
	shown := m.in.Blocked[:min(len(m.in.Blocked), hookPaths)]
	wide := 0
	var names []string
	for _, b := range shown {
		name := shorten(hookPath(b.File), hookPathColumns)
		names = append(names, name)
		wide = max(wide, len(name))
	}
	for i, b := range shown {
		m.add(fmt.Sprintf("  %-*s  %s", wide, names[i], m.because(b)))
	}
	if more := len(m.in.Blocked) - len(shown); more > 0 {
		line := fmt.Sprintf("  and %d more", more)
		if len(m.sets) > 0 {
			line += fmt.Sprintf(": correx show %d", m.sets[0])
		}
		m.add(line)
	}
}

// hookPath is the path in ASCII, in quotes where its ends could not be seen.
func hookPath(f change.FileChange) string {
	name := escapeASCII(string(f.Path))
	if strings.TrimSpace(name) != name {
		name = `"` + name + `"`
	}
	return name
}

func (m *hookMessage) because(b HookPath) string {
	why := strings.Join(b.Verdict.Why, "; ")
	word := m.word(b)
	switch {
	case b.State == change.StateUndone:
		return "taken back by a person"
	case word == wordRejected:
		why = b.Reason
	}
	if why == "" {
		return word
	}
	return word + ": " + escapeASCII(why)
}

// person writes the one command for a person. What is staged is in the tree already, so what waits from a shadow could not
// land by its number any more: it is approved as it is staged, like everything else. Where nothing stays staged, the set
// that the hook made is approved by its number, unless it is not all that stops the commit.
func (m *hookMessage) person() {
	open := slices.DeleteFunc(slices.Clone(m.in.Blocked), func(b HookPath) bool {
		word := m.word(b)
		return word == wordRejected || word == wordDenied
	})
	all := m.in.Set > 0 && !slices.ContainsFunc(open, func(b HookPath) bool { return m.set(b) != m.in.Set })
	refused := len(open) < len(m.in.Blocked)
	switch {
	case len(open) == 0:
	case refused && !m.in.Temporary:
		m.add("person: unstage what is denied or refused, correx approve --staged, commit again")
	case !m.in.Temporary:
		m.add("person: correx approve --staged, then commit again")
	case all:
		m.add(fmt.Sprintf("person: correx approve %d, then commit again", m.in.Set))
	default:
		m.add("person: git add the paths above, correx approve --staged, then commit again")
	}
}

func (m *hookMessage) agent() string {
	switch {
	case m.only(wordRejected):
		return "this is a person's answer, not a failure. Remove the change or ask."
	case m.only(wordDenied):
		return "nobody is asked about this. Leave it out of the commit."
	case m.only(wordStale):
		return "the earlier approval does not cover these bytes; a person decides again."
	}
	advice := "a person decides. Do not retry or go round it; "
	for _, b := range m.in.Blocked {
		if w := m.word(b); w == wordRejected || w == wordDenied {
			advice = "take out what was refused; for the rest "
		}
	}
	for _, b := range m.in.Blocked {
		if id := m.set(b); id > 0 && m.word(b) == wordWaiting {
			return advice + fmt.Sprintf("run: correx wait %d", id)
		}
	}
	return advice + "stop and say so."
}

// rest says how the files that are not blocked get through.
func (m *hookMessage) rest() {
	n := len(m.in.Blocked)
	if m.in.Staged <= n {
		return
	}
	these := fmt.Sprintf("<the %d above>", n)
	switch {
	case n == 1:
		these = "<the one above>"
	case n > hookPaths:
		these = fmt.Sprintf("<these %d>", n)
	}
	if m.in.Temporary {
		m.add("to commit only the approved files: git commit with their paths, and no -a")
		return
	}
	m.add("to commit only the approved files: git restore --staged " + these)
}

// rule names what settled it.
func (m *hookMessage) rule() {
	for _, b := range m.in.Blocked {
		if b.Verdict.SettledBy == "" || m.word(b) == wordRejected {
			continue
		}
		line := "rule: " + cutRight(escapeASCII(strings.TrimPrefix(b.Verdict.SettledBy, "rule:")), 48)
		if len(m.sets) > 0 {
			line += fmt.Sprintf(" - details: correx show %d", m.sets[0])
		}
		m.add(line)
		return
	}
}

func (m *hookMessage) status(reason string) {
	set := "none"
	if m.lead > 0 {
		set = fmt.Sprintf("#%d", m.lead)
	}
	m.add(fmt.Sprintf("correx-status: blocked reason=%s change=%s exit=%d", reason, set, m.in.Exit))
}

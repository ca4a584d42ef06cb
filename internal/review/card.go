package review

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/correx/correx/internal/change"
)

// Earlier is an earlier try on some of the same paths, and what was answered then.
type Earlier struct {
	ID int
	// State is its state in words, Reason what the person said.
	State, Reason string
}

// CardInput is all that an approval card shows. The zero value of a field that is not known leaves its line out, but for
// Fresh.
type CardInput struct {
	ID int
	// State is the state in words.
	State   string
	Origin  change.Origin
	Verdict change.Verdict
	Files   []change.FileChange
	// Reasons are policy's reasons for each file, in the order of Files.
	Reasons [][]change.Reason
	// Position and Waiting say which of how many waiting sets this is.
	Position, Waiting int

	// Agent, Session, Stage, Worktree, Branch and Commit are what correx knows; Message is what the agent says.
	Agent, Session, Stage    string
	Worktree, Branch, Commit string
	Message                  string
	// Age is how long ago the set was submitted.
	Age time.Duration
	// Expires says until when the set waits, in words; "" for ever.
	Expires string
	// History lists earlier tries, oldest first.
	History []Earlier

	// Fresh says that every base is what the real tree holds; Moved names those that are not, Checked how long ago that
	// was looked at.
	Fresh   bool
	Moved   []change.Path
	Checked time.Duration
	// Undo says until when it can be taken back, or why it cannot: "yes, for 30 days". Empty means that it can.
	Undo string
	// Decision is what was decided, if anything was, and Part on which part of the set, in words, where not on all of it.
	Decision *change.Decision
	Part     string

	// Hunks are the numbers of those shown of the one file, out of Of, where that is not all of them.
	Hunks []int
	Of    int
	// Diff writes the git patch of the set. It is called twice and must write the same both times.
	Diff func(w io.Writer) error

	// Width is the number of columns, 0 for 80 in the head and no limit in the diff.
	Width int
	// Colour adds the terminal's own colours to what signs and words say already.
	Colour bool
}

// CardResult says how much of the change a card showed.
type CardResult struct {
	// FullyShown says that every byte of the change can be read on the card: no line was cut and nothing is binary or too
	// large. Without it, a yes must not be taken by a key alone.
	FullyShown bool
	// CutLines is the number of lines cut at 4,000 columns, Unread the number of contents not shown at all, Escapes the
	// number of hidden characters and bytes written as escapes in the diff.
	CutLines, Unread, Escapes int
}

const (
	labelWidth = 9
	// maxSays is the number of rows that an agent's purpose gets.
	maxSays = 3
	// maxNamed is the number of paths named after a flag.
	maxNamed = 3
)

// Card writes the approval card of a change set, in the order in which it is read: what it comes to, why it waits, what
// must not be missed (worst first), who, what the agent says, earlier tries, the files (the riskiest first), whether it is
// fresh, what a yes does, the whole diff, and the first line again. Rows of the head are wrapped at the width; so are the
// lines of the diff, continued behind a ">". Where a file has several hunks that can be chosen, each has its number on a
// row in brackets above it, as no row of a patch begins. Only what is wider than 4,000 columns is cut, with the number of columns.
//
// The result holds when the error is nil. After an error a part may have been written.
func Card(w io.Writer, in CardInput) (CardResult, error) {
	found := &survey{}
	if err := eachLine(in.Diff, found.take); err != nil {
		return CardResult{}, err
	}
	res := CardResult{CutLines: found.cut, Unread: found.unread, Escapes: found.escapes}
	// Each file has at least one part of the patch. A diff that lacks some is not the whole change.
	res.Unread += max(0, len(in.Files)-len(found.files))
	res.FullyShown = res.CutLines == 0 && res.Unread == 0
	out := bufio.NewWriter(w)
	c := &card{in: in, out: out, width: in.Width, paint: painter{on: in.Colour}, found: found, result: res}
	if c.width <= 0 {
		c.width = 80
	}
	c.files = riskyFirst(in.Files, in.Reasons)
	c.head()
	d := &cardDiff{out: out, width: in.Width, paint: c.paint, found: found, numbers: numbering(in, found)}
	if err := eachLine(in.Diff, d.line); err != nil {
		return CardResult{}, err
	}
	c.foot()
	return res, out.Flush()
}

// eachLine runs write and hands its lines to take.
func eachLine(write func(io.Writer) error, take func(line []byte) error) error {
	if write == nil {
		return nil
	}
	lines := &lineSplitter{line: take}
	if err := write(lines); err != nil {
		return err
	}
	return lines.close()
}

// card is a card being written. Its buffer keeps the first error.
type card struct {
	in     CardInput
	out    *bufio.Writer
	width  int
	paint  painter
	files  []flagged
	found  *survey
	result CardResult
}

func (c *card) head() {
	c.verdict()
	c.why()
	c.flags()
	c.who()
	c.says()
	c.history()
	c.fileList()
	c.fresh()
	c.expires()
	c.decision()
	c.approved()
	if c.in.Diff != nil {
		c.out.WriteString("\n")
	}
}

// foot repeats the first line: a long diff has scrolled it away.
func (c *card) foot() {
	if len(c.found.files) > 0 {
		c.out.WriteString("\n")
		c.verdict()
	}
}

// row writes a field: its label, then its text, which must be escaped already, wrapped behind the label.
func (c *card) row(label, text string) {
	for i, row := range wrap(text, c.width-labelWidth) {
		if i > 0 {
			label = ""
		}
		c.out.WriteString(strings.TrimRight(fmt.Sprintf("%-*s%s", labelWidth, label, c.escapes(row)), " ") + "\n")
	}
}

func (c *card) escapes(s string) string {
	if !c.paint.on {
		return s
	}
	return markEscapes(s)
}

// verdict writes the line that stands alone: state, number, how much, and the worst that is in it.
func (c *card) verdict() {
	state, _ := Escape(c.in.State)
	text := fmt.Sprintf("%s  #%d  %s", strings.ToUpper(state), c.in.ID, amount(c.in.Files))
	if flags := c.tally(); len(flags) > 0 {
		text += ", " + strings.Join(flags, ", ")
	}
	if c.in.Waiting > 1 {
		text += fmt.Sprintf("  (%d of %d waiting)", c.in.Position, c.in.Waiting)
	}
	rows := wrap(text, c.width)
	if len(rows) > 1 {
		rows = wrap(text, c.width-2) // further rows are indented
	}
	for i, row := range rows {
		if i > 0 {
			row = "  " + row
		}
		c.out.WriteString(c.paint.wrap(bold, row) + "\n")
	}
}

// tally counts deletions and names the two worst flags besides.
func (c *card) tally() []string {
	deletes := 0
	seen := map[mark]bool{}
	for _, f := range c.files {
		if f.change.Op == change.OpDelete {
			deletes++
		}
		for _, x := range f.flags {
			seen[x] = true
		}
	}
	for _, r := range c.in.Verdict.Reasons {
		if x, ok := flagOf(r); ok {
			seen[x] = true
		}
	}
	var list []string
	if deletes > 0 {
		list = append(list, count(deletes, "delete"))
	}
	for x := flagDelete + 1; x <= flagCopy && len(list) < 3; x++ {
		if seen[x] {
			list = append(list, x.String())
		}
	}
	return list
}

// why says what made it ask.
func (c *card) why() {
	var clauses []string
	for _, s := range c.in.Verdict.Why {
		text, _ := Escape(s)
		clauses = append(clauses, text)
	}
	if len(clauses) == 0 && c.in.Verdict.SettledBy != "" {
		by, _ := Escape(c.in.Verdict.SettledBy)
		clauses = []string{"settled by " + by}
	}
	if len(clauses) > 0 {
		c.row("why", strings.Join(clauses, "; "))
	}
	if c.in.Verdict.Tier != "" {
		c.row("tier", fmt.Sprintf("%s, %s risk", c.in.Verdict.Tier, c.in.Verdict.Risk))
	}
}

// flags writes a row for each flag that some file raises, worst first, with the paths.
func (c *card) flags() {
	label := "flags"
	write := func(text string) {
		c.row(label, text)
		label = ""
	}
	if !c.result.FullyShown {
		write("NOT FULLY SHOWN: " + c.missing())
	}
	patch := c.found.flags()
	for x := flagDelete; x <= flagCopy; x++ {
		var paths []string
		hidden := 0
		for _, f := range c.files {
			if slices.Contains(f.flags, x) {
				path, _ := EscapePath(f.change.Path)
				paths = append(paths, path)
				hidden += f.change.Hidden
			}
		}
		text := x.String()
		if x == flagHidden && hidden > 0 {
			text = count(hidden, "hidden character")
		}
		switch {
		case len(paths) > maxNamed:
			write(fmt.Sprintf("%s: %s and %d more", text, strings.Join(paths[:maxNamed], ", "), len(paths)-maxNamed))
		case len(paths) > 0:
			write(text + ": " + strings.Join(paths, ", "))
		case slices.Contains(patch, x) || c.raised(x):
			write(text)
		}
	}
}

// raised reports whether policy gave a reason for the set that raises x.
func (c *card) raised(x mark) bool {
	return slices.ContainsFunc(c.in.Verdict.Reasons, func(r change.Reason) bool {
		y, ok := flagOf(r)
		return ok && x == y
	})
}

// missing says what the card does not show.
func (c *card) missing() string {
	var list []string
	if c.result.Unread > 0 {
		list = append(list, count(c.result.Unread, "content")+" (binary, too large or missing)")
	}
	if c.result.CutLines > 0 {
		list = append(list, count(c.result.CutLines, "line")+" cut")
	}
	return strings.Join(list, ", ")
}

// who writes what correx itself knows of the origin.
func (c *card) who() {
	var facts []string
	add := func(label, value string) {
		if value, _ := Escape(value); value != "" {
			facts = append(facts, strings.TrimSpace(label+" "+value))
		}
	}
	add("agent", c.in.Agent)
	add("session", c.in.Session)
	add("stage", c.in.Stage)
	switch c.in.Origin {
	case change.OriginCommit:
		add("", "staged for a commit")
	case change.OriginUndo:
		add("", "takes back what landed")
	}
	add("worktree", c.in.Worktree)
	add("branch", c.in.Branch)
	add("commit", c.in.Commit)
	if c.in.Age > 0 {
		add("submitted", Age(c.in.Age))
	}
	if len(facts) > 0 {
		c.row("who", strings.Join(facts, ", "))
	}
}

// says writes the agent's own words. Every row carries the label, so that no line of them can pass for correx's.
func (c *card) says() {
	if strings.TrimSpace(c.in.Message) == "" {
		return
	}
	text, _ := EscapeText(c.in.Message)
	var rows []string
	for line := range strings.SplitSeq(strings.Trim(text, "\r\n"), "\n") {
		rows = append(rows, wrap(strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), "\r"), c.width-labelWidth-2)...)
	}
	for i, row := range rows[:min(len(rows), maxSays)] {
		before, after := " ", ""
		if i == 0 {
			before = `"`
		}
		if i == min(len(rows), maxSays)-1 {
			after = `"`
		}
		full := fmt.Sprintf("%-*s%s%s%s", labelWidth, "says:", before, c.escapes(row), after)
		c.out.WriteString(strings.TrimRight(full, " ") + "\n")
	}
	if more := len(rows) - maxSays; more > 0 {
		fmt.Fprintf(c.out, "%-*s(%s not shown)\n", labelWidth, "says:", count(more, "more line"))
	}
}

func (c *card) history() {
	label := "history"
	for _, e := range c.in.History {
		state, _ := Escape(e.State)
		text := fmt.Sprintf("#%d %s", e.ID, state)
		if reason, _ := Escape(e.Reason); reason != "" {
			text += fmt.Sprintf(`; a person said: "%s"`, reason)
		}
		c.row(label, text)
		label = ""
	}
}

// fileList names every file, the riskiest first, with what was pinned where the content is not shown.
func (c *card) fileList() {
	label := "files"
	for _, f := range c.files {
		text := fileName(f.change) + "  " + fileCounts(f.change)
		if len(f.flags) > 0 {
			text += "  " + strings.Join(words(f.flags), ", ")
		}
		c.row(label, text)
		label = ""
		if f.change.Binary || f.change.TooLarge {
			c.row("", "  sha256 "+digest(f.change.Base)+" -> "+digest(f.change.Proposed))
		}
	}
}

func digest(p change.Pin) string {
	if !p.Exists() {
		return "nothing"
	}
	sum, _ := Escape(p.SHA256)
	return sum[:min(len(sum), 16)]
}

// fresh says whether the set can land as it is; once it is decided there is nothing to say.
func (c *card) fresh() {
	if c.in.Decision != nil {
		return
	}
	checked := ""
	if c.in.Checked > 0 {
		checked = ", checked " + Age(c.in.Checked)
	}
	if c.in.Fresh {
		c.row("pins", "match the real tree"+checked)
		return
	}
	var paths []string
	for _, p := range c.in.Moved {
		path, _ := EscapePath(p)
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		paths = []string{"a file it is based on"}
	}
	c.row("pins", "STALE: "+strings.Join(paths, ", ")+" changed since"+checked+"; nothing can land from here")
}

// expires says until when a yes is one.
func (c *card) expires() {
	if text, _ := Escape(c.in.Expires); text != "" {
		c.row("expires", text)
	}
}

func (c *card) decision() {
	d := c.in.Decision
	if d == nil {
		return
	}
	by, _ := Escape(d.By)
	text := fmt.Sprintf("%s by %s", d.Kind, by)
	if d.Kind == change.TimedOut {
		text = "timed out, by nobody"
	}
	if part, _ := Escape(c.in.Part); part != "" {
		text += ": " + part
	}
	if reason, _ := Escape(d.Reason); reason != "" {
		text += fmt.Sprintf(`; reason: "%s"`, reason)
	}
	if steering, _ := Escape(d.Steering); steering != "" {
		text += fmt.Sprintf(`; steering: "%s"`, steering)
	}
	c.row("decided", text)
}

// approved says what a yes would do, and whether it can be taken back.
func (c *card) approved() {
	if c.in.Decision != nil {
		return
	}
	if c.in.Origin == change.OriginCommit {
		c.row("if yes", "nothing is written: the commit may then be made with exactly these bytes")
		return
	}
	written, removed := 0, 0
	for _, f := range c.in.Files {
		for _, s := range f.Steps() {
			if s.Result.Exists() {
				written++
			} else {
				removed++
			}
		}
	}
	var parts []string
	if written > 0 {
		parts = append(parts, "writes "+count(written, "path"))
	}
	if removed > 0 {
		parts = append(parts, "removes "+count(removed, "path"))
	}
	undo, _ := Escape(c.in.Undo)
	if undo == "" {
		undo = fmt.Sprintf("yes, by correx undo %d", c.in.ID)
	}
	c.row("if yes", strings.Join(parts, " and ")+" in the real tree; undo: "+undo)
}

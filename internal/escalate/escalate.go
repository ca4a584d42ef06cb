// Package escalate asks a program of the user's what it makes of a change set. It starts the program and reads its answer,
// and knows nothing of change sets: facts go in as bytes, a word and a reason come out.
//
// The program is given little to go wrong with: a rebuilt environment, a folder outside every working tree, standard input
// and output, a bounded time. Whatever it does beyond answering (it cannot be started, fails, is late, says too much or not
// what was expected) is an error, and its process group is killed.
package escalate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// Program is a program of the user's and how it is started.
type Program struct {
	// Args are the program, as an absolute path, and its arguments. No shell sees them.
	Args []string
	// Outside are folders in which neither the program nor a path among its arguments may lie.
	Outside []string
	// Env is its whole environment.
	Env []string
	// Limit is how long it may take.
	Limit time.Duration
}

// Answer is what a program says of a change set.
type Answer struct {
	// Verdict is "keep", "ask" or "deny".
	Verdict string
	// Reason is why, in at most MaxReason bytes of valid UTF-8.
	Reason string
}

// The bounds on what a program may say.
const (
	// MaxReason is how many bytes of a reason are kept.
	MaxReason = 500
	maxOutput = 64 << 10
	maxErrors = 200
	// patience is how long a program that is to end, or has ended, may hold its output open.
	patience = 500 * time.Millisecond
)

// Ask starts the program, hands it facts on standard input, and returns its answer. After an error there is no answer. The
// program is gone when Ask returns, and so is its process group unless it ended well and left nothing open.
func (p Program) Ask(ctx context.Context, facts []byte) (Answer, error) {
	if err := p.check(); err != nil {
		return Answer{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.Limit, fmt.Errorf("did not answer within %s", p.Limit))
	defer cancel()
	stop, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	out := &bounded{most: maxOutput, over: func() { kill(fmt.Errorf("said more than %d bytes", maxOutput)) }}
	errs := &bounded{most: maxErrors}
	cmd := exec.CommandContext(stop, p.Args[0], p.Args[1:]...)
	cmd.Dir = filepath.VolumeName(p.Args[0]) + string(filepath.Separator)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Env, bytes.NewReader(facts), out, errs
	cmd.WaitDelay = patience
	inGroup(cmd)
	err := cmd.Run()
	if cmd.Process != nil && errors.Is(err, exec.ErrWaitDelay) {
		// What it left running holds its output open, and so the group is still the one that it began.
		_ = killGroup(cmd.Process)
	}
	switch {
	case stop.Err() != nil:
		return Answer{}, context.Cause(stop)
	case err != nil && cmd.ProcessState == nil:
		return Answer{}, fmt.Errorf("cannot be started: %w", err)
	case errors.Is(err, exec.ErrWaitDelay):
		return Answer{}, errors.New("ended and left something running")
	case err != nil:
		return Answer{}, failed(err, errs.String())
	}
	return parse(out.kept.Bytes())
}

// failed says how a program ended, with the first line of what it complained about.
func failed(err error, complaint string) error {
	line, _, _ := strings.Cut(strings.TrimSpace(complaint), "\n")
	if line != "" {
		return fmt.Errorf("ended with %w: %s", err, strings.ToValidUTF8(line, "\ufffd"))
	}
	return fmt.Errorf("ended with %w", err)
}

// parse reads an answer: one JSON object with a verdict and at most a reason, each named once, and nothing else.
func parse(said []byte) (Answer, error) {
	d := json.NewDecoder(bytes.NewReader(said))
	members, err := textMembers(d)
	if err != nil {
		return Answer{}, fmt.Errorf("answered no JSON object with verdict and reason: %q", head(said))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Answer{}, fmt.Errorf("said something behind its answer: %q", head(said))
	}
	a := Answer{Verdict: members["verdict"], Reason: Shorten(members["reason"])}
	switch a.Verdict {
	case "keep", "ask", "deny":
		return a, nil
	}
	return Answer{}, fmt.Errorf("answered the verdict %q, expected keep, ask or deny", head([]byte(a.Verdict)))
}

// textMembers reads an object whose members are texts, in exactly the letters of their names. The decoder of the library takes
// any letter case for the same name, and of a member that stands there twice the later.
func textMembers(d *json.Decoder) (map[string]string, error) {
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return nil, errors.New("no object")
	}
	members := map[string]string{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		value, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, isKey := name.(string)
		text, isText := value.(string)
		_, twice := members[key]
		if !isKey || !isText || twice || key != "verdict" && key != "reason" {
			return nil, fmt.Errorf("member %v", name)
		}
		members[key] = text
	}
	_, err = d.Token()
	return members, err
}

// head is the beginning of what was said, for a message.
func head(said []byte) string { return string(said[:min(len(said), 60)]) }

// Shorten makes a reason of text: valid UTF-8, at most MaxReason bytes.
func Shorten(text string) string {
	const more = "…"
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd"))
	if len(text) <= MaxReason {
		return text
	}
	end := MaxReason - len(more)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + more
}

// bounded keeps the first bytes written to it and drops the rest; over is told of the first that is dropped.
type bounded struct {
	kept bytes.Buffer
	most int
	over func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - b.kept.Len()
	b.kept.Write(p[:min(room, len(p))])
	if len(p) > room && b.over != nil {
		b.over()
	}
	return len(p), nil
}

func (b *bounded) String() string { return b.kept.String() }

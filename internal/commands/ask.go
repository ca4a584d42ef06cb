package commands

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// writerString collects output.
type writerString = bytes.Buffer

// fder is a standard stream.
type fder = *os.File

// errNoAnswer is returned when the question was answered by nothing that counts as an answer.
var errNoAnswer = errors.New("no answer")

// ask puts a question to the person at the terminal and returns the line typed, without the surrounding space. An end of
// input or an interrupt is errNoAnswer, never a yes.
func (e Env) ask(ctx context.Context, question string) (string, error) {
	fmt.Fprint(e.Stderr, question)
	answer := make(chan string, 1)
	failed := make(chan error, 1)
	go func() {
		line, err := bufio.NewReader(io.LimitReader(e.Stdin, 1<<12)).ReadString('\n')
		if err != nil {
			failed <- errNoAnswer
			return
		}
		answer <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(e.Stderr)
		return "", ctx.Err()
	case err := <-failed:
		fmt.Fprintln(e.Stderr)
		return "", err
	case line := <-answer:
		return line, nil
	}
}

// confirm asks a yes-or-no question. Only y and yes are yes; everything else is no.
func (e Env) confirm(ctx context.Context, question string) (bool, error) {
	line, err := e.ask(ctx, question+" [y/N] ")
	if errors.Is(err, errNoAnswer) {
		return false, nil
	}
	switch strings.ToLower(line) {
	case "y", "yes":
		return err == nil, err
	}
	return false, err
}

// confirmWord asks for a word to be typed in full.
func (e Env) confirmWord(ctx context.Context, question, word string) (bool, error) {
	line, err := e.ask(ctx, fmt.Sprintf("%s; type %q to go on: ", question, word))
	if errors.Is(err, errNoAnswer) {
		return false, nil
	}
	return err == nil && line == word, err
}

package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Error is returned for settings that cannot be used.
type Error struct {
	// File is the name of the layer, as it was handed in.
	File string
	// Line and Column are where the problem stands, counted from 1, the column in characters; 0 where there is no place.
	Line, Column int
	// Key is the setting it is about, such as "auto.max_bytes"; empty for a problem of the file.
	Key string
	// Problem says what is wrong.
	Problem string
	// Nearest is the known key that a mistaken one resembles most; empty where none does.
	Nearest string
	// Err is the cause, where there is one.
	Err error
}

// Error returns place, problem and nearest key in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(place(e.File, e.Line))
	if e.Column > 0 {
		fmt.Fprintf(&b, ":%d", e.Column)
	}
	b.WriteString(": ")
	if e.Key != "" {
		fmt.Fprintf(&b, "%q: ", short(e.Key))
	}
	b.WriteString(e.Problem)
	if e.Nearest != "" {
		fmt.Fprintf(&b, "; nearest known key: %q", e.Nearest)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Notice tells of a setting that was left out, though nothing is wrong with it.
type Notice struct {
	// File and Line are where the setting stands.
	File string
	Line int
	// Key is the setting.
	Key string
	// Text says why it was left out.
	Text string
}

// String returns the notice in one line.
func (n Notice) String() string {
	return fmt.Sprintf("%s: %q: %s", place(n.File, n.Line), n.Key, n.Text)
}

// place returns "file:line"; a file name that could confuse a terminal is quoted.
func place(file string, line int) string {
	if strings.ContainsFunc(file, func(r rune) bool { return !unicode.IsPrint(r) }) {
		file = strconv.Quote(file)
	}
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// short cuts a key that nobody would want to read to the end.
func short(key string) string {
	const most = 60
	if len(key) <= most {
		return key
	}
	return strings.ToValidUTF8(key[:most], "") + "..."
}

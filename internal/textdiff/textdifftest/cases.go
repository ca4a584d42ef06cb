// Package textdifftest is the list of kinds of changes that a patch, a landing and taking it back must bring over byte
// for byte. It is a table, and writes nothing.
package textdifftest

import (
	"fmt"
	"slices"
	"strings"
)

// Node is a file or symlink of a small tree. Mode is git's; Data is the content, or where the symlink leads.
type Node struct{ Mode, Data string }

// Tree holds nodes by their paths.
type Tree map[string]Node

// Case is one kind of change. Renames maps new to old paths. Exact says that git writes the very same patch.
type Case struct {
	Name     string
	Old, New Tree
	Renames  map[string]string
	Exact    bool
}

// File is a file that nobody executes.
func File(data string) Node { return Node{"100644", data} }

// Executable is a file with its executable bit.
func Executable(data string) Node { return Node{"100755", data} }

// Link is a symlink.
func Link(target string) Node { return Node{"120000", target} }

// Numbered is n lines, of which those with the numbers changed read otherwise.
func Numbered(n int, changed ...int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if slices.Contains(changed, i) {
			fmt.Fprintf(&b, "changed %d\n", i)
		} else {
			fmt.Fprintf(&b, "line %d\n", i)
		}
	}
	return b.String()
}

// longName is a name of as many bytes as file systems take.
func longName(first string) string { return first + strings.Repeat("n", 255-len(first)) }

// Deep is a path of that many names of 255 bytes each.
func Deep(first string, names int) string {
	return longName(first) + strings.Repeat("/"+longName("d"), names-1)
}

// Cases is every kind of change.
func Cases() []Case { return slices.Concat(texts(), links(), places(), binaries()) }

// texts are changes of lines: ends of lines and files, characters that are taken for ends of lines, and sizes.
func texts() []Case {
	long := strings.Repeat("w1;", 300000)
	return []Case{
		{Name: "edit", Old: Tree{"f": File(Numbered(40))}, New: Tree{"f": File(Numbered(40, 3, 20, 39))}, Exact: true},
		{Name: "create", Old: Tree{}, New: Tree{"d/e/f": File("a\nb\n")}, Exact: true},
		{Name: "delete", Old: Tree{"d/e/f": File("a\nb\n")}, New: Tree{}, Exact: true},
		{Name: "create empty", Old: Tree{}, New: Tree{"b/__init__.py": File("")}, Exact: true},
		{Name: "create empty executable", Old: Tree{}, New: Tree{"x": Executable("")}, Exact: true},
		{Name: "delete empty", Old: Tree{"a/__init__.py": File("")}, New: Tree{}, Exact: true},
		{Name: "fill empty", Old: Tree{"f": File("")}, New: Tree{"f": File("a\n")}, Exact: true},
		{Name: "empty it", Old: Tree{"f": File("a\n")}, New: Tree{"f": File("")}, Exact: true},
		{Name: "newline goes", Old: Tree{"f": File("a\nb\n")}, New: Tree{"f": File("a\nb")}, Exact: true},
		{Name: "newline comes", Old: Tree{"f": File("a\nb")}, New: Tree{"f": File("a\nb\n")}, Exact: true},
		{Name: "no newline kept", Old: Tree{"f": File("a\nb")}, New: Tree{"f": File("c\nb")}, Exact: true},
		{Name: "no newline changed", Old: Tree{"f": File("a\nb")}, New: Tree{"f": File("a\nc")}, Exact: true},
		{Name: "created without newline", Old: Tree{}, New: Tree{"f": File("a")}, Exact: true},
		{Name: "only a newline", Old: Tree{"f": File("")}, New: Tree{"f": File("\n")}, Exact: true},
		{Name: "CRLF", Old: Tree{"f": File("a\r\nb\r\n")}, New: Tree{"f": File("a\r\nc\r\n")}, Exact: true},
		{Name: "CRLF to LF", Old: Tree{"f": File("a\r\nb\r\n")}, New: Tree{"f": File("a\nb\n")}, Exact: true},
		{Name: "lone CR", Old: Tree{"f": File("a\rb\nc\n")}, New: Tree{"f": File("a\rB\nc\n")}, Exact: true},
		{Name: "trailing CR without newline", Old: Tree{"f": File("a\r")}, New: Tree{"f": File("b\r")}, Exact: true},
		{Name: "form feed and U+2028", Old: Tree{"f": File("a\fb\vc\nd\u2028e\u0085f\ng\n")}, New: Tree{"f": File("a\fb\vc\nd\u2028e\u0085f\nG\n")}, Exact: true},
		{Name: "byte order mark lost", Old: Tree{"f": File("\ufeffsku;qty\r\n7;2\r\n")}, New: Tree{"f": File("sku;qty\r\n7;3\r\n")}, Exact: true},
		{Name: "invalid UTF-8", Old: Tree{"f": File("caf\xe9\n")}, New: Tree{"f": File("caf\xe8\n")}, Exact: true},
		{Name: "enormous line", Old: Tree{"f": File(long + "\n")}, New: Tree{"f": File(long[:450000] + "W" + long[450000:] + "\n")}, Exact: true},
		{Name: "looks like a patch", Old: Tree{"f": File("-- a\n++ b\n@@ -1 +1 @@\n")}, New: Tree{"f": File("-- b\n++ b\ndiff --git a/x b/x\n")}, Exact: true},
		{Name: "distinct lines", Old: Tree{"f": File(Numbered(70000))}, New: Tree{"f": File(Numbered(70000, 11, 60011))}, Exact: true},
		{Name: "100,000 lines", Old: Tree{"f": File(Numbered(100000))}, New: Tree{"f": File(Numbered(100000, 11, 60011, 99999))}, Exact: true},
		{Name: "300,000 lines", Old: Tree{"f": File(Numbered(300000))}, New: Tree{"f": File(Numbered(300000, 1, 299999))}, Exact: true},
		{Name: "57,345 distinct lines, rewritten", Old: Tree{"f": File(Numbered(57345))}, New: Tree{"f": File(strings.ReplaceAll(Numbered(57345), "line", "row"))}, Exact: true},
		{Name: "mixed endings", Old: Tree{"f": File("a\r\nb\nc\rd\r\n\r\n")}, New: Tree{"f": File("a\nb\r\nc\rd\n\n\r")}, Exact: true},
		{Name: "byte order mark gained", Old: Tree{"f": File("a\nb\n")}, New: Tree{"f": File("\ufeffa\nb\n")}, Exact: true},
		{Name: "a whole patch", Old: Tree{"f": File("diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n")}, New: Tree{"f": File("diff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file")}, Exact: true},
		{Name: "conflict markers", Old: Tree{"f": File("a\n")}, New: Tree{"f": File("<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")}, Exact: true},
	}
}

// links are changes of modes and symlinks.
func links() []Case {
	return []Case{
		{Name: "executable", Old: Tree{"f": File("a\n")}, New: Tree{"f": Executable("a\n")}, Exact: true},
		{Name: "no longer executable, edited", Old: Tree{"f": Executable("a\n")}, New: Tree{"f": File("b\n")}, Exact: true},
		{Name: "symlink created", Old: Tree{}, New: Tree{"l": Link("no/where")}, Exact: true},
		{Name: "symlink retargeted", Old: Tree{"l": Link("a")}, New: Tree{"l": Link("b c\td")}, Exact: true},
		{Name: "symlink deleted", Old: Tree{"l": Link("a")}, New: Tree{}, Exact: true},
		{Name: "file to symlink", Old: Tree{"x": File("a\nb\n")}, New: Tree{"x": Link("y")}, Exact: true},
		{Name: "symlink to file", Old: Tree{"x": Link("y")}, New: Tree{"x": Executable("a\nb\n")}, Exact: true},
		{Name: "symlink to empty file", Old: Tree{"x": Link("y")}, New: Tree{"x": File("")}, Exact: true},
		{Name: "symlink to binary", Old: Tree{"x": Link("y")}, New: Tree{"x": File("\x00")}},
		{Name: "executable created and another gone", Old: Tree{"f": Executable("#!/bin/sh\n")}, New: Tree{"g": Executable("#!/bin/sh\nexit 1\n")}},
		{Name: "symlink with an odd target", Old: Tree{"l": Link("a")}, New: Tree{"l": Link("caf\xe9\nb ")}, Exact: true},
	}
}

// places are changes of where things stand, and of what kind of thing stands there.
func places() []Case {
	return []Case{
		{Name: "file to folder", Old: Tree{"x": File("a\n")}, New: Tree{"x/y": File("a\nb\nc\nd\n"), "x/z/w": File("e\n")}, Exact: true},
		{Name: "folder to file", Old: Tree{"x/y": File("a\nb\nc\nd\n"), "x/z/w": File("e\n")}, New: Tree{"x": File("a\n")}, Exact: true},
		{Name: "folder to symlink", Old: Tree{"x/y": File("a\n")}, New: Tree{"x": Link("elsewhere")}, Exact: true},
		{Name: "rename", Old: Tree{"a": File(Numbered(9))}, New: Tree{"b/c": File(Numbered(9))}, Renames: map[string]string{"b/c": "a"}, Exact: true},
		{Name: "rename and edit", Old: Tree{"a": File(Numbered(40))}, New: Tree{"c d": File(Numbered(40, 7))}, Renames: map[string]string{"c d": "a"}},
		{Name: "rename, edit and mode", Old: Tree{"a": File(Numbered(40))}, New: Tree{"c": Executable(Numbered(40, 7))}, Renames: map[string]string{"c": "a"}},
		{Name: "rename by case", Old: Tree{"Readme.md": File("hello\n")}, New: Tree{"README.md": File("hello\n")}, Renames: map[string]string{"README.md": "Readme.md"}, Exact: true},
		{Name: "rename into the place of a folder", Old: Tree{"x/y": File(Numbered(9))}, New: Tree{"x": File(Numbered(9))}, Renames: map[string]string{"x": "x/y"}, Exact: true},
		{Name: "swap", Old: Tree{"a": File("1\n"), "b": File("2\n")}, New: Tree{"a": File("2\n"), "b": File("1\n")}, Exact: true},
		{Name: "move onto another", Old: Tree{"a.md": File("draft\n"), "b.md": File(Numbered(80))}, New: Tree{"b.md": File("draft\n")}},
		{Name: "rename of an odd name", Old: Tree{"t\tb": File(Numbered(9))}, New: Tree{"new\nline": File(Numbered(9))}, Renames: map[string]string{"new\nline": "t\tb"}, Exact: true},
		{Name: "folder emptied", Old: Tree{"d/a": File("a\n"), "d/e/b": File("b\n"), "k": File("k\n")}, New: Tree{"k": File("k\n")}, Exact: true},
		{Name: "deep new folders", Old: Tree{}, New: Tree{"1/2/3/4/5/6/7/8/9/10/11/12/f": File("deep\n")}, Exact: true},
		{Name: "path near the limit of the system", Old: Tree{Deep("old", 14): File("a\n")}, New: Tree{Deep("old", 14): File("b\n"), Deep("new", 14): File("\x00")}},
		{Name: "name of 255 bytes", Old: Tree{longName("e"): File("a\n"), longName("g"): File("gone\n"), longName("r"): File(Numbered(9))}, New: Tree{longName("e"): File("b\n"), longName("c"): File("c\n"), longName("m"): File(Numbered(9))}, Renames: map[string]string{longName("m"): longName("r")}},
		{Name: "names that normalise alike", Old: Tree{"\u00e9": File("one\n"), "e\u0301": File("two\n")}, New: Tree{"\u00e9": File("1\n"), "e\u0301": File("2\n")}, Exact: true},
		{Name: "names that differ in case", Old: Tree{"a": File("one\n"), "A": File("two\n")}, New: Tree{"a": File("1\n"), "A": Link("a")}, Exact: true},
	}
}

// binaries are changes of what is no text.
func binaries() []Case {
	return []Case{
		{Name: "binary created", Old: Tree{}, New: Tree{"b": File("\x00\x01\x02")}},
		{Name: "binary edited", Old: Tree{"b": File("\x00a\n" + Numbered(300))}, New: Tree{"b": Executable("\x00b\n" + Numbered(300, 9))}},
		{Name: "binary deleted", Old: Tree{"b": File("\x00a\n")}, New: Tree{}},
		{Name: "binary emptied", Old: Tree{"b": File("\x00a\n")}, New: Tree{"b": File("")}},
		{Name: "binary becomes text", Old: Tree{"b": File("\xff\xfeh\x00i\x00\r\x00\n\x00")}, New: Tree{"b": File("hi\r\n")}},
		{Name: "NUL far in", Old: Tree{"b": File(Numbered(4000) + "tail\x00end\n")}, New: Tree{"b": File(Numbered(4000, 1) + "tail\x00END\n")}},
		{Name: "binary renamed and edited", Old: Tree{"b": File("\x00" + Numbered(300))}, New: Tree{"c": File("\x00" + Numbered(300, 9))}, Renames: map[string]string{"c": "b"}},
		{Name: "UTF-16 edited", Old: Tree{"b": File("\xff\xfeh\x00i\x00\n\x00")}, New: Tree{"b": File("\xff\xfeh\x00o\x00\n\x00")}},
		{Name: "UTF-16 of the other order, to text", Old: Tree{"b": File("\xfe\xff\x00h\x00i\x00\n")}, New: Tree{"b": File("hi\n")}},
		{Name: "text becomes binary", Old: Tree{"b": File("a\nb\n")}, New: Tree{"b": File("a\n\x00b\n")}},
		{Name: "binary executable becomes a symlink", Old: Tree{"b": Executable("\x7fELF\x00")}, New: Tree{"b": Link("c")}},
		{Name: "binary in the place of a folder", Old: Tree{"b/c": File("\x00c")}, New: Tree{"b": File("\x00b")}},
	}
}

// OddNames are names that programs trip over.
func OddNames() []string {
	return []string{
		"two words", `it"s`, "it's", `back\slash`, "-rf", "--staged", " lead", "trail ", "dot.", "star*", "$(id)", "new\nline",
		"\u00fcber", "m\xe9.txt", "m\xe8.txt", "tab\there", "b/x y", "bell\a\b\v\f\r\x1b\x7f", "\u202egnp", "a/b \"q\" c", "emoji \U0001F600",
		"a,b", ":colon", "[a-z]?", "#hash", "!bang", "~", "con", "a\\/b", "ends\\", "..dots", "...", "\xff\xfe", "%s%d", "nul\x01", "a -> b", "{a,b}",
	}
}

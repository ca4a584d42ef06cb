package command

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/correx/correx/internal/change"
)

// redirect grades a redirection and returns what the command reads after it.
func (w *walker) redirect(sc *scope, r *syntax.Redirect, in source) source {
	w.visit(r)
	target := arg{known: true}
	if list := w.word(sc, r.Word); len(list) == 1 {
		target = list[0]
	} else if len(list) > 1 {
		target = arg{text: w.printed(r.Word)}
	}
	text := r.Op.String() + " " + target.text
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return w.document(sc, r)
	case syntax.WordHdoc:
		if target.known {
			return source{sourceText, target.text + "\n"}
		}
		return source{kind: worst(r.Word)}
	case syntax.RdrIn:
		w.found(text, w.reads(sc, target), "reads a file")
		if target.known && target.text == "/dev/null" {
			return source{}
		}
		if isNetwork(target.text) {
			return source{kind: sourceNetwork}
		}
		return source{kind: sourceFile}
	case syntax.DplIn, syntax.DplOut:
		if isNumber(strings.TrimSuffix(target.text, "-")) || target.text == "-" {
			if target.known {
				if r.Op == syntax.DplIn {
					return source{kind: max(in.kind, sourceUnknown)}
				}
				return in
			}
		}
		if !target.known && r.Op == syntax.DplIn {
			w.found(text, finding{change.T3, change.Unclassified, "reads what only run time knows"}, "")
			return source{kind: sourceUnknown}
		}
	}
	if target.glob {
		target.known = false
	}
	f := w.writes(sc, target)
	w.found(text, f, "writes nothing that is kept")
	if isNetwork(target.text) {
		return source{kind: sourceNetwork}
	}
	return in
}

// found records a finding about a file.
func (w *walker) found(text string, f finding, otherwise string) {
	if f.why == "" {
		f.why = otherwise
	}
	w.add(Part{Text: clip(text), Tier: f.tier, Reason: f.reason, Why: f.why})
}

// document grades what stands in a here-document.
func (w *walker) document(sc *scope, r *syntax.Redirect) source {
	if r.Hdoc == nil {
		return source{kind: sourceText}
	}
	w.inside(sc, r.Hdoc)
	quoted := false
	for _, p := range r.Word.Parts {
		l, ok := p.(*syntax.Lit)
		quoted = quoted || !ok || strings.Contains(l.Value, `\`)
	}
	var b strings.Builder
	for _, p := range r.Hdoc.Parts {
		l, ok := p.(*syntax.Lit)
		switch {
		case !ok:
			return source{kind: worst(r.Hdoc)}
		case quoted:
			b.WriteString(l.Value)
		default:
			b.WriteString(unquoteDouble(l.Value))
		}
	}
	return source{sourceText, b.String()}
}

// emptiesFile reports whether a statement writes nothing into a file that it truncates.
func emptiesFile(s *syntax.Stmt) bool {
	truncates := false
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll, syntax.RdrAllClob:
			fd := r.N
			truncates = truncates || !strings.HasPrefix(r.Word.Lit(), "/dev/") && (fd == nil || fd.Value == "1")
		}
	}
	if !truncates || s.Cmd == nil {
		return truncates
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return false
	}
	args := unwrapped(call.Args)
	if len(args) == 0 {
		// What exec alone redirects is written later.
		return len(call.Args) != 1 || call.Args[0].Lit() != "exec"
	}
	switch args[0] {
	case ":", "true", "false":
		return true
	case "cat":
		return len(args) > 1 && strings.Trim(strings.Join(args[1:], ""), "-") == strings.Repeat("/dev/null", len(args)-1)
	case "printf":
		return strings.Join(args[1:], "") == ""
	case "echo":
		return len(args) > 1 && args[1] == "-n" && strings.Join(args[2:], "") == ""
	}
	return false
}

// unwrapped returns the plain texts of a command without the words that only run another.
func unwrapped(list []*syntax.Word) []string {
	var texts []string
	for _, w := range list {
		text, ok := plainText(w)
		if !ok {
			text = "$"
		}
		wrapper := oneOf(path.Base(text), "command builtin nice env nohup time exec stdbuf setsid") || strings.HasPrefix(text, "-") || strings.Contains(text, "=")
		switch {
		case len(texts) > 0:
			texts = append(texts, text)
		case !wrapper:
			texts = append(texts, path.Base(text))
		}
	}
	return texts
}

// plainText returns the text of a word without expansions; false where it has some.
func plainText(w *syntax.Word) (string, bool) {
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok {
			return unquoteBare(l.Value), true
		}
	}
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unquoteBare(p.Value))
		case *syntax.SglQuoted:
			text, ok := p.Value, true
			if p.Dollar {
				text, ok = ansiC(p.Value)
			}
			if !ok {
				return "", false
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(unquoteDouble(l.Value))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// unquoteBare drops the backslashes outside quotes.
func unquoteBare(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			if i++; i == len(s) || s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// worst returns the worst kind of source among the commands inside a node.
func worst(n syntax.Node) sourceKind {
	kind := sourceUnknown
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			for _, a := range c.Args {
				text, _ := plainText(a)
				kind = max(kind, sourceOf(text))
			}
		}
		return true
	})
	return kind
}

func sourceOf(name string) sourceKind {
	name = name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case networkPrograms[name]:
		return sourceNetwork
	case decoders[name]:
		return sourceDecoded
	}
	return sourceUnknown
}

var (
	networkPrograms = set("curl wget nc ncat netcat socat ssh ftp sftp http https aria2c lynx telnet gh glab fetch dig nslookup host aws gsutil gcloud xh")
	decoders        = set("base64 base32 basenc tr rev xxd od openssl gunzip zcat gzip uudecode bzip2 bzcat xz xzcat unxz gpg age hex uncompress zstd zstdcat")
)

// noteDownload remembers the files into which a statement puts what comes from the network.
func (w *walker) noteDownload(sc *scope, s *syntax.Stmt, in source) {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.RdrClob, syntax.AppOut, syntax.RdrAll, syntax.AppAll:
			if in.kind != sourceNetwork && worst(s) != sourceNetwork {
				return
			}
			if text, ok := plainText(r.Word); ok {
				w.downloaded[w.resolve(sc, literal(text))] = true
			}
		}
	}
}

// output says what a statement of a pipeline passes on.
func (w *walker) output(sc *scope, s *syntax.Stmt, in source) source {
	if known, ok := w.passed[s]; ok {
		return known
	}
	if w.passed == nil {
		w.passed = make(map[*syntax.Stmt]source, w.nodes)
	}
	w.passed[s] = w.passesOn(sc, s, in)
	return w.passed[s]
}

func (w *walker) passesOn(sc *scope, s *syntax.Stmt, in source) source {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if b, is := s.Cmd.(*syntax.BinaryCmd); is && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
		return w.output(sc, b.Y, w.output(sc, b.X, in))
	}
	if !ok || len(call.Args) == 0 {
		return source{kind: max(worst(s), in.kind)}
	}
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = source{kind: sourceUnknown}
			if text, ok := plainDocument(r); ok {
				in = source{sourceText, text}
			}
		case syntax.RdrIn:
			in = source{kind: sourceFile}
		case syntax.WordHdoc:
			in = source{kind: max(sourceUnknown, worst(r.Word))}
		}
	}
	switch name, _ := plainText(call.Args[0]); programName(name) {
	case "echo", "printf":
		if text, ok := echoed(call.Args); ok {
			return source{sourceText, text}
		}
	case "cat":
		if len(call.Args) == 1 {
			return in
		}
		return source{kind: max(sourceFile, in.kind)}
	case "sort", "head", "tail", "uniq", "tee", "grep", "egrep", "rg":
		if in.kind == sourceLister {
			return in
		}
	}
	if w.listsRepository(sc, []*syntax.Stmt{s}) {
		return source{kind: sourceLister}
	}
	return source{kind: max(worst(s), in.kind)}
}

// plainDocument returns a here-document without expansions.
func plainDocument(r *syntax.Redirect) (string, bool) {
	if r.Hdoc == nil {
		return "", true
	}
	var b strings.Builder
	for _, p := range r.Hdoc.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			return "", false
		}
		b.WriteString(l.Value)
	}
	return b.String(), !strings.Contains(b.String(), `\`) || len(r.Word.Parts) == 1 && r.Word.Lit() == ""
}

// echoed returns what echo or printf is sure to print.
func echoed(args []*syntax.Word) (string, bool) {
	var list []string
	name, _ := plainText(args[0])
	name = programName(name)
	for _, a := range args[1:] {
		text, ok := plainText(a)
		if !ok {
			return "", false
		}
		list = append(list, text)
	}
	all := strings.Join(list, " ")
	if strings.ContainsAny(strings.ReplaceAll(all, `\n`, ""), `\`) || strings.ContainsAny(all, "~*?[{") {
		return "", false
	}
	if name == "printf" {
		if len(list) == 0 || strings.HasPrefix(list[0], "-") {
			return "", false
		}
		format, rest := strings.ReplaceAll(list[0], `\n`, "\n"), list[1:]
		switch {
		case (format == "%s" || format == "%s\n") && len(rest) == 1:
			return rest[0], true
		case strings.Contains(format, "%"):
			return "", false
		}
		return format, true
	}
	if len(list) > 0 && strings.HasPrefix(list[0], "-") {
		return "", false
	}
	return all, !strings.Contains(all, `\`)
}

// listsRepository reports whether statements print nothing but paths of the repository.
func (w *walker) listsRepository(sc *scope, list []*syntax.Stmt) bool {
	if len(list) != 1 || !w.inRoot(sc.cwd) {
		return false
	}
	if b, ok := list[0].Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.Pipe {
		return w.output(sc, list[0], source{}).kind == sourceLister
	}
	call, ok := list[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	var texts []string
	for _, a := range call.Args {
		text, ok := plainText(a)
		if !ok {
			return false
		}
		// A path from the root, from above or from run time is none of the repository's.
		if secretFile(text) || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.Contains(text, "..") || strings.HasPrefix(text, "$") {
			return false
		}
		texts = append(texts, text)
	}
	return isLister(texts)
}

func isLister(texts []string) bool {
	short := func(letter string) bool {
		for _, t := range texts[1:] {
			if strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "--") && strings.Contains(t, letter) {
				return true
			}
		}
		return false
	}
	has := func(names string) bool {
		for _, t := range texts[1:] {
			if oneOf(t, names) {
				return true
			}
		}
		return false
	}
	switch texts[0] {
	case "find":
		return !has("-printf -exec -execdir -fprintf -ok -ls")
	case "fd", "ls", "fdfind":
		return !has("-x -X --exec --exec-batch -l -la -al")
	case "rg":
		return short("l") || has("--files --files-with-matches")
	case "grep", "egrep", "fgrep":
		return short("l") || has("--files-with-matches --files-without-match")
	case "git":
		return len(texts) > 1 && (texts[1] == "ls-files" || texts[1] == "diff" && has("--name-only") || texts[1] == "grep" && (short("l") || has("--name-only --files-with-matches")))
	}
	return false
}

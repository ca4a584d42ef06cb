package archtest

import (
	"slices"
	"strings"
)

// room is a package and what of ours it may import.
type room struct {
	imports []string
	why     string
}

const (
	whyMiddle = "the middle layer meets in internal/gate, and rests on internal/durable and internal/change alone"
	whyEdge   = "edges never import each other or the middle layer; they meet in internal/commands or internal/gate"
	whyPure   = "it is pure: time, facts and environment are handed in"
)

// rooms is the layout of the house.
func rooms() map[string]room {
	const change, durable, textdiff = "internal/change", "internal/durable", "internal/textdiff"
	base := []string{change, durable}
	everything := []string{
		change, durable, textdiff, "tiers", "tiers/command", "grants", "undo", "preflight", "shadow", "hooks", "hooks/agent", "internal/apply", "internal/config",
		"internal/escalate", "internal/gate", "internal/ledger", "internal/ledger/projection", "internal/repo", "internal/review", "internal/sandbox",
	}
	return map[string]room{
		"":                 {[]string{"internal/commands"}, "main hands the world to internal/commands and exits"},
		"internal/change":  {nil, "the domain types are shared by all and know nobody"},
		"internal/durable": {[]string{change}, "file primitives know nothing above them"},
		"internal/faultfs": {base, "faults are injected under the primitives"},
		textdiff:           {[]string{change}, "it is pure: bytes in, lines and patches out"},
		"tiers":            {[]string{change}, whyPure},
		"tiers/command":    {[]string{change, "tiers"}, whyPure},
		"grants":           {[]string{change}, whyPure},
		"undo":             {base, whyMiddle},
		"preflight":        {append([]string{textdiff}, base...), whyMiddle},
		"internal/apply":   {base, whyMiddle},
		"internal/ledger":  {base, whyMiddle},
		"internal/ledger/projection": {
			[]string{change, "internal/ledger", "grants"},
			"a view is a pure function of entries",
		},
		"shadow":            {base, whyEdge},
		"hooks":             {base, whyEdge},
		"hooks/agent":       {append([]string{"hooks"}, base...), whyEdge},
		"internal/repo":     {base, whyEdge},
		"internal/config":   {append([]string{"tiers"}, base...), whyEdge},
		"internal/review":   {append([]string{textdiff}, base...), whyEdge},
		"internal/sandbox":  {base, whyEdge},
		"internal/escalate": {nil, whyEdge},
		"internal/gate": {
			append([]string{"internal/apply", "undo", "preflight", "grants", "tiers", "tiers/command", "internal/ledger", "internal/ledger/projection", textdiff, "shadow", "internal/repo", "internal/config"}, base...),
			"the gate orders the steps and knows neither who asks nor how it is shown",
		},
		"internal/commands": {everything, "commands are the outermost layer"},
		"internal/archtest": {nil, "it holds tests only"},
		"bench":             {everything, "it holds measurements only"},
	}
}

// checkImports holds every package to the table. Suites of tests that packages export, in folders that end in "test", may
// import what the package they are for may, and that package.
func checkImports(sources []source) []problem {
	var found []problem
	for _, s := range production(sources) {
		allowed, known := rooms()[s.dir]
		if parent, ok := strings.CutSuffix(s.dir, "test"); !known && ok {
			parent = strings.TrimSuffix(parent, "/"+parent[strings.LastIndexByte(parent, '/')+1:])
			if allowed, known = rooms()[parent]; known {
				allowed.imports = append(slices.Clone(allowed.imports), parent)
			}
		}
		if !known {
			found = append(found, problem{s.at(s.file.Name), "package in a folder that is not in the layout", "a newcomer should find each package in the table of the architecture page"})
			continue
		}
		for _, spec := range s.file.Imports {
			target, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
			target = strings.TrimPrefix(target, "/")
			if ours && target != s.dir && !slices.Contains(allowed.imports, target) {
				found = append(found, problem{s.at(spec), "imports " + target, allowed.why})
			}
		}
	}
	return found
}

// libraryHomes says which packages may import a library, and why no other.
func libraryHomes() map[string]room {
	return map[string]room{
		"github.com/go-git/":             {[]string{"internal/repo"}, "git is at the edge, read only"},
		"github.com/fsnotify/fsnotify":   {[]string{"shadow", "internal/ledger"}, "a watch is a hint; what reads is elsewhere"},
		"github.com/bmatcuk/doublestar/": {[]string{"tiers"}, "patterns have one dialect, that of tiers.ParsePattern"},
		"github.com/sergi/go-diff":       {[]string{"internal/textdiff"}, "there is one diff"},
		"github.com/urfave/cli/":         {[]string{"internal/commands"}, "only commands know the command line"},
		"github.com/BurntSushi/toml":     {[]string{"internal/config"}, "only internal/config reads settings"},
		"golang.org/x/sys/":              {[]string{"internal/durable", "internal/sandbox", "internal/repo", "shadow", "internal/commands"}, "system calls are at the edge"},
		"golang.org/x/term":              {[]string{"internal/commands", "internal/review"}, "only commands and the review talk to a terminal"},
		"golang.org/x/text/width":        {[]string{"internal/review"}, "only the review measures text for a screen"},
		"golang.org/x/text/unicode/norm": {[]string{"tiers"}, "spellings of names are the policy's"},
		"golang.org/x/text/cases":        {[]string{"tiers"}, "spellings of names are the policy's"},
		"mvdan.cc/sh/":                   {[]string{"tiers/command"}, "only the grading of commands reads shell"},
	}
}

// checkLibraries holds every import from outside to its home.
func checkLibraries(sources []source) []problem {
	var found []problem
	for _, s := range production(sources) {
		for _, spec := range s.file.Imports {
			target := strings.Trim(spec.Path.Value, `"`)
			if first, _, _ := strings.Cut(target, "/"); !strings.Contains(first, ".") || target == module || strings.HasPrefix(target, module+"/") {
				continue
			}
			home, known := room{}, false
			for prefix, r := range libraryHomes() {
				if strings.HasPrefix(target+"/", strings.TrimSuffix(prefix, "/")+"/") {
					home, known = r, true
				}
			}
			switch {
			case !known:
				found = append(found, problem{s.at(spec), "imports " + target, "a new dependency needs a reason and a home in the table"})
			case !slices.Contains(home.imports, s.dir):
				found = append(found, problem{s.at(spec), "imports " + target, home.why})
			}
		}
	}
	return found
}

// checkPurity keeps the world out of the pure packages.
func checkPurity(sources []source) []problem {
	world := []string{"os", "os/exec", "os/signal", "io/fs", "path/filepath", "net", "net/http", "syscall", "math/rand", "math/rand/v2", "crypto/rand", "log", "log/slog"}
	pure := map[string][]string{
		"tiers": append([]string{"time"}, world...), "tiers/command": append([]string{"time"}, world...), "grants": append([]string{"time"}, world...),
		"internal/change": world, "internal/textdiff": append([]string{"time"}, world...),
	}
	var found []problem
	for _, s := range production(sources) {
		for _, spec := range s.file.Imports {
			if target := strings.Trim(spec.Path.Value, `"`); slices.Contains(pure[s.dir], target) {
				found = append(found, problem{s.at(spec), "imports " + target, "the package is a function of what is handed in"})
			}
		}
	}
	return found
}

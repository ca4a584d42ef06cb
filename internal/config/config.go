package config

import (
	"slices"

	"github.com/correx/correx/internal/change"
	"github.com/correx/correx/tiers"
)

// Config is what all layers together say.
type Config struct {
	// Policy is what verdicts depend on. Policy.Source has an entry, "file:line", for every setting that a layer made.
	Policy tiers.Policy
	// Floor is the strictest mode that a repository's files ask for, also where the user's own is as strict: a mode that a
	// person sets in place of the user's is held to it. It is empty where they name none. FloorSource says where it is written.
	Floor       change.Mode
	FloorSource string
	// RequireTTY says that a person decides at a terminal only.
	RequireTTY bool
	// Gate says whose commits the git hooks hold: "all", or "agents".
	Gate string
	// Commands give commands a tier; those of the user's own file come first, and may lower one.
	Commands []tiers.CommandRule
	// Timeouts says how long requests wait for a person.
	Timeouts Timeouts
	// Shadow is how staging areas are made.
	Shadow Shadow
	// Grants are the grants of the repository's files, in their order, also those that do not count.
	Grants []Grant
	// Escalate is the program that may raise verdicts, an absolute path, and its arguments; empty for none.
	Escalate []string
}

// Shadow is the settings of staging areas.
type Shadow struct {
	// Dir is the absolute path of the folder that shadows are made in; empty for correx's own.
	Dir string
	// Include names ignored files that a shadow shows all the same, as patterns of the policy's dialect.
	Include []string
	// Backend is how a shadow is made: "clone" or "copy"; empty for the first that works.
	Backend string
	// MaxUntracked is the size in bytes over which an untracked file is left out of a shadow.
	MaxUntracked int64
}

// The values of Config.Gate.
const (
	GateAll    = "all"
	GateAgents = "agents"
)

const defaultMaxUntracked = 64 << 20

// Default returns what holds without any file of settings.
func Default() Config {
	p := tiers.Default()
	p.Source = map[string]string{}
	return Config{Policy: p, RequireTTY: true, Gate: GateAll, Timeouts: Timeouts{After: defaultAfter}, Shadow: Shadow{MaxUntracked: defaultMaxUntracked}}
}

// Sources is the layers above what is built in. A Source without Data is a layer that is not there.
type Sources struct {
	User       Source
	Repository Source
	Local      Source
	// Trusted is what a person trusts of the repository's two files.
	Trusted []Trusted
}

// Source is the bytes of one layer.
type Source struct {
	// Name is how messages call the file.
	Name string
	// Data is its content, nil for no file.
	Data []byte
}

// The layers, by the numbers that their rules have.
const (
	layerUser = iota
	layerRepository
	layerLocal
	// The last trusted bytes of a file are a layer too, behind these.
	layerFloors
)

// Load reads the layers and makes one Config of them. Of a repository's file a person trusts, all counts; of another what is
// stricter, and so does, as long as no person trusts other bytes, what was stricter in those last trusted. What an untrusted
// file says besides is in Policy.Untrusted. Notices name what a repository's files say in vain. An error is an *Error about
// the first thing that is wrong in the first layer that has one; the Config is then not to be used.
func Load(in Sources) (Config, []Notice, error) {
	c, notices, loose, err := load(in, false)
	if err != nil {
		return Default(), nil, err
	}
	if loose {
		trusting, _, _, err := load(in, true)
		if err != nil {
			return Default(), nil, err
		}
		c.Policy.Untrusted = &trusting.Policy
	}
	return c, notices, nil
}

// LoadOne makes a Config of one file as if it were the only one: all that it may say as the user's own counts, and the
// grants that it may hold as a repository's that is trusted.
func LoadOne(source Source) (Config, []Notice, error) {
	c, notices, err := Load(Sources{User: source})
	if err != nil {
		return c, nil, err
	}
	trusted, _, err := Load(Sources{Repository: source, Trusted: []Trusted{{File: RepositoryFile, Data: source.Data}}})
	c.Grants = trusted.Grants
	notices = slices.DeleteFunc(notices, func(n Notice) bool { return n.Key == tableGrant })
	return c, notices, err
}

// load is Load, with every file trusted if all is set. Loose says that a file would loosen if it were.
func load(in Sources, all bool) (c Config, notices []Notice, loose bool, err error) {
	c = Default()
	files, err := in.read()
	if err != nil {
		return c, nil, false, err
	}
	// Whatever a trusted file loosens, what another tightens comes behind it.
	for _, f := range files {
		switch {
		case f.number == layerUser:
			f.replace(&c, f.number)
			c.lowerCommands()
			notices = append(notices, f.misplaced()...)
		case f.trusted || (all && f.number < layerFloors):
			f.lowerFloor(&c)
			f.replace(&c, f.number)
			notices = append(notices, f.inVain()...)
			c.Grants = append(c.Grants, f.grantsOf(true)...)
		}
	}
	for _, f := range files {
		if f.number == layerUser || f.trusted || (all && f.number < layerFloors) {
			continue
		}
		if f.number >= layerFloors {
			if f.hold(&c, f.number) {
				notices = append(notices, f.gone())
			}
			continue
		}
		rest := f.tighten(&c, f.number)
		loose = loose || len(rest) > 0
		notices = append(notices, f.leftOut(rest)...)
		c.Grants = append(c.Grants, f.grantsOf(false)...)
	}
	return c, notices, loose, nil
}

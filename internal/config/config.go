package config

import (
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
	// Shadow is how staging areas are made.
	Shadow Shadow
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
	return Config{Policy: p, RequireTTY: true, Gate: GateAll, Shadow: Shadow{MaxUntracked: defaultMaxUntracked}}
}

// Sources is the layers above what is built in. A Source without Data is a layer that is not there.
type Sources struct {
	User       Source
	Repository Source
	Local      Source
}

// Source is the bytes of one layer.
type Source struct {
	// Name is how messages call the file.
	Name string
	// Data is its content, nil for no file.
	Data []byte
}

// Load reads the layers and makes one Config of them. Notices name what a repository's files say in vain. An error is an
// *Error about the first thing that is wrong in the first layer that has one; the Config is then not to be used.
func Load(in Sources) (Config, []Notice, error) {
	c := Default()
	var notices []Notice
	for _, l := range []struct {
		source Source
		own    bool
	}{{in.User, true}, {in.Repository, false}, {in.Local, false}} {
		if l.source.Data == nil {
			continue
		}
		read, err := parse(l.source)
		if err != nil {
			return Default(), nil, err
		}
		if l.own {
			read.replace(&c)
		} else {
			notices = append(notices, read.tighten(&c)...)
		}
	}
	return c, notices, nil
}

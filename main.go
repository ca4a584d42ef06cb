// Command correx stands between a coding agent and a git working tree: proposed changes are staged, shown and decided on
// before they land, and everything that landed can be taken back.
package main

import (
	"os"

	"github.com/correx/correx/internal/commands"
)

func main() {
	os.Exit(commands.Main(commands.Process()))
}

package commands

import "github.com/urfave/cli/v2"

func (a *application) shadowCommand() *cli.Command {
	return a.group(&cli.Command{
		Name: "shadow", Category: groupAgents, Usage: "staging areas for agents: open, list, path, reset, close",
		Description: exitHelp(codeDone, codeFailed, codeUsage, codeNotAllowed, codeCorrupt),
		Subcommands: []*cli.Command{
			a.shadowOpenCommand(), a.shadowListCommand(), a.shadowPathCommand(), a.shadowResetCommand(), a.shadowCloseCommand(),
		},
	})
}

import { type Command, type Commands, command } from '../command.ts'
import { bashCompletion } from '../completion/bash.ts'
import { fishCompletion } from '../completion/fish.ts'
import { type CompletionPosition, listPositions } from '../completion/words.ts'
import { zshCompletion } from '../completion/zsh.ts'
import { UsageError } from '../usage-error.ts'

const SHELLS: Readonly<Record<string, (positions: readonly CompletionPosition[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}
const NAMES = Object.keys(SHELLS)

/** Creates the command that prints completion scripts for all `commands`. */
export function completionCommand(commands: () => Commands): Command {
  return command({
    summary: 'print the script that completes these commands in a shell',
    arguments: [{ name: 'shell', description: NAMES.join(', '), choices: NAMES }],
    async run({ args: [shell = ''] }) {
      const create = SHELLS[shell]
      if (!create || !NAMES.includes(shell)) {
        throw new UsageError(
          `The shell must be one of ${NAMES.join(', ')}, not ${JSON.stringify(shell)}`,
          { choices: NAMES },
        )
      }
      const script = create(listPositions(commands())).trimEnd()
      return { json: { shell, script }, text: script }
    },
  })
}

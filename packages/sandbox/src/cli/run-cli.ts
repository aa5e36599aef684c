import { type CliTerminal, UsageError } from './command.ts'
import { DEFAULT_COMMAND, SANDBOX_COMMANDS } from './commands/all-commands.ts'
import { renderCommandHelp, renderOverallHelp } from './help.ts'
import { parseCommandLine } from './parse-command-line.ts'

/**
 * Runs one CLI command and returns its exit code: 0 for success, 1 for a failure, 2 for wrong
 * usage.
 */
export async function runCli(argv: readonly string[], terminal: CliTerminal): Promise<number> {
  try {
    const { name, input, help } = parseCommandLine(argv, SANDBOX_COMMANDS, DEFAULT_COMMAND)
    const command = SANDBOX_COMMANDS[name]
    if (!command) throw new UsageError(`There is no command ${name}`)
    if (!help) await command.run(input, terminal)
    else if (argv.includes(name)) terminal.stdout.write(renderCommandHelp(name, command))
    else terminal.stdout.write(renderOverallHelp(SANDBOX_COMMANDS, DEFAULT_COMMAND))
    return 0
  } catch (error) {
    terminal.stderr.write(`${describeError(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, port } = error as NodeJS.ErrnoException & { port?: number }
  if (code !== 'EADDRINUSE') return error.message
  return `Port ${port} is taken, perhaps by a sandbox that is still running. Choose other ports with --stripe-port, --braintree-port and --control-port; 0 picks a free port.`
}

import type { CliCommand } from '../command.ts'
import { advanceCommand } from './advance.ts'
import { exportCommand } from './export.ts'
import { resetCommand } from './reset.ts'
import { serveCommand } from './serve.ts'
import { triggerCommand } from './trigger.ts'

/** Command that runs when the command line names none. */
export const DEFAULT_COMMAND = 'serve'

/** All CLI commands by name, in the order in which the help lists them. */
export const SANDBOX_COMMANDS: Readonly<Record<string, CliCommand>> = {
  serve: serveCommand,
  advance: advanceCommand,
  trigger: triggerCommand,
  reset: resetCommand,
  export: exportCommand,
}

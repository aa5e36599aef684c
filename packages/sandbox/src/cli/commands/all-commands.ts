import type { CliCommand } from '../command.ts'
import { advance } from './advance.ts'
import { exportState } from './export.ts'
import { reset } from './reset.ts'
import { serve } from './serve.ts'
import { trigger } from './trigger.ts'

/** Command that runs when the command line names none. */
export const DEFAULT_COMMAND = 'serve'

/** All CLI commands by name, in the order in which the help lists them. */
export const COMMANDS: Readonly<Record<string, CliCommand>> = {
  serve,
  advance,
  trigger,
  reset,
  export: exportState,
}

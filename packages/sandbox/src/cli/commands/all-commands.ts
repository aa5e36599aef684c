import type { Command } from '../command.ts'
import { advance } from './advance.ts'
import { exportState } from './export.ts'
import { reset } from './reset.ts'
import { serve } from './serve.ts'
import { trigger } from './trigger.ts'

/** What is run when no command is named. */
export const DEFAULT_COMMAND = 'serve'

/** By name, in the order of the help. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  serve,
  advance,
  trigger,
  reset,
  export: exportState,
}

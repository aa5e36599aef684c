/** Output streams of a command. `process` satisfies it. */
export interface Terminal {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** An error that the user can correct: printed without a stack trace, with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export interface Flag {
  /**
   * Name of the flag's value as the help shows it, such as `<port>`. Without it the flag takes no
   * value.
   */
  readonly value?: string
  /** Description in the help, one line. */
  readonly help: string
  /** Whether the flag may be given several times. Read it with `listFlag`. */
  readonly isList?: boolean
}

export interface CommandInput {
  /** Positional arguments, in order. */
  readonly words: readonly string[]
  readonly flags: Readonly<Record<string, string | true>>
}

/** A command of the CLI, listed in `commands/all-commands.ts`. */
export interface Command {
  /** Description in the list of commands, one line. */
  readonly summary: string
  /** Positional arguments as the help shows them, such as `EVENT`. */
  readonly usage: string
  /** Maximum number of positional arguments. */
  readonly maxWords: number
  readonly flags: Readonly<Record<string, Flag>>
  /** Additional help, printed below the flags. */
  readonly notes?: string
  /** Runs the command. Errors it throws are printed on standard error. */
  run(input: CommandInput, terminal: Terminal): Promise<void>
}

/** Returns the value of a flag, or `null` if it was not given. */
export function textFlag({ flags }: CommandInput, name: string): string | null {
  const value = flags[name]
  return typeof value === 'string' ? value : null
}

/** Returns all values of a flag that may be repeated or hold a comma-separated list. */
export function listFlag(input: CommandInput, name: string): string[] {
  const values = textFlag(input, name)?.split(',') ?? []
  return values.map((value) => value.trim()).filter((value) => value !== '')
}

export function portFlag(input: CommandInput, name: string, fallback: number): number {
  const given = textFlag(input, name)
  if (given === null) return fallback
  const port = Number(given)
  if (/^\d+$/.test(given) && port <= 65_535) return port
  throw new UsageError(`--${name} takes a port from 0 to 65535, not ${given}`)
}

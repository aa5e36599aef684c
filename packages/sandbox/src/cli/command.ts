/** The output streams of a CLI command. The global `process` satisfies this type. */
export interface CliTerminal {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/**
 * An error in the command line that the user can correct. It is printed without a stack trace, and
 * the exit code is 2.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export interface CommandFlag {
  /**
   * Name of the flag's value as the help shows it, such as `<port>`. A flag without this field
   * takes no value.
   */
  readonly value?: string
  /** Description of the flag in the help, one line. */
  readonly help: string
  /** Whether the flag may be repeated. The value of a repeatable flag is read with `listFlag`. */
  readonly isList?: boolean
}

export interface CommandInput {
  /** Positional arguments of the command, in order. */
  readonly words: readonly string[]
  readonly flags: Readonly<Record<string, string | true>>
}

/** A command of the CLI, listed in `commands/all-commands.ts`. */
export interface CliCommand {
  /** Description of the command in the list of commands, one line. */
  readonly summary: string
  /** Positional arguments as the help shows them, such as `EVENT`. */
  readonly usage: string
  /** Maximum number of positional arguments of the command. */
  readonly maxWords: number
  readonly flags: Readonly<Record<string, CommandFlag>>
  /** Additional help text, printed below the command's flags. */
  readonly notes?: string
  /** Runs the command. The CLI prints errors that this function throws on standard error. */
  run(input: CommandInput, terminal: CliTerminal): Promise<void>
}

/** Returns the value of a flag, or `null` if the flag was not given. */
export function readTextFlag({ flags }: CommandInput, name: string): string | null {
  const value = flags[name]
  return typeof value === 'string' ? value : null
}

/** Returns all values of a flag that may be repeated or hold a comma-separated list. */
export function listFlag(input: CommandInput, name: string): string[] {
  const values = readTextFlag(input, name)?.split(',') ?? []
  return values.map((value) => value.trim()).filter((value) => value !== '')
}

export function readPortFlag(input: CommandInput, name: string, fallback: number): number {
  const given = readTextFlag(input, name)
  if (given === null) return fallback
  const port = Number(given)
  if (/^\d+$/.test(given) && port <= 65_535) return port
  throw new UsageError(`--${name} takes a port from 0 to 65535, not ${given}`)
}

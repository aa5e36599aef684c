/** Where a command writes; `process` is one. */
export interface Terminal {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Something the person at the terminal can put right: said without a stack. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export interface Flag {
  /** What stands after it, as the help shows it: `<port>`. Without it the flag stands alone. */
  readonly value?: string
  /** One line for the help. */
  readonly help: string
  /** It may be given several times; `listFlag` reads it. */
  readonly isList?: boolean
}

export interface CommandInput {
  /** What was given without a flag, in order. */
  readonly words: readonly string[]
  readonly flags: Readonly<Record<string, string | true>>
}

/** One command: a module in the map of `commands/all-commands.ts`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string
  /** What stands after the command's name: `EVENT`. */
  readonly usage: string
  /** How many words it takes at most. */
  readonly mostWords: number
  readonly flags: Readonly<Record<string, Flag>>
  /** Printed below the flags: what people ask next. */
  readonly notes?: string
  /** What it throws is said on standard error. */
  run(input: CommandInput, terminal: Terminal): Promise<void>
}

/** A flag's text; null when it was not given. */
export function textFlag({ flags }: CommandInput, name: string): string | null {
  const value = flags[name]
  return typeof value === 'string' ? value : null
}

/** All values of a flag that may be given several times, or with commas. */
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

import { createInterface } from 'node:readline/promises'
import type { Config, Need } from '../config/config.ts'
import { loadConfig } from '../config/load-config.ts'

/** Where a command reads and writes; `process` is one. */
export interface Terminal {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  readonly stdin?: NodeJS.ReadStream
}

/** Something the person at the terminal can put right: said without a stack. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** Printed beside `error` with `--json`, for scripts. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.details = details
  }
}

export interface CommandOption {
  /** As commander reads it: `--name <text>`. */
  readonly flags: string
  readonly description: string
  readonly required?: boolean
  /** May be given several times. */
  readonly several?: boolean
}

/** What a command has found or done. */
export interface Outcome {
  /** For `--json`. */
  readonly json: unknown
  /** For people. */
  readonly text: string
  /** Default 0. */
  readonly exitCode?: number
}

export interface CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly json: boolean
  /** The configuration, or an error that says which variables this command misses. */
  config(needs: readonly Need[]): Promise<Config>
  /** For commands that go on after they have said something. */
  print(text: string): void
  /** All of standard input, without the line's end; null where a person sits at it. */
  readInput(): Promise<string | null>
  /** The answer of the person at the terminal; null where nobody is. */
  ask(question: string): Promise<string | null>
}

/** One subcommand: a module in the map of `commands.ts`. */
export interface Command {
  readonly summary: string
  /** `<id>` and the like, in order. */
  readonly arguments?: readonly { readonly name: string; readonly description: string }[]
  readonly options?: readonly CommandOption[]
  /** Null for a command that goes on until it is stopped and has printed what there is. */
  run(input: CommandInput, context: CommandContext): Promise<Outcome | null>
}

export interface CommandInput {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
}

export function createCommandContext(options: {
  readonly environment: NodeJS.ProcessEnv
  readonly json: boolean
  readonly terminal: Terminal
}): CommandContext {
  const { environment, json, terminal } = options
  return {
    environment,
    json,
    print: (text) => void terminal.stdout.write(text),
    config: (needs) => loadConfig(environment, needs),
    async readInput() {
      const { stdin } = terminal
      if (!stdin || stdin.isTTY) return null
      let text = ''
      for await (const chunk of stdin.setEncoding('utf8')) text += chunk
      return text.replace(/\r?\n$/, '')
    },
    async ask(question) {
      const { stdin } = terminal
      if (!stdin?.isTTY) return null
      terminal.stderr.write(question)
      const lines = createInterface({ input: stdin })
      try {
        // No line at all, but the end of input: that is no yes.
        for await (const line of lines) return line
        return ''
      } finally {
        lines.close()
      }
    },
  }
}

export function textOption({ options }: CommandInput, name: string): string | null {
  const value = options[name]
  return typeof value === 'string' ? value : null
}

/** The moment that was given; null for none. */
export function dateOption(input: CommandInput, name: string): Date | null {
  const text = textOption(input, name)
  if (text === null) return null
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) throw new UsageError(`--${name}: '${text}' is no date`)
  return date
}

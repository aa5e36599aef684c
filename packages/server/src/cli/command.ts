import type { Config, Need } from '../config/environment.ts'
import { loadConfig } from '../config/load-config.ts'

/** Something the person at the terminal can put right: said without a stack. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
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
  /** All of standard input, without the line's end. */
  readInput(): Promise<string>
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

export function createCommandContext(
  environment: NodeJS.ProcessEnv,
  json: boolean,
): CommandContext {
  return {
    environment,
    json,
    config: (needs) => loadConfig(environment, needs),
    async readInput() {
      let text = ''
      for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
      return text.replace(/\r?\n$/, '')
    },
  }
}

export function textOption({ options }: CommandInput, name: string): string | null {
  const value = options[name]
  return typeof value === 'string' ? value : null
}

import { createInterface } from 'node:readline/promises'
import type { Caller } from '../admin/audit/caller.ts'
import type { Config, Need } from '../config/config.ts'
import { loadConfig } from '../config/load-config.ts'
import { parseActor } from './actor.ts'
import { type CommandOption, toFlagName } from './options.ts'
import type { FitText } from './table.ts'

/** The streams a command reads from and writes to. `process` satisfies it. */
export interface Terminal {
  readonly stdout: {
    write(text: string): unknown
    /** Width in characters. Absent if it is not a terminal. */
    readonly columns?: number | undefined
  }
  readonly stderr: { write(text: string): unknown }
  readonly stdin?: NodeJS.ReadStream
}

/** The result of a command. */
export interface CommandResult {
  /** The value printed with `--json`. */
  readonly json: unknown
  /** The text printed without `--json`, or a function that fits it to the terminal. */
  readonly text: string | FitText
  /**
   * Exit code of the process.
   * @default 0
   */
  readonly exitCode?: number
}

type VariableOverrides = Readonly<Record<string, string>>

export interface CommandContext {
  readonly json: boolean
  /** The person or script that acts, as the audit log names them. */
  readonly caller: Caller
  /** Name and version of the package manager that started the command. `null` if none did. */
  readonly packageManager: string | null
  /**
   * Loads the configuration. `instead` holds values from the command line that replace environment
   * variables.
   * @throws ConfigurationError that names every missing variable in `needs`.
   */
  config(needs: readonly Need[], instead?: VariableOverrides): Promise<Config>
  /**
   * Path of the application's module given with `--config`. `null` if the command works on the
   * service.
   */
  readonly application: string | null
  /**
   * Reports missing variables before the database is opened. Does nothing with `--config`, because
   * an application configures its instances itself.
   * @throws ConfigurationError
   */
  requireSettings(needs: readonly Need[]): Promise<void>
  /** Prints text before the command has finished, for commands that keep running. */
  print(text: string): void
  /** Prints a hint for people on standard error, so that it does not get into the output. */
  hint(text: string): void
  /** Reads all of standard input, without the final line break. `null` if it is a terminal. */
  readInput(): Promise<string | null>
  /**
   * Asks the person at the terminal and returns the typed line. `null` if standard input is not a
   * terminal.
   */
  ask(question: string): Promise<string | null>
}

type Options = Readonly<Record<string, CommandOption<unknown>>>
type Values<Of extends Options> = { readonly [Name in keyof Of]: ReturnType<Of[Name]['read']> }

interface Definition<Of extends Options> {
  readonly summary: string
  /** Positional arguments such as `<id>`, in order. */
  readonly arguments?: readonly {
    readonly name: string
    readonly description: string
    /** All possible values, for completion in a shell. Absent if the value is free text. */
    readonly choices?: readonly string[]
    /** The option that replaces the argument, in camel case. The argument is then an empty text. */
    readonly unless?: string
  }[]
  /** Options by their names in camel case: `voidOpen` is `--void-open`. */
  readonly options?: Of
  /**
   * Whether the command also works on an application's own instances, which `--config` names. A
   * text says what to use instead.
   * @default 'Leave out --config to run it on the service'
   */
  readonly withConfig?: true | string
  /**
   * Runs the command. Returns `null` if it has printed everything itself and ran until it was
   * stopped.
   */
  run(
    input: { readonly args: readonly string[]; readonly options: Values<Of> },
    context: CommandContext,
  ): Promise<CommandResult | null>
}

/** A subcommand of `tollgate`. */
export interface Command extends Omit<Definition<Options>, 'run' | 'options'> {
  readonly options: Options
  /** Parses the options and runs the command. */
  run(
    args: readonly string[],
    given: Readonly<Record<string, unknown>>,
    context: CommandContext,
  ): Promise<CommandResult | null>
}

/** Commands by their full names, such as `client create`. */
export type Commands = Readonly<Record<string, Command>>

export function command<const Of extends Options = Record<string, never>>(
  definition: Definition<Of>,
): Command {
  const options: Options = definition.options ?? {}
  return {
    ...definition,
    options,
    async run(args, given, context) {
      const values = Object.entries(options).map(([name, option]) => [
        name,
        option.read(given[name], toFlagName(name)),
      ])
      return definition.run({ args, options: Object.fromEntries(values) }, context)
    },
  }
}

export function createCommandContext(options: {
  readonly environment: NodeJS.ProcessEnv
  readonly json: boolean
  /** The name given with `--as`. @default the name of the operating system's user */
  readonly as?: string | undefined
  /** The path given with `--config`. @default the command works on the service */
  readonly config?: string | undefined
  readonly terminal: Terminal
}): CommandContext {
  const { environment, json, terminal, config: application = null } = options
  const id = parseActor(options.as)
  return {
    json,
    caller: { actor: { kind: 'command', id }, door: 'command', address: null, requestId: null },
    packageManager: environment.npm_config_user_agent ?? null,
    print: (text) => void terminal.stdout.write(text),
    hint: (text) => void terminal.stderr.write(`${text}\n`),
    application,
    config: (needs, instead = {}) => loadConfig({ ...environment, ...instead }, needs),
    async requireSettings(needs) {
      if (application === null) await loadConfig(environment, needs)
    },
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
        // Standard input ended without a line, which does not count as a "yes".
        for await (const line of lines) return line
        return ''
      } finally {
        lines.close()
      }
    },
  }
}

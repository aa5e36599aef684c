import { createRequire } from 'node:module'
import { isBillingError } from '@tollgate/billing'
import { ClockNotTrusted, isUnavailable } from '@tollgate/database'
import { isOAuthError } from '@tollgate/oauth'
import { CommanderError, Command as Program } from 'commander'
import { AdminProblem } from './admin/problems.ts'
import { type Command, createCommandContext, type Terminal } from './cli/command.ts'
import { commands } from './cli/commands/all-commands.ts'
import { toFlagName } from './cli/options.ts'
import { UsageError } from './cli/usage-error.ts'
import { ConfigurationError } from './configuration-error.ts'
import { redactText } from './logger.ts'
import { InvalidAccount } from './users/parse.ts'

const USAGE = 2
/** Descriptions of command groups. */
const GROUPS: Readonly<Record<string, string>> = {
  user: 'accounts',
  team: 'teams, which have subscriptions of their own',
  client: 'applications that request access',
  token: 'access tokens that are in use',
  keys: 'keys that sign tokens',
  audit: 'the audit log: who did what',
  clock: 'the clock that all processes share',
  mail: 'mail that the service sends',
  plans: 'the plans of the settings, and their prices at the providers',
  billing: 'payments',
  'billing tax-ids': 'tax ids of a person, such as VAT numbers',
  'billing credit-notes': 'credit notes, which return the money of an invoice',
  'billing webhooks': 'events that the payment providers send',
  'billing deliveries': 'events that are sent to your own application',
}
const HELP = `
Start with tollgate serve: without settings it runs a demo.
tollgate init adds Tollgate to an application of your own.
tollgate doctor shows what is missing for production.
tollgate <command> --help describes a command.`
const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/**
 * Runs one command and returns its exit code: 0 success, 1 failure, 2 wrong usage or incomplete
 * configuration.
 */
export async function runCli(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  let code = 0
  const program = createProgram(terminal, async (command, input, global) => {
    code = await runCommand(command, input, { environment, terminal, ...global })
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    // commander has printed the message. Help and version exit with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE
    return reportError(error, false, terminal)
  }
}

interface Input {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
}

/** The options that every command has. */
interface GlobalOptions {
  readonly json: boolean
  readonly as: string | undefined
  readonly config: string | undefined
}

async function runCommand(
  command: Command,
  input: Input,
  how: GlobalOptions & { environment: NodeJS.ProcessEnv; terminal: Terminal },
): Promise<number> {
  const { json, terminal } = how
  try {
    if (how.config !== undefined) assertWorksWithConfig(command)
    const outcome = await command.run(input.args, input.options, createCommandContext(how))
    if (!outcome) return 0
    const { text } = outcome
    const { columns = null } = terminal.stdout
    const fitted = typeof text === 'function' ? text(columns) : text
    terminal.stdout.write(json ? `${JSON.stringify(outcome.json)}\n` : `${fitted}\n`)
    return outcome.exitCode ?? 0
  } catch (error) {
    return reportError(error, json, terminal)
  }
}

const ON_SERVICE = 'Leave out --config to run it on the service'

function assertWorksWithConfig({ withConfig = ON_SERVICE }: Command): void {
  if (withConfig === true) return
  throw new UsageError(
    `This command works only on the service, not on an application's own instances. ${withConfig}`,
  )
}

type Run = (command: Command, input: Input, global: GlobalOptions) => Promise<void>

function createProgram(terminal: Terminal, run: Run): Program {
  const program = new Program('tollgate')
    .description('OAuth 2.0 and subscription billing as a service')
    .version(version, '--version', 'show the version')
    .showHelpAfterError('(tollgate --help lists the commands)')
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    .option(
      '--as <name>',
      'name for the audit log of who runs the command (default: the operating system user)',
    )
    .option(
      '--config <file>',
      "module of an application that exports its own instances, to work on instead of the service's",
    )
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', HELP)
    .exitOverride()
  const groups = new Map<string, Program>()
  for (const [words, command] of Object.entries(commands)) {
    const names = words.split(' ')
    const last = names.pop() ?? ''
    let parent = program
    names.forEach((name, at) => {
      const path = names.slice(0, at + 1).join(' ')
      parent = groups.get(path) ?? addGroup(parent, name, path)
      groups.set(path, parent)
    })
    addCommand(parent, last, command, run)
  }
  return program
}

function addGroup(parent: Program, name: string, path: string): Program {
  const own = Object.keys(commands).filter((words) => words.startsWith(`${path} `))
  const group = parent.command(name).copyInheritedSettings(parent)
  // Groups within the group are named once, without their commands.
  const names = own.map((words) => words.slice(path.length + 1).split(' ')[0])
  return group
    .description(`${GROUPS[path]}: ${[...new Set(names)].join(', ')}`)
    .showHelpAfterError(`(tollgate ${path} --help lists its commands)`)
}

function addCommand(parent: Program, name: string, command: Command, run: Run): void {
  const own = parent
    .command(name)
    .copyInheritedSettings(parent)
    .description(command.summary)
    .showHelpAfterError(
      '(add --help for the options; a value that begins with a dash comes last, after --)',
    )
  const positional = command.arguments ?? []
  const isFixed = positional.every(({ unless }) => unless === undefined)
  for (const { name, description } of positional) {
    own.argument(isFixed ? `<${name}>` : `[${name}]`, description)
  }
  if (!isFixed) own.usage(describeUsage(command))
  for (const [key, option] of Object.entries(command.options)) {
    const { value, description, required = false, several = false } = option
    const flags = value === null ? toFlagName(key) : `${toFlagName(key)} ${value}`
    if (several) {
      own.option(flags, description, (value: string, all: string[] = []) => [...all, value])
    } else if (required) own.requiredOption(flags, description)
    else own.option(flags, description)
  }
  own.option('--json', 'print JSON, for scripts')
  own.action(() => {
    const { json = false, ...options } = own.opts()
    // commander stores --no-install as `install: false`.
    if (options.install === false) options.noInstall = true
    const { as, config } = own.optsWithGlobals()
    const args = isFixed ? own.args : alignArguments(own, command, options)
    return run(command, { args, options }, { json, as, config })
  })
}

/** Describes the arguments of a command in which an option can replace one. */
function describeUsage({ arguments: positional = [], options }: Command): string {
  const words = positional.map(({ name, unless }) =>
    unless === undefined
      ? `<${name}>`
      : `(<${name}> | ${toFlagName(unless)} ${options[unless]?.value})`,
  )
  return ['[options]', ...words].join(' ')
}

/**
 * Returns the arguments of a command, with an empty text for each that an option replaces. Reports
 * missing and superfluous arguments like commander.
 */
function alignArguments(
  own: Program,
  { arguments: positional = [] }: Command,
  options: Readonly<Record<string, unknown>>,
): string[] {
  const isReplaced = ({ unless }: (typeof positional)[number]) =>
    unless !== undefined && options[unless] !== undefined
  const expected = positional.filter((each) => !isReplaced(each))
  const missing = expected[own.args.length]
  if (missing) own.error(`error: missing required argument '${missing.name}'`)
  if (own.args.length > expected.length) {
    const replaced = positional.filter(isReplaced)
    const reason = replaced.map(({ name, unless = '' }) => `${toFlagName(unless)} replaces ${name}`)
    own.error(`error: too many arguments for '${own.name()}' (${reason.join(', ')})`)
  }
  const left = [...own.args]
  return positional.map((each) => (isReplaced(each) ? '' : (left.shift() ?? '')))
}

const ASK_DATABASE =
  'Check DATABASE_URL, that the server is running, and that this machine can reach it'
const ASK_DOCTOR =
  'Check the API keys, and that this machine can reach the provider: `tollgate doctor` checks both'

/**
 * Prints an error to standard error, without secrets and without a stack trace. Returns the exit
 * code.
 */
function reportError(thrown: unknown, json: boolean, terminal: Terminal): number {
  const error = thrown instanceof AdminProblem && isUsageError(thrown.cause) ? thrown.cause : thrown
  const message = redactText(explain(error))
  const isUsage =
    isOAuthError(error, 'validation_failed') ||
    (error instanceof AdminProblem && isMistake(error)) ||
    isUsageError(error)
  const details = error instanceof UsageError ? error.details : {}
  terminal.stderr.write(
    json ? `${JSON.stringify({ error: message, ...details })}\n` : `${message}\n`,
  )
  return isUsage ? 2 : 1
}

function isUsageError(error: unknown): boolean {
  return [UsageError, ConfigurationError, InvalidAccount].some((kind) => error instanceof kind)
}

/**
 * Whether the person at the terminal can solve the problem, with other arguments or after another
 * command.
 */
function isMistake({ problem, status }: AdminProblem): boolean {
  return status < 500 && problem !== 'provider-refused' && problem !== 'too-many-requests'
}

/** Names every wrong field of the input and the expectation. */
function explainFields(problem: AdminProblem): string {
  const lines = Object.entries(problem.fields ?? {}).flatMap(([field, texts]) =>
    texts.map((text) => `${field}: ${text}`),
  )
  return lines.length > 0 ? lines.join('\n') : problem.message
}

function explain(error: unknown): string {
  if (error instanceof AdminProblem) {
    return error.cause === undefined ? explainFields(error) : explain(error.cause)
  }
  if (isOAuthError(error, 'validation_failed')) return Object.values(error.errors).flat().join(' ')
  if (isBillingError(error, 'provider_unavailable')) return `${error.message}. ${ASK_DOCTOR}`
  if (isBillingError(error, 'database_unavailable')) return explain(error.cause)
  if (isOAuthError(error) || isBillingError(error)) return error.message
  if (!(error instanceof Error)) return String(error)
  if (error instanceof ClockNotTrusted) return `Nothing was done. ${error.message}`
  // The message already names the database and the reason.
  if (!isUnavailable(error)) return error.message
  if (error.message.startsWith('Cannot open')) return `${error.message}. ${ASK_DATABASE}`
  return `The database does not answer: ${error.message}. ${ASK_DATABASE}`
}

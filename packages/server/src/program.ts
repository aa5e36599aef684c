import { createRequire } from 'node:module'
import { CommanderError, Command as Program } from 'commander'
import { type Command, createCommandContext, type Terminal } from './cli/command.ts'
import { commands } from './cli/commands/all-commands.ts'
import { reportError } from './cli/report-error.ts'

const USAGE = 2
/** What a group of commands is about. */
const GROUPS: Readonly<Record<string, string>> = {
  user: 'accounts',
  client: 'applications that ask for access',
  keys: 'what tokens are signed with',
  clock: 'the time that all processes share',
  billing: 'payments',
  'billing webhooks': 'events that the payment providers send',
  'billing deliveries': 'events that are sent to your own application',
}
const HELP = `
Begin with tollgate serve: without settings it is a demo that needs nothing.
tollgate doctor says what is missing for production.
tollgate <command> --help says more about one of them.`
const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

/** Runs one command and gives its exit code: 0 done, 1 failed, 2 mistyped or half configured. */
export async function runCli(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  let code = 0
  const program = createProgram(terminal, async (command, input, json) => {
    code = await runCommand(command, input, { environment, json, terminal })
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    // commander has said what it had to say; help and versions end well.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE
    return reportError(error, false, terminal)
  }
}

type Input = Parameters<Command['run']>[0]

async function runCommand(
  command: Command,
  input: Input,
  how: { environment: NodeJS.ProcessEnv; json: boolean; terminal: Terminal },
): Promise<number> {
  const { json, terminal } = how
  try {
    const outcome = await command.run(input, createCommandContext(how))
    if (!outcome) return 0
    terminal.stdout.write(json ? `${JSON.stringify(outcome.json)}\n` : `${outcome.text}\n`)
    return outcome.exitCode ?? 0
  } catch (error) {
    return reportError(error, json, terminal)
  }
}

type Run = (command: Command, input: Input, json: boolean) => Promise<void>

function createProgram(terminal: Terminal, run: Run): Program {
  const program = new Program('tollgate')
    .description('OAuth 2.0 and subscription billing as a service')
    .version(version, '--version', 'show the version')
    .showHelpAfterError('(tollgate --help lists the commands)')
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
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
  const names = own.map((words) => words.slice(path.length + 1)).join(', ')
  return group
    .description(`${GROUPS[path]}: ${names}`)
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
  for (const argument of command.arguments ?? []) {
    own.argument(`<${argument.name}>`, argument.description)
  }
  for (const { flags, description, required = false, several = false } of command.options ?? []) {
    if (several) {
      own.option(flags, description, (value: string, all: string[] = []) => [...all, value])
    } else if (required) own.requiredOption(flags, description)
    else own.option(flags, description)
  }
  own.option('--json', 'print JSON, for scripts')
  own.action(() => {
    const { json = false, ...options } = own.opts()
    return run(command, { args: own.args, options }, json)
  })
}

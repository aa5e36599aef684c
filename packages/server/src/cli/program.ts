import { Command as Program } from 'commander'
import { type Command, createCommandContext } from './command.ts'
import { commands } from './commands.ts'
import { reportError } from './report-error.ts'

/** The commander program for the map of commands; it prints, and sets the exit code. */
export function createProgram(environment: NodeJS.ProcessEnv): Program {
  const program = new Program('tollgate')
    .description('OAuth 2.0 and subscription billing as a service')
    .showHelpAfterError('(add --help for the options)')
    .exitOverride((stop) => {
      // Help and versions end well; what was mistyped is a usage error.
      process.exitCode = stop.exitCode === 0 ? 0 : 2
      throw stop
    })
  const groups = new Map<string, Program>()
  for (const [words, command] of Object.entries(commands)) {
    const [first = '', second] = words.split(' ')
    if (second === undefined) addCommand(program, first, command, environment)
    else {
      const group = groups.get(first) ?? addGroup(program, first)
      groups.set(first, group)
      addCommand(group, second, command, environment)
    }
  }
  return program
}

function addGroup(program: Program, name: string): Program {
  const own = Object.keys(commands).filter((words) => words.startsWith(`${name} `))
  const group = program.command(name).copyInheritedSettings(program)
  return group.description(own.map((words) => words.slice(name.length + 1)).join(', '))
}

function addCommand(
  parent: Program,
  name: string,
  command: Command,
  environment: NodeJS.ProcessEnv,
): void {
  const own = parent.command(name).copyInheritedSettings(parent).description(command.summary)
  for (const argument of command.arguments ?? []) {
    own.argument(`<${argument.name}>`, argument.description)
  }
  for (const { flags, description, required = false, several = false } of command.options ?? []) {
    if (several) {
      own.option(flags, description, (value: string, all: string[]) => [...all, value], [])
    } else if (required) own.requiredOption(flags, description)
    else own.option(flags, description)
  }
  own.option('--json', 'print JSON, for scripts')
  own.action(async () => {
    const { json = false, ...options } = own.opts()
    try {
      const context = createCommandContext(environment, json)
      const outcome = await command.run({ args: own.args, options }, context)
      if (!outcome) return
      process.stdout.write(json ? `${JSON.stringify(outcome.json)}\n` : `${outcome.text}\n`)
      process.exitCode = outcome.exitCode ?? 0
    } catch (error) {
      process.exitCode = reportError(error, json)
    }
  })
}

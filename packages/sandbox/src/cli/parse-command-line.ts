import { parseArgs } from 'node:util'
import { type CliCommand, type CommandFlag, type CommandInput, UsageError } from './command.ts'
import { didYouMean } from './did-you-mean.ts'

export interface ParsedLine {
  readonly name: string
  readonly input: CommandInput
  /** Whether the command line asks for help. */
  readonly help: boolean
}

/**
 * Parses the command line into a command, its flags and arguments. The command is `fallback` unless
 * the first argument names another one.
 */
export function parseCommandLine(
  argv: readonly string[],
  commands: Readonly<Record<string, CliCommand>>,
  fallback: string,
): ParsedLine {
  const [first = ''] = argv
  const named = first !== '' && !first.startsWith('-')
  const name = named ? first : fallback
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (first === 'help') return parseHelp(argv, commands, fallback)
  if (!command) {
    const names = Object.keys(commands)
    throw new UsageError(
      `There is no command ${first}.${didYouMean(first, names)} Commands: ${names.join(', ')}.`,
    )
  }
  const input = parseFlags(named ? argv.slice(1) : argv, name, command)
  return { name, input, help: input.flags.help === true }
}

/**
 * Recognizes requests for help: `help advance` equals `advance --help`, and `help` alone shows the
 * overview.
 */
function parseHelp(
  argv: readonly string[],
  commands: Readonly<Record<string, CliCommand>>,
  fallback: string,
): ParsedLine {
  const about = argv[1]
  const name = about !== undefined && Object.hasOwn(commands, about) ? about : fallback
  return { name, input: { words: [], flags: {} }, help: true }
}

function parseFlags(argv: readonly string[], name: string, command: CliCommand): CommandInput {
  const known: Record<string, CommandFlag> = { ...command.flags }
  const options = Object.fromEntries(
    Object.entries(known).map(([flag, { value }]) => [
      flag,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  const { tokens } = parseArgs({
    args: [...argv],
    options: { ...options, help: { type: 'boolean', short: 'h' } },
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const flags: Record<string, string | true> = {}
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const value = readFlag(token, name, command)
    const before = known[token.name]?.isList ? flags[token.name] : undefined
    flags[token.name] = before === undefined ? value : `${before},${value}`
  }
  if (words.length > command.maxWords) {
    const extra = words[command.maxWords]
    throw new UsageError(`${name}: unexpected argument ${extra}. ${seeHelp(name)}`)
  }
  return { words, flags }
}

interface FlagToken {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function readFlag(token: FlagToken, command: string, { flags }: CliCommand): string | true {
  const flag = token.name === 'help' ? { help: '' } : flags[token.name]
  if (!flag) {
    const names = Object.keys(flags).map((each) => `--${each}`)
    throw new UsageError(
      `${command} has no ${token.rawName}.${didYouMean(token.rawName, names)} ${seeHelp(command)}`,
    )
  }
  if (flag.value === undefined) {
    if (token.value === undefined) return true
    throw new UsageError(`${token.rawName} takes no value`)
  }
  // Another flag is not a value unless it is written with `=`: --state=--odd
  const missing =
    token.value === undefined || token.value === '' || isFlagByMistake(token.value, token)
  if (missing)
    throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${flag.value}`)
  return token.value ?? ''
}

function isFlagByMistake(value: string, { inlineValue }: FlagToken): boolean {
  return value.startsWith('--') && inlineValue !== true
}

function seeHelp(command: string): string {
  return `tollgate-sandbox ${command} --help lists its arguments.`
}

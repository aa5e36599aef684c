import { expect, it } from 'vitest'
import { listFlag } from './command.ts'
import { DEFAULT_COMMAND, SANDBOX_COMMANDS } from './commands/all-commands.ts'
import { parseCommandLine } from './parse-command-line.ts'

const parse = (line: string) =>
  parseCommandLine(line === '' ? [] : line.split(' '), SANDBOX_COMMANDS, DEFAULT_COMMAND)

it('the tollgate-sandbox command line runs serve if no command is given', () => {
  expect(parse('')).toMatchObject({ name: 'serve', help: false })
  expect(parse('--stripe-port off --json')).toMatchObject({
    name: 'serve',
    input: { flags: { 'stripe-port': 'off', json: true } },
  })
})

it('the tollgate-sandbox command line accepts positional arguments and flags in any order', () => {
  expect(parse('advance --control-port 1 3d')).toMatchObject({
    name: 'advance',
    input: { words: ['3d'], flags: { 'control-port': '1' } },
  })
})

it('the tollgate-sandbox command line shows the help for help, --help and -h', () => {
  for (const line of ['--help', '-h', 'help']) {
    expect(parse(line)).toMatchObject({ name: 'serve', help: true })
  }
  for (const line of ['advance --help', 'advance -h', 'help advance']) {
    expect(parse(line)).toMatchObject({ name: 'advance', help: true })
  }
})

it.each([
  ['advence 1d', 'There is no command advence. Did you mean advance? Commands: serve, advance'],
  ['--strip-port 1', 'serve has no --strip-port. Did you mean --stripe-port?'],
  ['--state --json', '--state needs a value: --state <file>'],
  ['--state', '--state needs a value: --state <file>'],
  ['--json=yes', '--json takes no value'],
  ['reset all', 'reset: unexpected argument all. tollgate-sandbox reset --help'],
])(
  'the tollgate-sandbox command line explains what is wrong with the arguments %j',
  (line, message) => {
    expect(() => parse(line)).toThrow(message)
  },
)

it('the tollgate-sandbox command line collects the values of a repeated flag', () => {
  const { input } = parse(
    '--allow-host a.example --stripe-port 1 --stripe-port 2 --allow-host b.example',
  )
  expect(listFlag(input, 'allow-host')).toEqual(['a.example', 'b.example'])
  expect(input.flags['stripe-port']).toBe('2')
  expect(listFlag(parse('').input, 'allow-host')).toEqual([])
})

it('the tollgate-sandbox command line accepts a flag value that starts with dashes if it is written as --flag=value', () => {
  expect(parse('--state=--odd').input.flags).toEqual({ state: '--odd' })
})

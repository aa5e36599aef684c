import type { CliCommand } from './command.ts'

type Commands = Readonly<Record<string, CliCommand>>

/**
 * Returns the help text of `tollgate-sandbox`: first steps, commands, and links. It fits on one
 * screen.
 */
export function renderOverallHelp(commands: Commands, fallback: string): string {
  const list = Object.entries(commands).map(
    ([name, { summary }]) => [name === fallback ? `${name} (default)` : name, summary] as const,
  )
  return `tollgate-sandbox: Stripe and Braintree on your machine, with a clock that you control

Start a sandbox, and leave it running:

  tollgate-sandbox
  tollgate-sandbox --state sandbox.json --stripe-webhook http://127.0.0.1:3000/stripe/webhook

Then, in another terminal (or in the control room, with a browser):

  tollgate-sandbox advance 1month           moves the clock, and runs everything that falls due
  tollgate-sandbox trigger invoice.paid     causes the event, and sends its webhooks
  tollgate-sandbox reset                    returns to the initial state
  tollgate-sandbox export copy.json         writes the whole state to a file

Commands

${columns(list)}

Flags of ${fallback}

${flagLines(commands[fallback])}

Run tollgate-sandbox <command> --help for the details of a command.
`
}

export function renderCommandHelp(name: string, command: CliCommand): string {
  const usage = ['tollgate-sandbox', name, command.usage].filter(Boolean).join(' ')
  const notes = command.notes ? `\n${command.notes.trim()}\n` : ''
  return `${usage}\n\n${capital(command.summary)}.\n\n${flagLines(command)}\n${notes}`
}

function flagLines(command: CliCommand | undefined): string {
  const lines = Object.entries(command?.flags ?? {}).map(
    ([name, { value, help }]) => [value ? `--${name} ${value}` : `--${name}`, help] as const,
  )
  return columns([...lines, ['--help', 'show this help']])
}

function columns(lines: ReadonlyArray<readonly [left: string, right: string]>): string {
  const width = Math.max(...lines.map(([left]) => left.length)) + 2
  return lines.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join('\n')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

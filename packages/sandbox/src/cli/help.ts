import type { Command } from './command.ts'

type Commands = Readonly<Record<string, Command>>

/** The whole in one screen: how to begin, what else there is, where to read on. */
export function overallHelp(commands: Commands, fallback: string): string {
  const list = Object.entries(commands).map(
    ([name, { summary }]) => [name === fallback ? `${name} (or nothing)` : name, summary] as const,
  )
  return `tollgate-sandbox: Stripe and Braintree on your own machine, with a clock you can move

Start one, and leave it running:

  tollgate-sandbox
  tollgate-sandbox --state sandbox.json --stripe-webhook http://127.0.0.1:3000/stripe/webhook

Then, in another terminal or in the browser at its control room:

  tollgate-sandbox advance 1month           a month passes, and all that falls due happens
  tollgate-sandbox trigger invoice.paid     makes it happen, and sends the webhook
  tollgate-sandbox reset                    back to the beginning
  tollgate-sandbox export copy.json         keeps a copy of everything

Commands

${columns(list)}

Flags of ${fallback}

${flagLines(commands[fallback])}

tollgate-sandbox <command> --help says more about one of them.
`
}

export function commandHelp(name: string, command: Command): string {
  const usage = ['tollgate-sandbox', name, command.usage].filter(Boolean).join(' ')
  const notes = command.notes ? `\n${command.notes.trim()}\n` : ''
  return `${usage}\n\n${capital(command.summary)}.\n\n${flagLines(command)}\n${notes}`
}

function flagLines(command: Command | undefined): string {
  const lines = Object.entries(command?.flags ?? {}).map(
    ([name, { value, help }]) => [value ? `--${name} ${value}` : `--${name}`, help] as const,
  )
  return columns([...lines, ['--help', 'show this']])
}

function columns(lines: ReadonlyArray<readonly [left: string, right: string]>): string {
  const width = Math.max(...lines.map(([left]) => left.length)) + 2
  return lines.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join('\n')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

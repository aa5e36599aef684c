#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { startSandbox } from './start-sandbox.ts'

const HELP = `tollgate-sandbox: Stripe and Braintree on loopback, with a clock you can move

  --stripe-port <port>        default 12111; "off" leaves Stripe out
  --braintree-port <port>     default 12222; "off" leaves Braintree out
  --control-port <port>       default 12333; the control room's web page
  --now <date>                where the clock starts, ISO 8601; default: now
  --state <file>              keep the state in this file and start from it
  --stripe-webhook <url>      send Stripe's events there; its secret is printed
  --braintree-webhook <url>   send Braintree's notifications there
  --json                      print the addresses and keys as one line of JSON
  --help
`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      'stripe-port': { type: 'string', default: '12111' },
      'braintree-port': { type: 'string', default: '12222' },
      'control-port': { type: 'string', default: '12333' },
      now: { type: 'string' },
      state: { type: 'string' },
      'stripe-webhook': { type: 'string' },
      'braintree-webhook': { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return
  }
  const now = values.now === undefined ? undefined : parseDate(values.now)
  const sandbox = await startSandbox({
    stripe: provider('--stripe-port', values['stripe-port']),
    braintree: provider('--braintree-port', values['braintree-port']),
    controlRoom: { port: parsePort('--control-port', values['control-port']) },
    ...(now ? { now } : {}),
    ...(values.state === undefined ? {} : { stateFile: values.state }),
  })
  const { stripe, braintree } = sandbox
  const hook = values['stripe-webhook']
  const webhook = hook !== undefined && stripe ? stripe.registerWebhook(hook) : null
  if (values['braintree-webhook'] !== undefined)
    braintree?.registerWebhook(values['braintree-webhook'])
  const addresses = {
    now: sandbox.clock.now().toISOString(),
    controlRoom: sandbox.controlRoom?.url ?? null,
    stripe: stripe && {
      ...stripe.config,
      apiKey: stripe.apiKey,
      apiVersion: stripe.apiVersion,
      webhookSecret: webhook?.secret ?? null,
    },
    braintree: braintree && {
      url: braintree.url,
      merchantId: braintree.config.merchantId,
      publicKey: braintree.config.publicKey,
      privateKey: braintree.config.privateKey,
    },
  }
  process.stdout.write(values.json ? `${JSON.stringify(addresses)}\n` : describe(addresses))
  await untilSaved(() => sandbox.save())
  await sandbox.close()
}

/** What cannot be saved at the first signal gets a second chance: the sandbox goes on until the next. */
async function untilSaved(save: () => Promise<void>): Promise<void> {
  await untilStopped()
  try {
    await save()
  } catch (error) {
    process.stderr.write(
      `${describeError(error)}\nThe sandbox is still running with everything in it. Make room, then stop it again.\n`,
    )
    await untilStopped()
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function describe(addresses: object): string {
  const lines: string[] = []
  const add = (name: string, value: unknown) => {
    if (value === null || value === undefined) return
    if (typeof value !== 'object') lines.push(`${name.padEnd(26)}${String(value)}`)
    else
      for (const [key, inner] of Object.entries(value))
        add(name === '' ? key : `${name}.${key}`, inner)
  }
  add('', addresses)
  return `${lines.join('\n')}\n`
}

function provider(flag: string, value: string): false | { port: number } {
  return value === 'off' ? false : { port: parsePort(flag, value) }
}

function parsePort(flag: string, value: string): number {
  const port = Number(value)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new TypeError(`${flag} takes a port from 0 to 65535, not ${value}`)
  }
  return port
}

function parseDate(value: string): Date {
  const date = new Date(value)
  if (Number.isNaN(date.getTime()))
    throw new TypeError(`--now takes a date such as 2026-01-31T00:00:00Z, not ${value}`)
  return date
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeError(error)}\n`)
  process.exitCode = 1
})

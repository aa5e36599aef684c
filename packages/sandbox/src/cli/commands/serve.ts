import { readFile } from 'node:fs/promises'
import { parseFixtures } from '../../fixtures/parse-fixtures.ts'
import type { Sandbox } from '../../sandbox.ts'
import { startSandbox } from '../../start-sandbox.ts'
import { AFTER_LAST_RETRY } from '../../stripe/state/context.ts'
import {
  type Command,
  type CommandInput,
  listFlag,
  portFlag,
  type Terminal,
  textFlag,
  UsageError,
} from '../command.ts'
import { DEFAULT_CONTROL_PORT } from '../control-client.ts'

export const serve: Command = {
  summary: 'starts Stripe, Braintree and the control room; stop it with Ctrl-C',
  usage: '',
  mostWords: 0,
  flags: {
    'stripe-port': { value: '<port>', help: 'default 12111; "off" leaves Stripe out' },
    'stripe-key': { value: '<key>', help: 'the secret key; default sk_test_tollgate_sandbox' },
    'stripe-publishable-key': {
      value: '<key>',
      help: 'the key for pages; default pk_test_tollgate_sandbox',
    },
    'stripe-webhook': { value: '<url>', help: "send Stripe's events there" },
    'webhook-secret': { value: '<secret>', help: 'to sign them with; without it one is printed' },
    'stripe-after-last-retry': {
      value: '<what>',
      help: 'when nobody pays: cancel (default), unpaid or past_due',
    },
    'braintree-port': { value: '<port>', help: 'default 12222; "off" leaves Braintree out' },
    'braintree-merchant-id': { value: '<id>', help: 'default sandbox_merchant' },
    'braintree-public-key': { value: '<key>', help: 'default sandbox_public_key' },
    'braintree-private-key': { value: '<key>', help: 'default sandbox_private_key' },
    'braintree-webhook': { value: '<url>', help: "send Braintree's notifications there" },
    'control-port': {
      value: '<port>',
      help: `default ${DEFAULT_CONTROL_PORT}; the control room's web page`,
    },
    now: { value: '<date>', help: 'where the clock starts: 2026-01-31T00:00:00Z; default: now' },
    state: { value: '<file>', help: 'keep everything in this file and start from it' },
    seed: { value: '<file>', help: 'what a new sandbox begins with: prices, plans, customers' },
    'allow-host': {
      value: '<name>',
      help: 'may be called by this name too, as behind a proxy; may be repeated',
      isList: true,
    },
    json: { help: 'print the addresses and keys as one line of JSON' },
  },
  notes: `
A seed file is JSON: docs/reference/sandbox.md shows one. It is applied when there is no state yet and
after a reset. Fixture files of the Stripe CLI can be used as they are.`,
  async run(input, terminal) {
    const sandbox = await start(input)
    const addresses = addressesOf(sandbox, textFlag(input, 'stripe-webhook'))
    const text = input.flags.json === true ? `${JSON.stringify(addresses)}\n` : describe(addresses)
    terminal.stdout.write(text)
    await untilSaved(() => sandbox.save(), terminal)
    await sandbox.close()
  },
}

async function start(input: CommandInput): Promise<Sandbox> {
  const text = (name: string) => textFlag(input, name)
  const [hook, secret] = [text('stripe-webhook'), text('webhook-secret')]
  if (secret !== null && hook === null) {
    throw new UsageError('--webhook-secret needs --stripe-webhook, the address it signs for')
  }
  const now = text('now')
  const state = text('state')
  const seed = text('seed')
  const braintreeHook = text('braintree-webhook')
  const apiKey = text('stripe-key')
  const publishableKey = text('stripe-publishable-key')
  const merchantId = text('braintree-merchant-id')
  const publicKey = text('braintree-public-key')
  const privateKey = text('braintree-private-key')
  const afterLastRetry = lastRetryFlag(input)
  return startSandbox({
    stripe: provider(input, 'stripe-port', 12_111, {
      ...(afterLastRetry === null ? {} : { dunning: { afterLastRetry } }),
      ...(apiKey === null ? {} : { apiKey }),
      ...(publishableKey === null ? {} : { publishableKey }),
      ...(hook === null ? {} : { webhooks: [{ url: hook, ...(secret ? { secret } : {}) }] }),
    }),
    braintree: provider(input, 'braintree-port', 12_222, {
      ...(merchantId === null ? {} : { merchantId }),
      ...(publicKey === null ? {} : { publicKey }),
      ...(privateKey === null ? {} : { privateKey }),
      ...(braintreeHook === null ? {} : { webhooks: [braintreeHook] }),
    }),
    controlRoom: { port: portFlag(input, 'control-port', DEFAULT_CONTROL_PORT) },
    allowedHosts: listFlag(input, 'allow-host'),
    ...(now === null ? {} : { now: parseDate(now) }),
    ...(state === null ? {} : { stateFile: state }),
    ...(seed === null ? {} : { fixtures: await readSeed(seed) }),
  })
}

function lastRetryFlag(input: CommandInput): (typeof AFTER_LAST_RETRY)[number] | null {
  const given = textFlag(input, 'stripe-after-last-retry')
  if (given === null) return null
  const known = AFTER_LAST_RETRY.find((each) => each === given)
  if (known) return known
  throw new UsageError(
    `--stripe-after-last-retry takes ${AFTER_LAST_RETRY.join(', ')}, not ${given}`,
  )
}

async function readSeed(file: string) {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`The seed file ${file} cannot be read: ${(error as Error).message}`)
  }
  try {
    return parseFixtures(JSON.parse(text))
  } catch (error) {
    throw new UsageError(`The seed file ${file} is not right: ${(error as Error).message}`)
  }
}

function provider<Options extends object>(
  input: CommandInput,
  flag: string,
  fallback: number,
  options: Options,
): false | (Options & { port: number }) {
  if (textFlag(input, flag) === 'off') return false
  return { ...options, port: portFlag(input, flag, fallback) }
}

function addressesOf({ clock, controlRoom, stripe, braintree }: Sandbox, hook: string | null) {
  const webhook = stripe?.webhooks().find(({ url }) => url === hook)
  return {
    now: clock.now().toISOString(),
    controlRoom: controlRoom?.url ?? null,
    stripe: stripe && {
      ...stripe.config,
      apiKey: stripe.apiKey,
      publishableKey: stripe.publishableKey,
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
}

/** What cannot be saved at the first signal gets a second chance: the sandbox goes on until the next. */
async function untilSaved(save: () => Promise<void>, { stderr }: Terminal): Promise<void> {
  await untilStopped()
  try {
    await save()
  } catch (error) {
    stderr.write(
      `${error instanceof Error ? error.message : String(error)}\nThe sandbox is still running with everything in it. Make room, then stop it again.\n`,
    )
    await untilStopped()
  }
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

function parseDate(value: string): Date {
  const date = new Date(value)
  if (!Number.isNaN(date.getTime())) return date
  throw new UsageError(`--now takes a date such as 2026-01-31T00:00:00Z, not ${value}`)
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}

import { readFile } from 'node:fs/promises'
import { parseFixtures } from '../../fixtures/parse-fixtures.ts'
import type { Sandbox } from '../../sandbox.ts'
import { startSandbox } from '../../start-sandbox.ts'
import { AFTER_LAST_RETRY } from '../../stripe/state/context.ts'
import {
  type CliCommand,
  type CliTerminal,
  type CommandInput,
  listFlag,
  readPortFlag,
  readTextFlag,
  UsageError,
} from '../command.ts'
import { DEFAULT_CONTROL_PORT } from '../control-client.ts'

export const serveCommand: CliCommand = {
  summary: 'starts Stripe, Braintree and the control room; stop with Ctrl-C',
  usage: '',
  maxWords: 0,
  flags: {
    'stripe-port': { value: '<port>', help: 'default 12111; "off" starts no Stripe' },
    'stripe-key': { value: '<key>', help: 'secret API key; default sk_test_tollgate_sandbox' },
    'stripe-publishable-key': {
      value: '<key>',
      help: 'publishable key for browsers; default pk_test_tollgate_sandbox',
    },
    'stripe-webhook': { value: '<url>', help: "URL that receives Stripe's events" },
    'webhook-secret': {
      value: '<secret>',
      help: "signs Stripe's webhooks; default: a new one, which is printed",
    },
    'stripe-after-last-retry': {
      value: '<status>',
      help: 'after the last failed retry: cancel (default), unpaid or past_due',
    },
    'braintree-port': { value: '<port>', help: 'default 12222; "off" starts no Braintree' },
    'braintree-merchant-id': { value: '<id>', help: 'default sandbox_merchant' },
    'braintree-public-key': { value: '<key>', help: 'default sandbox_public_key' },
    'braintree-private-key': { value: '<key>', help: 'default sandbox_private_key' },
    'braintree-webhook': { value: '<url>', help: "URL that receives Braintree's notifications" },
    'mail-port': {
      value: '<port>',
      help: 'starts a mail server whose mailbox the control room shows; default: none',
    },
    'control-port': {
      value: '<port>',
      help: `default ${DEFAULT_CONTROL_PORT}; the control room's web page`,
    },
    now: {
      value: '<date>',
      help: 'start time of the clock, such as 2026-01-31T00:00:00Z; default: now',
    },
    state: { value: '<file>', help: 'file to load the state from and to save all changes in' },
    seed: {
      value: '<file>',
      help: 'JSON file with the prices, plans and customers of a new sandbox',
    },
    'allow-host': {
      value: '<name>',
      help: 'additional host name to accept, as behind a proxy; may be repeated',
      isList: true,
    },
    json: { help: 'print the addresses and keys as one line of JSON' },
  },
  notes: `
docs/reference/sandbox.md shows a seed file. It is applied if there is no state yet, and after a
reset. Fixture files of the Stripe CLI are accepted unchanged.`,
  async run(input, terminal) {
    const sandbox = await start(input)
    const addresses = collectAddresses(sandbox, readTextFlag(input, 'stripe-webhook'))
    const text = input.flags.json === true ? `${JSON.stringify(addresses)}\n` : describe(addresses)
    terminal.stdout.write(text)
    await waitAndSave(() => sandbox.save(), terminal)
    await sandbox.close()
  },
}

async function start(input: CommandInput): Promise<Sandbox> {
  const text = (name: string) => readTextFlag(input, name)
  const [hook, secret] = [text('stripe-webhook'), text('webhook-secret')]
  if (secret !== null && hook === null) {
    throw new UsageError('--webhook-secret needs --stripe-webhook, the URL whose webhooks it signs')
  }
  const [now, seed, braintreeHook] = [text('now'), text('seed'), text('braintree-webhook')]
  const afterLastRetry = lastRetryFlag(input)
  return startSandbox({
    stripe: buildProviderOptions(input, 'stripe-port', 12_111, {
      dunning: afterLastRetry && { afterLastRetry },
      apiKey: text('stripe-key'),
      publishableKey: text('stripe-publishable-key'),
      webhooks: hook === null ? null : [{ url: hook, ...omitNulls({ secret }) }],
    }),
    braintree: buildProviderOptions(input, 'braintree-port', 12_222, {
      merchantId: text('braintree-merchant-id'),
      publicKey: text('braintree-public-key'),
      privateKey: text('braintree-private-key'),
      webhooks: braintreeHook === null ? null : [braintreeHook],
    }),
    mail: text('mail-port') === null ? false : { port: readPortFlag(input, 'mail-port', 0) },
    controlRoom: { port: readPortFlag(input, 'control-port', DEFAULT_CONTROL_PORT) },
    allowedHosts: listFlag(input, 'allow-host'),
    ...omitNulls({
      now: now === null ? null : parseDate(now),
      stateFile: text('state'),
      fixtures: seed === null ? null : await readSeed(seed),
    }),
  })
}

type WithoutNulls<Options> = { [Name in keyof Options]?: NonNullable<Options[Name]> }

/** Returns the options without those that are `null`. */
function omitNulls<Options extends object>(options: Options): WithoutNulls<Options> {
  const entries = Object.entries(options).filter(([, value]) => value !== null)
  return Object.fromEntries(entries) as WithoutNulls<Options>
}

function lastRetryFlag(input: CommandInput): (typeof AFTER_LAST_RETRY)[number] | null {
  const given = readTextFlag(input, 'stripe-after-last-retry')
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
    throw new UsageError(`The seed file ${file} is invalid: ${(error as Error).message}`)
  }
}

function buildProviderOptions<Options extends object>(
  input: CommandInput,
  flag: string,
  fallback: number,
  options: Options,
): false | (WithoutNulls<Options> & { port: number }) {
  if (readTextFlag(input, flag) === 'off') return false
  return { ...omitNulls(options), port: readPortFlag(input, flag, fallback) }
}

function collectAddresses(
  { clock, controlRoom, stripe, braintree, mail }: Sandbox,
  hook: string | null,
) {
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
    mail: mail?.url ?? null,
  }
}

/**
 * Waits for a stop signal and saves the state. If saving fails, keeps running until the next
 * signal, so that the state is not lost.
 */
async function waitAndSave(save: () => Promise<void>, { stderr }: CliTerminal): Promise<void> {
  await waitForStopSignal()
  try {
    await save()
  } catch (error) {
    stderr.write(
      `${error instanceof Error ? error.message : String(error)}\nThe state was not saved, so the sandbox is still running. Free some disk space, then stop it again.\n`,
    )
    await waitForStopSignal()
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

function waitForStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}

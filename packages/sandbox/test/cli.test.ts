import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Stripe from 'stripe'
import { expect, it, onTestFinished } from 'vitest'
import { runCli } from '../src/cli/run-cli.ts'
import { type SandboxOptions, startSandbox } from '../src/index.ts'
import { startReceiver } from './receiver.ts'

const NOW = new Date('2026-01-31T10:00:00Z')

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-sandbox-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a sandbox and returns a function that runs CLI commands against it. */
async function start(options: SandboxOptions = {}) {
  const sandbox = await startSandbox({
    stripe: true,
    braintree: true,
    controlRoom: true,
    now: NOW,
    ...options,
  })
  onTestFinished(() => sandbox.close())
  const port = new URL(sandbox.controlRoom?.url ?? '').port
  const run = (...words: string[]) => runWith([...words, '--control-port', port])
  return { sandbox, run }
}

async function runWith(argv: readonly string[]) {
  let [out, err] = ['', '']
  const code = await runCli(argv, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  })
  return { code, out, err }
}

const idOf = (name: string) => `\${${name}:id}`

const CUSTOMER = { name: 'Ada', email: 'ada@example.com' }

it('tollgate-sandbox advance moves the clock of a running sandbox and prints what happened', async () => {
  const { sandbox, run } = await start({
    fixtures: {
      stripe: {
        prices: [{ id: 'gold', unitAmount: 1000, interval: 'month' }],
        calls: [
          { name: 'ada', path: '/v1/customers', params: CUSTOMER },
          {
            name: 'card',
            path: '/v1/payment_methods/pm_card_visa/attach',
            params: { customer: idOf('ada') },
          },
          {
            path: '/v1/subscriptions',
            params: {
              customer: idOf('ada'),
              default_payment_method: idOf('card'),
              items: [{ price: 'gold' }],
            },
          },
        ],
      },
    },
  })
  const { code, out } = await run('advance', '1month 1h')
  expect(code).toBe(0)
  expect(out).toContain('It is now 2026-02-28T11:00:00.000Z.')
  expect(out).toMatch(/ 1 {2}invoice\.paid\n/)
  expect(sandbox.stripe?.paidInvoices()).toHaveLength(2)
  const json = await run('advance', '--to', '2026-03-01', '--json')
  expect(JSON.parse(json.out)).toMatchObject({ now: '2026-03-01T00:00:00.000Z', failedJobs: 0 })
  expect(await run('advance', '--to', '2020-01-01')).toMatchObject({
    code: 1,
    err: 'The clock can only move forward\n',
  })
})

it('tollgate-sandbox trigger causes every event that it lists, and their webhooks are delivered', async () => {
  const { sandbox, run } = await start()
  const receiver = await startReceiver()
  sandbox.stripe?.registerWebhook(receiver.url)
  const types = (await run('trigger', '--list')).out.trim().split('\n')
  const stripe = types.filter((type) => type.includes('.'))
  expect(stripe.length).toBeGreaterThan(25)
  for (const type of stripe) {
    const { code, out, err } = await run('trigger', type, '--json')
    expect(err, type).toBe('')
    expect(code, type).toBe(0)
    const { events, deliveries } = JSON.parse(out) as {
      events: Array<{ type: string }>
      deliveries: number
    }
    expect(
      events.map((event) => event.type),
      type,
    ).toContain(type)
    expect(deliveries, type).toBe(events.length)
  }
  const received = receiver.bodies.map((body) => (JSON.parse(body) as { type: string }).type)
  expect(new Set(received)).toEqual(new Set([...received, ...stripe]))
})

it('tollgate-sandbox trigger causes every Braintree notification that it lists in an empty sandbox', async () => {
  const { run } = await start()
  const types = (await run('trigger', '--list')).out.trim().split('\n')
  const braintree = types.filter((type) => !type.includes('.'))
  expect(braintree.length).toBeGreaterThan(15)
  for (const type of braintree) {
    const empty = await start()
    const receiver = await startReceiver()
    empty.sandbox.braintree?.registerWebhook(receiver.url)
    const { code, err } = await empty.run('trigger', type)
    expect([type, code, err]).toEqual([type, 0, ''])
    const payload = new URLSearchParams(receiver.bodies.at(-1)).get('bt_payload') ?? ''
    const xml = Buffer.from(payload, 'base64').toString('utf8')
    expect(xml).toContain(`<kind>${type}</kind>`)
  }
})

it('tollgate-sandbox trigger uses an existing customer, and existing objects at Braintree', async () => {
  const { sandbox, run } = await start({
    fixtures: {
      stripe: { calls: [{ path: '/v1/customers', params: CUSTOMER }] },
      braintree: {
        plans: [{ id: 'gold', price: 1000 }],
        calls: [
          {
            path: '/customers',
            params: { customer: { id: 'ada', payment_method_nonce: 'fake-valid-nonce' } },
          },
        ],
      },
    },
  })
  const receiver = await startReceiver()
  sandbox.braintree?.registerWebhook(receiver.url)
  const ada = sandbox.stripe?.customers()[0]?.id ?? ''
  expect((await run('trigger', 'invoice.payment_failed', '--customer', ada)).code).toBe(0)
  expect(sandbox.stripe?.customers()).toHaveLength(1)
  expect(sandbox.stripe?.subscriptions(ada)).toMatchObject([{ status: 'incomplete' }])
  expect((await run('trigger', 'check')).out).toContain('1 webhook was sent')
  expect((await run('trigger', 'payment_method_revoked_by_customer')).code).toBe(0)
  expect(receiver.bodies).toHaveLength(2)
  expect(await run('trigger', 'invoice.payd')).toMatchObject({
    code: 2,
    err: 'invoice.payd cannot be triggered. Did you mean invoice.paid? trigger --list shows all.\n',
  })
  expect((await run('trigger', 'customer.created')).out).toContain('no URL is registered')
})

it('tollgate-sandbox reset empties a sandbox and applies its seed again', async () => {
  const { sandbox, run } = await start({
    stripe: { webhooks: [{ url: 'http://127.0.0.1:9/hook', secret: 'whsec_mine' }] },
    fixtures: { stripe: { calls: [{ path: '/v1/customers', params: CUSTOMER }] } },
  })
  const [first] = sandbox.stripe?.customers() ?? []
  await run('trigger', 'customer.subscription.created')
  await run('advance', '2d')
  expect((await run('reset')).out).toContain('back in its initial state')
  expect(sandbox.clock.now()).toEqual(NOW)
  expect(sandbox.stripe?.subscriptions()).toEqual([])
  expect(sandbox.stripe?.customers()).toEqual([first])
  expect(sandbox.stripe?.webhooks()).toMatchObject([{ secret: 'whsec_mine' }])
  expect(sandbox.braintree?.plans()).toEqual([])
  await sandbox.clock.advance({ days: 40 })
})

it('tollgate-sandbox export writes a copy of the state that another sandbox can start from, and never overwrites a file', async () => {
  const { run } = await start({
    fixtures: { stripe: { calls: [{ path: '/v1/customers', params: CUSTOMER }] } },
  })
  const file = join(await temporaryFolder(), 'copy.json')
  expect((await run('export', file)).out).toContain(`tollgate-sandbox --state ${file}`)
  expect((await stat(file)).mode & 0o077).toBe(0)
  expect(await run('export', file)).toMatchObject({
    code: 2,
    err: `${file} already exists. Choose another name, or remove the file.\n`,
  })
  const other = await startSandbox({ stripe: true, stateFile: file })
  onTestFinished(() => other.close())
  expect(other.clock.now()).toEqual(NOW)
  expect(other.stripe.customers()).toMatchObject([CUSTOMER])
  expect((await run('export', '-')).out).toContain('ada@example.com')
})

it('tollgate-sandbox commands name the address that they tried if no sandbox is running', async () => {
  const { sandbox } = await start()
  const { port } = new URL(sandbox.stripe?.url ?? '')
  expect((await runWith(['reset', '--control-port', port])).err).toContain(
    'is not a control room of this version',
  )
  const nobody = await startSandbox({ controlRoom: true })
  const gone = new URL(nobody.controlRoom?.url ?? '').port
  await nobody.close()
  expect(await runWith(['advance', '1d', '--control-port', gone])).toMatchObject({
    code: 1,
    err: `No sandbox answers at http://127.0.0.1:${gone}. Start one with tollgate-sandbox, or give the port of its control room with --control-port.\n`,
  })
})

it.each([
  [
    '--help',
    /Start a sandbox, and leave it running:[\s\S]*advance 1month[\s\S]*--stripe-key <key>/,
  ],
  ['advance --help', /^tollgate-sandbox advance DURATION \| --to DATE\n/],
  ['help trigger', /^tollgate-sandbox trigger EVENT\n/],
])('tollgate-sandbox prints help for the arguments %s', async (line, pattern) => {
  const { code, out } = await runWith(line.split(' '))
  expect(code).toBe(0)
  expect(out).toMatch(pattern)
  for (const text of out.split('\n')) expect(text.length, text).toBeLessThanOrEqual(110)
})

it.each([
  ['--webhook-secret x', 2, '--webhook-secret needs --stripe-webhook'],
  ['--stripe-port many', 2, '--stripe-port takes a port from 0 to 65535, not many'],
  [
    '--stripe-after-last-retry never',
    2,
    '--stripe-after-last-retry takes cancel, unpaid, past_due, not never',
  ],
  ['--now someday', 2, '--now takes a date such as 2026-01-31T00:00:00Z, not someday'],
  ['--seed /nowhere/seed.json', 2, 'The seed file /nowhere/seed.json cannot be read'],
  ['advance', 2, 'Give a duration or a date: tollgate-sandbox advance 1month'],
  ['trigger', 1, 'No sandbox answers'],
])('tollgate-sandbox rejects the arguments %j and explains why', async (line, code, message) => {
  const result = await runWith([...line.split(' '), '--control-port', '1'])
  expect(result).toMatchObject({ code, out: '' })
  expect(result.err).toContain(message)
})

const CLI = new URL('../dist/cli.js', import.meta.url)

interface Facts {
  readonly controlRoom: string
  readonly stripe: {
    apiKey: string
    publishableKey: string
    host: string
    port: number
    protocol: 'http'
    webhookSecret: string | null
  }
  readonly braintree: { merchantId: string; publicKey: string; privateKey: string } | null
}

async function serve(...flags: string[]): Promise<{ child: ChildProcess; facts: Facts }> {
  const ports = ['--stripe-port', '0', '--braintree-port', '0', '--control-port', '0', '--json']
  const child = spawn(process.execPath, [CLI.pathname, ...ports, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [data] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, facts: JSON.parse(data.toString()) as Facts }
}

it.runIf(existsSync(CLI))(
  'tollgate-sandbox serve runs as a process with the given keys and a seed file, if the package is built',
  async () => {
    const folder = await temporaryFolder()
    const [state, seed] = [join(folder, 'state.json'), join(folder, 'seed.json')]
    // In the format of the Stripe CLI.
    const fixtures = [{ name: 'ada', path: '/v1/customers', method: 'post', params: CUSTOMER }]
    await writeFile(seed, JSON.stringify({ _meta: { template_version: 0 }, fixtures }))
    const flags = [
      ...['--now', NOW.toISOString(), '--state', state, '--seed', seed],
      ...['--stripe-key', 'sk_test_mine', '--stripe-publishable-key', 'pk_test_mine'],
      ...['--stripe-webhook', 'http://127.0.0.1:9/hook', '--webhook-secret', 'whsec_mine'],
      ...['--braintree-merchant-id', 'mine', '--braintree-public-key', 'pub'],
      ...['--braintree-private-key', 'priv'],
    ]
    const first = await serve(...flags)
    expect(first.facts.stripe).toMatchObject({
      apiKey: 'sk_test_mine',
      publishableKey: 'pk_test_mine',
      webhookSecret: 'whsec_mine',
    })
    expect(first.facts.braintree).toMatchObject({
      merchantId: 'mine',
      publicKey: 'pub',
      privateKey: 'priv',
    })
    const { host, port, protocol } = first.facts.stripe
    const stripe = new Stripe('sk_test_mine', { host, port, protocol })
    await stripe.customers.create({ email: 'grace@example.com' })
    first.child.kill('SIGTERM')
    expect(await once(first.child, 'exit')).toEqual([0, null])
    expect(await readFile(state, 'utf8')).toContain('ada@example.com')

    // After a restart the seed is not applied again and no second webhook endpoint is registered.
    const second = await serve(...flags)
    const { host: name, port: other } = second.facts.stripe
    const again = new Stripe('sk_test_mine', { host: name, port: other, protocol })
    expect((await again.customers.list()).data).toHaveLength(2)
    expect((await again.webhookEndpoints.list()).data).toHaveLength(1)
    expect(second.facts.stripe.webhookSecret).toBe('whsec_mine')
  },
)

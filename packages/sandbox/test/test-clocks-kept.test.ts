import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Stripe from 'stripe'
import { expect, it, onTestFinished } from 'vitest'
import { type SandboxSnapshot, startSandbox } from '../src/index.ts'
import { seconds, seedPrices } from './stripe/support.ts'

const now = new Date('2026-01-31T10:00:00Z')

type Start = { readonly snapshot?: SandboxSnapshot; readonly stateFile?: string }

async function start(options: Start = {}) {
  const sandbox = await startSandbox({ stripe: true, now, controlRoom: true, ...options })
  onTestFinished(() => sandbox.close())
  return { sandbox, stripe: new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config) }
}

/** Creates a customer with a monthly subscription on a clock that shows `time`. */
async function seed(stripe: Stripe, time: string) {
  const { monthly } = await seedPrices(stripe)
  const clock = await stripe.testHelpers.testClocks.create({ frozen_time: seconds(time) })
  const customer = await stripe.customers.create({
    name: 'Ada',
    payment_method: 'pm_card_visa',
    invoice_settings: { default_payment_method: 'pm_card_visa' },
    test_clock: clock.id,
  })
  await stripe.subscriptions.create({ customer: customer.id, items: [{ price: monthly.id }] })
  return { clock: clock.id, customer: customer.id, price: monthly.id }
}

const ready = (stripe: Stripe, clock: string) =>
  expect
    .poll(async () => (await stripe.testHelpers.testClocks.retrieve(clock)).status)
    .toBe('ready')

/** Changes the rows of a table in a snapshot. */
function edited(
  snapshot: SandboxSnapshot,
  table: string,
  edit: (row: Record<string, unknown>) => object,
): SandboxSnapshot {
  const rows = snapshot.store.tables[table] ?? []
  const changed = rows.map(([key, row]) => [key, edit(row as Record<string, unknown>)] as const)
  const tables = { ...snapshot.store.tables, [table]: changed }
  return { ...snapshot, store: { ...snapshot.store, tables } }
}

it('the sandbox keeps test clocks, their scheduled jobs and their history over a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clocks-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const stateFile = join(folder, 'state.json')
  const before = await start({ stateFile })
  const { clock, customer } = await seed(before.stripe, '2029-05-05T00:00:00Z')
  await before.stripe.testHelpers.testClocks.advance(clock, {
    frozen_time: seconds('2029-05-20T00:00:00Z'),
  })
  await ready(before.stripe, clock)
  const events = before.sandbox.stripe.events()
  await before.sandbox.close()
  const { sandbox, stripe } = await start({ stateFile })
  expect(sandbox.stripe.events()).toEqual(events)
  await stripe.testHelpers.testClocks.advance(clock, {
    frozen_time: seconds('2029-06-05T01:00:00Z'),
  })
  await ready(stripe, clock)
  expect(sandbox.stripe.paidInvoices(customer)).toHaveLength(2)
})

it('the sandbox continues the move of a test clock after a restart', async () => {
  const { sandbox, stripe } = await start()
  const { clock, customer } = await seed(stripe, '2029-05-05T00:00:00Z')
  const target_frozen_time = seconds('2029-07-05T00:00:00Z')
  const snapshot = edited(sandbox.snapshot(), 'stripe.test_helpers.test_clock', (row) => ({
    ...row,
    status: 'advancing',
    status_details: { advancing: { target_frozen_time } },
    $: { at: seconds('2029-05-06T00:00:00Z') },
  }))
  const again = await start({ snapshot })
  await ready(again.stripe, clock)
  expect(again.sandbox.stripe.invoices(customer)).toHaveLength(3)
  const { frozen_time } = await again.stripe.testHelpers.testClocks.retrieve(clock)
  expect(frozen_time).toBe(target_frozen_time)
})

it("the sandbox retries a job that failed on a test clock one day later, by that clock's time", async () => {
  const { sandbox, stripe } = await start()
  const { clock, customer } = await seed(stripe, '2029-05-05T00:00:00Z')
  const broken = edited(sandbox.snapshot(), 'stripe.subscription', (row) => ({
    ...row,
    customer: 'cus_gone',
  }))
  const again = await start({ snapshot: broken })
  const day = seconds('2029-06-05T00:00:00Z')
  await again.stripe.testHelpers.testClocks.advance(clock, { frozen_time: day + 3600 })
  await ready(again.stripe, clock)
  const [failed] = again.sandbox.failedJobs()
  expect(failed).toMatchObject({ job: 'subscription', lastFailedAt: day * 1000 })
  expect(failed?.retryAt).toBe((day + 86_400) * 1000)
  await again.sandbox.clock.advance({ years: 5 })
  expect(again.sandbox.failedJobs()[0]?.attempts).toBe(1)
  expect(again.sandbox.stripe.invoices(customer)).toHaveLength(1)
})

it("the control room shows a customer's test clock, and can move that clock", async () => {
  const { sandbox, stripe } = await start()
  const url = sandbox.controlRoom?.url ?? ''
  const { clock, customer } = await seed(stripe, '2029-05-05T00:00:00Z')
  type Timeline = { now: string; coming: { steps: Array<{ at: string; title: string }> } }
  const read = async () =>
    (await (await fetch(`${url}/customers/stripe/${customer}.json?months=1`)).json()) as Timeline
  const timeline = await read()
  expect(timeline.now).toBe('2029-05-05T00:00:00.000Z')
  expect(timeline.coming.steps.map(({ at }) => at.slice(0, 13))).toContain('2029-06-05T01')
  const page = await (await fetch(`${url}/customers/stripe/${customer}`)).text()
  expect(page).toContain(`on the test clock <a href="/clock?clock=${clock}">`)
  const clocks = await (await fetch(`${url}/clock?clock=${clock}&count=1&unit=months`)).text()
  expect(clocks).toMatch(/The test clock <strong>[^<]+<\/strong> shows/)
  expect(clocks).toContain('$10.00')
  const move = async (form: Record<string, string>) => {
    const response = await fetch(`${url}/advance`, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(form),
    })
    return (await response.json()) as { now: string }
  }
  expect((await move({ clock, months: '1', hours: '1' })).now).toBe('2029-06-05T01:00:00.000Z')
  expect(sandbox.stripe.paidInvoices(customer)).toHaveLength(2)
  expect(sandbox.clock.now()).toEqual(now)
  expect((await move({ days: '1' })).now).toBe('2026-02-01T10:00:00.000Z')
  const overview = await (await fetch(`${url}/`)).text()
  expect(overview).toContain('Nothing is scheduled.')
})

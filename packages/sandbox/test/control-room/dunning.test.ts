import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { DunningOptions } from '../../src/stripe/state/context.ts'
import {
  NOW,
  type ObservedTestSandbox,
  startForTest,
  startObserved,
  subscribeAda,
} from './support.ts'

const READ = '/trouble.json'
const asJson = { accept: 'application/json' }

/** Makes all charges of Ada's card fail from her first renewal on. */
async function declineRenewals(watched: ObservedTestSandbox): Promise<string> {
  const { sandbox } = watched
  const { customer, subscription } = await subscribeAda(watched)
  for (let times = 0; times < 9; times++) {
    sandbox.trouble.declineNextCharge(customer, 'insufficient_funds')
  }
  return subscription
}

it("the control room shows and changes Stripe's settings for payment retries", async () => {
  const { page, read, send } = await startForTest()
  const dunning = { retryAfterDays: [3, 5, 7], afterLastRetry: 'cancel' }
  expect(await read(READ)).toMatchObject({ dunning })
  const set = await send('/dunning', { days: '2, 4', after: 'unpaid' }, asJson)
  expect(await set.json()).toEqual({ retryAfterDays: [2, 4], afterLastRetry: 'unpaid' })
  const text = await page('/trouble')
  expect(text).toContain('value="2, 4"')
  expect(text).toContain('<option value="unpaid" selected>')
  expect(text).toContain('<h2>Failed payments at Stripe</h2>')
  // The numeric keypad of a phone has no comma.
  const [field] = /<input name="days"[^>]*>/.exec(text) ?? []
  expect(field).not.toContain('inputmode')
  expect(field).toContain('aria-describedby="days-hint"')
  expect(text).toContain('id="days-hint">1 to 60 days, at most 8 times')
})

it.each([
  ['cancel', '1', 'canceled'],
  ['unpaid', '1', 'unpaid'],
  ['past_due', '', 'past_due'],
])(
  'the control room changes retry settings, which apply to later failures and to forecasts (status after the last retry: %s)',
  async (after, days, status) => {
    const watched = await startForTest()
    const { sandbox, stripe, read, send } = watched
    const subscription = await declineRenewals(watched)
    await send('/dunning', { days, after })
    const { customer } = await stripe.subscriptions.retrieve(subscription)
    const foretold = await read<{ asIs: { subscriptions: object[] } }>(
      `/customers/stripe/${customer}/what-if.json?months=3`,
    )
    expect(foretold.asIs.subscriptions).toContainEqual({ id: subscription, status })
    await sandbox.clock.advance({ months: 1, days: 3 })
    const { status: now, latest_invoice } = await stripe.subscriptions.retrieve(subscription, {
      expand: ['latest_invoice'],
    })
    expect(now).toBe(status)
    expect(latest_invoice).toMatchObject({ attempt_count: days === '' ? 1 : 2 })
  },
)

it('a reset of the sandbox restores the retry settings of the start options, and restore() restores those in the snapshot', async () => {
  const { sandbox, read, send } = await startForTest({ now: NOW })
  await send('/dunning', { days: '', after: 'past_due' })
  const set = { retryAfterDays: [], afterLastRetry: 'past_due' }
  const saved = sandbox.snapshot()
  await sandbox.reset()
  expect(await read(READ)).toMatchObject({ dunning: { retryAfterDays: [3, 5, 7] } })
  sandbox.restore(saved)
  expect(await read(READ)).toMatchObject({ dunning: set })
})

it('the retry settings in the start options take precedence over those in the state file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-dunning-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const stateFile = join(folder, 'state.json')
  const start = (dunning: Partial<DunningOptions>) =>
    startObserved({ now: NOW, stateFile, stripe: { dunning } })
  const first = await start({ afterLastRetry: 'unpaid' })
  await first.send('/dunning', { days: '2', after: 'past_due' })
  await first.close()
  const kept = await start({})
  const set = { retryAfterDays: [2], afterLastRetry: 'past_due' }
  expect(await kept.read(READ)).toMatchObject({ dunning: set })
  await kept.close()
  const named = await start({ afterLastRetry: 'unpaid' })
  expect(await named.read(READ)).toMatchObject({ dunning: { ...set, afterLastRetry: 'unpaid' } })
  await named.send('/dunning', { days: '4', after: 'cancel' })
  const changed = { retryAfterDays: [4], afterLastRetry: 'cancel' }
  expect(await named.read(READ)).toMatchObject({ dunning: changed })
  await named.close()
})

it.each([
  { days: 'soon', after: 'cancel' },
  { days: '0', after: 'cancel' },
  { days: '1.5', after: 'cancel' },
  { days: '61', after: 'cancel' },
  { days: '1 2 3 4 5 6 7 8 9', after: 'cancel' },
  { days: '3', after: 'forgive' },
  { days: '3' },
])('the control room rejects the retry settings %j and changes nothing', async (form) => {
  const { read, send } = await startForTest()
  const answer = await send('/dunning', form as Record<string, string>, asJson)
  expect(answer.status).toBe(400)
  expect(await answer.text()).not.toMatch(/null|undefined/)
  expect(await read(READ)).toMatchObject({ dunning: { retryAfterDays: [3, 5, 7] } })
})

import { describe, expect, it } from 'vitest'
import { startBraintree } from '../../src/braintree/server/server.ts'
import { MovableClock } from '../../src/core/clock/clock.ts'
import { FailedJobs } from '../../src/core/clock/failed-jobs.ts'
import { WebhookOutbox } from '../../src/core/outbox.ts'
import { SandboxStore } from '../../src/core/store/store.ts'
import { FailureSimulator } from '../../src/core/trouble.ts'
import { addCustomer, startMerchant } from './support.ts'

describe('simulated failures of Braintree', () => {
  it.each([
    ['429', 'tooManyRequestsError'],
    ['500', 'serverError'],
  ] as const)('return the status %s before the call takes effect', async (kind, type) => {
    const { gateway, trouble, sandbox } = await startMerchant()
    trouble.failNext(2, kind, 'braintree')
    await expect(gateway.customer.create({})).rejects.toMatchObject({ type })
    await expect(gateway.customer.create({})).rejects.toMatchObject({ type })
    expect(sandbox.customers()).toEqual([])
    expect((await gateway.customer.create({})).success).toBe(true)
  })

  it('drop the response of a call that took effect, and a retry with the same apiRequestKey returns the result', async () => {
    const merchant = await startMerchant()
    const { gateway, trouble, sandbox } = merchant
    const { token, customerId } = await addCustomer(merchant)
    const sale = () =>
      gateway.transaction.sale({
        amount: '7.00',
        paymentMethodToken: token,
        apiRequestKey: 'once',
      } as never)
    trouble.failNext(1, 'half-written', 'braintree')
    await expect(sale()).rejects.toBeDefined()
    expect((await sale()).success).toBe(true)
    expect(sandbox.transactions(customerId)).toHaveLength(1)
  })

  it('hold a response back until a test releases it', async () => {
    const { gateway, trouble, sandbox } = await startMerchant()
    trouble.failNext(1, 'held', 'braintree')
    const creating = gateway.customer.create({ id: 'held' })
    await trouble.untilHeld()
    expect(sandbox.customer('held')).not.toBeNull()
    trouble.release()
    expect((await creating).success).toBe(true)
  })

  it('let a call time out after it created a subscription, so that a repeated call with the same id is rejected', async () => {
    const merchant = await startMerchant()
    const { gateway, trouble } = merchant
    const { token } = await addCustomer(merchant)
    const config = (gateway as unknown as { config: { timeout: number } }).config
    config.timeout = 50
    trouble.failNext(1, 'timeout', 'braintree')
    const params = { id: 'mine', planId: 'monthly', paymentMethodToken: token }
    await expect(gateway.subscription.create(params)).rejects.toMatchObject({
      type: 'unexpectedError',
    })
    config.timeout = 60_000
    const again = await gateway.subscription.create(params)
    expect(again.success).toBe(false)
    expect(await gateway.subscription.find('mine')).toMatchObject({ status: 'Active' })
  })
})

describe('a snapshot of a Braintree sandbox', () => {
  it('leads to the same future events after it is restored in another sandbox', async () => {
    const first = await startMerchant()
    const { token, customerId } = await addCustomer(first)
    const { gateway, sandbox } = first
    await gateway.subscription.create({ id: 'a', planId: 'monthly', paymentMethodToken: token })
    await gateway.subscription.create({ id: 'b', planId: 'trial', paymentMethodToken: token })
    sandbox.changeSettings({ retryAfterDays: [2] })
    first.trouble.declineNextCharge(customerId, '2001')
    await first.clock.advance({ days: 20 })
    const snapshot = JSON.parse(JSON.stringify(first.store.snapshot()))

    const clock = new MovableClock(first.clock.now())
    const store = new SandboxStore()
    const outbox = new WebhookOutbox({ clock, store })
    const second = await startBraintree({
      clock,
      store,
      outbox,
      trouble: new FailureSimulator(store),
      failures: new FailedJobs({ store }),
    })
    store.restore(snapshot)
    for (const moved of [first.clock, clock]) await moved.advance({ months: 14 })
    expect(second.subscriptions()).toEqual(sandbox.subscriptions())
    expect(second.transactions()).toEqual(sandbox.transactions())
    expect(store.snapshot()).toEqual(first.store.snapshot())
    await second.close()
  })
})

it('Braintree bills all other subscriptions if the billing of one subscription throws an error', async () => {
  const merchant = await startMerchant()
  const { clock, store, failures, sandbox, gateway } = merchant
  const [broken, other] = [await addCustomer(merchant), await addCustomer(merchant)]
  for (const [id, { token }] of [['broken', broken] as const, ['other', other] as const]) {
    await gateway.subscription.create({ id, planId: 'monthly', paymentMethodToken: token })
  }
  // A state that no call leads to, as in a file edited manually.
  const methods = store.table<object>('braintree.payment_methods')
  const method = methods.get(broken.token)
  expect(method).toBeDefined()
  methods.delete(broken.token)
  await clock.advance({ months: 2 })
  expect(clock.now().toISOString()).toBe('2026-03-15T10:00:00.000Z')
  expect(sandbox.subscription('other')).toMatchObject({ currentBillingCycle: 3 })
  expect(sandbox.subscription('broken')).toMatchObject({ currentBillingCycle: 1, balance: 0 })
  expect(failures.list()).toMatchObject([
    { provider: 'braintree', job: 'billing', key: 'broken', message: expect.any(String) as string },
  ])
  methods.set(broken.token, method ?? {})
  await clock.advance({ days: 1 })
  expect(failures.list()).toEqual([])
  expect(sandbox.subscription('broken')).toMatchObject({ currentBillingCycle: 3 })
})

import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import {
  type FlowTest,
  start,
  stripeSdk,
  sumChargedCents,
  sumRefundedCents,
} from '../../../../test/support.ts'
import {
  type AnyBillingEvent,
  type EventListeners,
  money,
  ProviderChosen,
  RefundNotPossibleYet,
} from '../../../index.ts'
import type { StartBillingOptions } from '../../../testing/index.ts'

const TYPES = ['checkout.completed', 'checkout.paid', 'checkout.payment_failed'] as const
const ORDER = { successPath: '/orders/7' }

type Ending = 'success' | 'failed'

/** A user who has paid a poster by bank debit, with all events that are emitted. */
async function payByBankDebit(ending: Ending, options: StartBillingOptions = {}) {
  const emitted: AnyBillingEvent[] = []
  const listen = (event: AnyBillingEvent) => void emitted.push(event)
  const on = Object.fromEntries(TYPES.map((type) => [type, listen])) as EventListeners
  const test = await start('stripe', { on, ...options })
  const { id } = await test.user.checkoutCharge(money(1999, 'eur'), 'Poster', ORDER)
  test.sandbox.stripe.completeCheckout(id, { paymentMethod: `pm_sepaDebit_${ending}Delayed_de` })
  const take = async () => {
    await test.billing.process()
    return emitted.splice(0).map(({ type }) => type)
  }
  return { ...test, id, on, emitted, take }
}

async function listOperationKinds({ database }: FlowTest): Promise<string[]> {
  const rows = await database.kysely.selectFrom('billing_operations').select('kind').execute()
  return rows.map(({ kind }) => kind)
}

describe('a bank debit on a hosted page', () => {
  it.each([
    ['success', 'checkout.paid', 'paid'],
    ['failed', 'checkout.payment_failed', 'failed'],
  ] as const)(
    'emits its billing event once, when the bank reports the result (case: %s)',
    async (ending, type, paymentStatus) => {
      const test = await payByBankDebit(ending)
      const { user, id, emitted } = test
      await test.settle()
      expect(emitted).toMatchObject([
        { type: 'checkout.completed', data: { checkout: { isPaid: false } } },
      ])
      expect(await user.completeCheckout(id)).toMatchObject({ paymentStatus: 'pending' })
      emitted.splice(0)
      await test.advance({ minutes: 4 })
      const isPaid = ending === 'success'
      expect(emitted).toMatchObject([
        {
          type,
          owner: user.owner,
          data: { checkout: { id, isPaid, payment: expect.any(String) } },
        },
      ])
      expect(await user.completeCheckout(id)).toMatchObject({ paymentStatus, isPaid })
      expect([sumChargedCents(test, user), await listOperationKinds(test)]).toEqual([
        isPaid ? 1999 : 0,
        [],
      ])
      emitted.splice(0)
      await user.sync()
      await test.billing.webhooks.replay({ from: new Date(0) })
      await test.settle()
      expect(emitted).toEqual([])
    },
  )

  it.each(['success', 'failed'] as const)(
    'emits its billing event in sync() if the webhook about the result was lost (result: %s)',
    async (ending) => {
      const test = await payByBankDebit(ending, { webhooks: false })
      const { user, billing, sandbox, take } = test
      await billing.sync()
      expect(await take()).toEqual(['checkout.completed'])
      expect(await listOperationKinds(test)).toEqual(['checkout_payment'])
      await billing.sync()
      expect(await take()).toEqual([])
      await sandbox.clock.advance({ minutes: 4 })
      await billing.sync({ dryRun: true })
      expect(await take()).toEqual([])
      await billing.sync()
      expect(await take()).toEqual([
        ending === 'success' ? 'checkout.paid' : 'checkout.payment_failed',
      ])
      await user.sync()
      expect([await take(), await listOperationKinds(test)]).toEqual([[], []])
    },
  )

  it('emits each event once if its webhooks are duplicated and reordered', async () => {
    const test = await payByBankDebit('success')
    test.sandbox.outbox.set({ duplicate: 3, reorder: true })
    await test.sandbox.clock.advance({ minutes: 4 })
    await test.settle()
    expect(test.emitted.map(({ type }) => type).sort()).toEqual([
      'checkout.completed',
      'checkout.paid',
    ])
  })

  it.each(['success', 'failed'] as const)(
    'prevents a switch to another provider, unless it has failed (the bank reports: %s)',
    async (ending) => {
      const test = await payByBankDebit(ending)
      const { user, id } = test
      await user.completeCheckout(id)
      await expect(user.chooseProvider('braintree')).rejects.toThrow(ProviderChosen)
      await test.advance({ minutes: 4 })
      const later = user.chooseProvider('braintree')
      if (ending === 'success') await expect(later).rejects.toThrow(ProviderChosen)
      else await later
    },
  )

  it('does not prevent the payment of another order', async () => {
    const test = await payByBankDebit('success', { webhooks: false })
    const { user, id, sandbox, take } = test
    await user.completeCheckout(id)
    const other = await user.checkoutCharge(money(1999, 'eur'), 'Poster', ORDER)
    expect(other).toMatchObject({ status: 'open', url: expect.any(String) })
    sandbox.stripe.completeCheckout(other.id)
    await user.completeCheckout(other.id)
    expect((await take()).sort()).toEqual([
      'checkout.completed',
      'checkout.completed',
      'checkout.paid',
    ])
  })

  it('can be refunded once the money has arrived', async () => {
    const test = await payByBankDebit('success')
    const { user, id } = test
    await test.settle()
    await expect(user.refund(id)).rejects.toThrow(RefundNotPossibleYet)
    await expect(user.refund(id, { amount: money(5, 'eur') })).rejects.toThrow(RefundNotPossibleYet)
    await test.advance({ minutes: 4 })
    await user.refund(id)
    expect(sumRefundedCents(test, user)).toBe(1999)
  })

  it.each(LOSSES)(
    'emits each event once when responses are lost (kind of failure: %s)',
    async (how) => {
      const test = await payByBankDebit('success', { webhooks: false })
      const { user, sandbox, on, emitted } = test
      const hurried = createImpatientBilling({
        ...test,
        another: (options) => test.another({ on, ...options }),
      })
      const other = await hurried.user(user.id)
      for (let round = 0; round < 2; round++) {
        for (let after = 0; after < 5; after++) {
          loseResponse(test, 'stripe', { after, how })
          await other.sync().catch(() => null)
          sandbox.trouble.clear()
        }
        await sandbox.clock.advance({ minutes: 4 })
      }
      await user.sync()
      await Promise.all([test.billing, hurried].map((each) => each.process()))
      expect(emitted.map(({ type }) => type).sort()).toEqual([
        'checkout.completed',
        'checkout.paid',
      ])
      expect(await listOperationKinds(test)).toEqual([])
    },
  )
})

describe('a subscription paid by bank debit on a hosted page', () => {
  it.each([
    ['success', false, 'invoice.paid', 1000],
    ['failed', true, 'invoice.payment_failed', 0],
  ] as const)(
    'is active until the bank reports the result (%s)',
    async (ending, isPastDue, type, taken) => {
      const emitted: string[] = []
      const listen = ({ type }: AnyBillingEvent) => void emitted.push(type)
      const test = await start('stripe', { on: { [type]: listen } })
      const { user, sandbox } = test
      const price = { id: 'euros', currency: 'eur', unitAmount: 1000, interval: 'month' } as const
      sandbox.stripe.seedPrice({ ...price, product: 'Gold' })
      const { id } = await user.checkout('euros', { successPath: '/done' })
      sandbox.stripe.completeCheckout(id, { paymentMethod: `pm_sepaDebit_${ending}Delayed_de` })
      await test.settle()
      expect([await user.subscribed('default'), emitted]).toEqual([true, []])
      await test.advance({ minutes: 4 })
      expect((await user.subscription('default'))?.pastDue()).toBe(isPastDue)
      expect([emitted, sumChargedCents(test, user)]).toEqual([[type], taken])
    },
  )
})

describe('a card payment on a hosted page', () => {
  it('emits checkout.paid immediately', async () => {
    const emitted: AnyBillingEvent[] = []
    const on = { 'checkout.paid': (event: AnyBillingEvent) => void emitted.push(event) }
    const test = await start('stripe', { on })
    const { user, sandbox } = test
    const { id } = await user.checkoutCharge(money(1999, 'eur'), 'Poster', ORDER)
    sandbox.stripe.completeCheckout(id)
    const subscribing = await user.checkout('monthly', { successPath: '/done' })
    sandbox.stripe.completeCheckout(subscribing.id)
    await test.settle()
    expect(emitted).toMatchObject([{ data: { checkout: { id, isPaid: true } } }])
  })
})

it('a bank debit emits no event if it was paid on a hosted page that billing did not create', async () => {
  const test = await payByBankDebit('success')
  const { user, sandbox, emitted } = test
  await test.advance({ minutes: 4 })
  emitted.splice(0)
  const stripe = await stripeSdk(test)
  const poster = { currency: 'eur', unit_amount: 700, product_data: { name: 'Other' } }
  const { id } = await stripe.checkout.sessions.create({
    mode: 'payment',
    customer: user.providerId ?? '',
    success_url: 'https://elsewhere.example.com',
    line_items: [{ price_data: poster, quantity: 1 }],
  })
  sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_sepaDebit_successDelayed_de' })
  await test.advance({ minutes: 4 })
  expect(emitted).toEqual([])
})

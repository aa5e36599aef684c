import { describe, expect, it } from 'vitest'
import {
  type AnyBillingEvent,
  type EventListeners,
  money,
  ProviderChosen,
  RefundNotPossibleYet,
} from '../src/index.ts'
import type { StartBillingOptions } from '../src/testing/index.ts'
import { hasty, LOSSES, loseAnswer } from './lost-answers.ts'
import { type FlowTest, givenBackTo, start, stripeSdk, takenFrom } from './support.ts'

const TYPES = ['checkout.completed', 'checkout.paid', 'checkout.payment_failed'] as const
const ORDER = { successPath: '/orders/7' }

type Ending = 'success' | 'failed'

/** Somebody who has paid a poster by bank debit, and everything that is told of it. */
async function debited(ending: Ending, options: StartBillingOptions = {}) {
  const told: AnyBillingEvent[] = []
  const listen = (event: AnyBillingEvent) => void told.push(event)
  const on = Object.fromEntries(TYPES.map((type) => [type, listen])) as EventListeners
  const test = await start('stripe', { on, ...options })
  const { id } = await test.user.checkoutCharge(money(1999, 'eur'), 'Poster', ORDER)
  test.sandbox.stripe.completeCheckout(id, { paymentMethod: `pm_sepaDebit_${ending}Delayed_de` })
  const take = async () => {
    await test.billing.events.process()
    return told.splice(0).map(({ type }) => type)
  }
  return { ...test, id, on, told, take }
}

async function operationsOf({ database }: FlowTest): Promise<string[]> {
  const rows = await database.kysely.selectFrom('billing_operations').select('kind').execute()
  return rows.map(({ kind }) => kind)
}

describe('a bank debit on a hosted page', () => {
  it.each([
    ['success', 'checkout.paid', 'paid'],
    ['failed', 'checkout.payment_failed', 'failed'],
  ] as const)('is told when it is decided, once: %s', async (ending, type, paymentStatus) => {
    const test = await debited(ending)
    const { user, id, told } = test
    await test.settle()
    expect(told).toMatchObject([
      { type: 'checkout.completed', data: { checkout: { isPaid: false } } },
    ])
    expect(await user.completeCheckout(id)).toMatchObject({ paymentStatus: 'pending' })
    told.splice(0)
    await test.advance({ minutes: 4 })
    const isPaid = ending === 'success'
    expect(told).toMatchObject([
      { type, owner: user.owner, data: { checkout: { id, isPaid, payment: expect.any(String) } } },
    ])
    expect(await user.completeCheckout(id)).toMatchObject({ paymentStatus, isPaid })
    expect([takenFrom(test, user), await operationsOf(test)]).toEqual([isPaid ? 1999 : 0, []])
    told.splice(0)
    await user.sync()
    await test.billing.webhooks.replay({ from: new Date(0) })
    await test.settle()
    expect(told).toEqual([])
  })

  it.each(['success', 'failed'] as const)(
    'is told by sync() where the webhook was lost: %s',
    async (ending) => {
      const test = await debited(ending, { webhooks: false })
      const { user, billing, sandbox, take } = test
      await billing.sync()
      expect(await take()).toEqual(['checkout.completed'])
      expect(await operationsOf(test)).toEqual(['checkout_payment'])
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
      expect([await take(), await operationsOf(test)]).toEqual([[], []])
    },
  )

  it('is told once however often and in whatever order webhooks come', async () => {
    const test = await debited('success')
    test.sandbox.outbox.set({ duplicate: 3, reorder: true })
    await test.sandbox.clock.advance({ minutes: 4 })
    await test.settle()
    expect(test.told.map(({ type }) => type).sort()).toEqual([
      'checkout.completed',
      'checkout.paid',
    ])
  })

  it.each(['success', 'failed'] as const)(
    'is money: nobody goes to another provider while it is on its way, or there (%s)',
    async (ending) => {
      const test = await debited(ending)
      const { user, id } = test
      await user.completeCheckout(id)
      await expect(user.chooseProvider('braintree')).rejects.toThrow(ProviderChosen)
      await test.advance({ minutes: 4 })
      const later = user.chooseProvider('braintree')
      if (ending === 'success') await expect(later).rejects.toThrow(ProviderChosen)
      else await later
    },
  )

  it('keeps no other order from being paid', async () => {
    const test = await debited('success', { webhooks: false })
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

  it('can go back once it is there', async () => {
    const test = await debited('success')
    const { user, id } = test
    await test.settle()
    await expect(user.refund(id)).rejects.toThrow(RefundNotPossibleYet)
    await expect(user.refund(id, { amount: money(5, 'eur') })).rejects.toThrow(RefundNotPossibleYet)
    await test.advance({ minutes: 4 })
    await user.refund(id)
    expect(givenBackTo(test, user)).toBe(1999)
  })

  it.each(LOSSES)('is told once when answers are lost: %s', async (how) => {
    const test = await debited('success', { webhooks: false })
    const { user, sandbox, on, told } = test
    const hurried = hasty({ ...test, another: (options) => test.another({ on, ...options }) })
    const other = await hurried.user(user.id)
    for (let round = 0; round < 2; round++) {
      for (let after = 0; after < 5; after++) {
        loseAnswer(test, 'stripe', { after, how })
        await other.sync().catch(() => null)
        sandbox.trouble.clear()
      }
      await sandbox.clock.advance({ minutes: 4 })
    }
    await user.sync()
    await Promise.all([test.billing, hurried].map((each) => each.events.process()))
    expect(told.map(({ type }) => type).sort()).toEqual(['checkout.completed', 'checkout.paid'])
    expect(await operationsOf(test)).toEqual([])
  })
})

describe('a subscription that is paid by bank debit on a hosted page', () => {
  it.each([
    ['success', false, 'invoice.paid', 1000],
    ['failed', true, 'invoice.payment_failed', 0],
  ] as const)('runs until the bank has decided: %s', async (ending, isPastDue, type, taken) => {
    const told: string[] = []
    const listen = ({ type }: AnyBillingEvent) => void told.push(type)
    const test = await start('stripe', { on: { [type]: listen } })
    const { user, sandbox } = test
    const price = { id: 'euros', currency: 'eur', unitAmount: 1000, interval: 'month' } as const
    sandbox.stripe.seedPrice({ ...price, product: 'Gold' })
    const { id } = await user.checkout('euros', { successPath: '/done' })
    sandbox.stripe.completeCheckout(id, { paymentMethod: `pm_sepaDebit_${ending}Delayed_de` })
    await test.settle()
    expect([await user.subscribed('default'), told]).toEqual([true, []])
    await test.advance({ minutes: 4 })
    expect((await user.subscription('default'))?.pastDue()).toBe(isPastDue)
    expect([told, takenFrom(test, user)]).toEqual([[type], taken])
  })
})

describe('what is paid by card on a hosted page', () => {
  it('is told as paid at once', async () => {
    const told: AnyBillingEvent[] = []
    const on = { 'checkout.paid': (event: AnyBillingEvent) => void told.push(event) }
    const test = await start('stripe', { on })
    const { user, sandbox } = test
    const { id } = await user.checkoutCharge(money(1999, 'eur'), 'Poster', ORDER)
    sandbox.stripe.completeCheckout(id)
    const subscribing = await user.checkout('monthly', { successPath: '/done' })
    sandbox.stripe.completeCheckout(subscribing.id)
    await test.settle()
    expect(told).toMatchObject([{ data: { checkout: { id, isPaid: true } } }])
  })
})

it('a debit on a page that is not ours is told to nobody', async () => {
  const test = await debited('success')
  const { user, sandbox, told } = test
  await test.advance({ minutes: 4 })
  told.splice(0)
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
  expect(told).toEqual([])
})

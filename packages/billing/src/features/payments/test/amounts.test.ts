import { describe, expect, it } from 'vitest'
import { catchError, withoutCalls } from '../../../../test/specification/no-calls.ts'
import { PROVIDERS, start, sumChargedCents } from '../../../../test/support.ts'
import { type Amount, type BillableUser, InvalidAmount, money } from '../../../index.ts'

const PAGE = { successPath: '/done' }

/** Amounts that no provider can charge, as JavaScript or a form may send them. */
const IMPOSSIBLE: readonly [string, unknown][] = [
  ['half a cent', { amount: 1.5, currency: 'usd' }],
  ['more than a number holds', { amount: 2 ** 53, currency: 'usd' }],
  ['no number', { amount: Number.NaN, currency: 'usd' }],
  ['digits as text', { amount: '1000', currency: 'usd' }],
  ['no amount', { currency: 'usd' }],
  ['no currency', { amount: 1000 }],
  ['an empty currency', { amount: 1000, currency: '' }],
  ['a currency that does not exist', { amount: 1000, currency: 'xyz' }],
  ['the name of a currency', { amount: 1000, currency: 'dollar' }],
  ['a currency that is no text', { amount: 1000, currency: 840 }],
  ['nothing at all', undefined],
  ['null', null],
  ['a text', '10.00'],
  ['a fraction of the smallest unit', 0.001],
  ['nothing to charge', { amount: 0, currency: 'usd' }],
  ['less than nothing', { amount: -1000, currency: 'usd' }],
]

type Place = (user: BillableUser, amount: Amount) => Promise<unknown>

const PLACES: Readonly<Record<string, Place>> = {
  charge: (user, amount) => user.charge(amount),
  invoiceFor: (user, amount) => user.invoiceFor('Setup', amount),
  refund: (user, amount) => user.refund('ch_1', { amount: amount ?? (null as never) }),
}

const STRIPE_PLACES: Readonly<Record<string, Place>> = {
  creditBalance: (user, amount) => user.creditBalance(amount),
  debitBalance: (user, amount) => user.debitBalance(amount),
  checkout: (user, amount) =>
    user.checkout([{ amount, name: 'Setup' }], { ...PAGE, mode: 'payment' }),
  checkoutCharge: (user, amount) => user.checkoutCharge(amount, 'Setup', PAGE),
}

describe.each(PROVIDERS)(
  'an amount of money passed to billing at $provider',
  ({ provider, card, ten }) => {
    const places = provider === 'stripe' ? { ...PLACES, ...STRIPE_PLACES } : PLACES

    it.each(Object.keys(places))(
      'is rejected by %s() before any request if it cannot be charged',
      async (name) => {
        const test = await start(provider, { webhooks: false })
        await test.user.updateCard(card)
        for (const [what, amount] of IMPOSSIBLE) {
          const act = () => places[name]?.(test.user, amount as Amount)
          const error = await withoutCalls(test, () => catchError(act))
          expect(error, what).toBeInstanceOf(InvalidAmount)
          expect(error, what).toMatchObject({ code: 'invalid_amount', status: 400 })
        }
      },
    )

    it('may have its currency in capital letters', async () => {
      const test = await start(provider, { webhooks: false })
      await test.user.updateCard(card)
      const options = { idempotencyKey: 'order-1' }
      await test.user.charge({ amount: 1000, currency: 'USD' }, options)
      await test.user.charge(ten, options)
      expect(sumChargedCents(test, test.user)).toBe(1000)
    })
  },
)

describe('a plain number passed as an amount', () => {
  it('is in whole currency units at Braintree, and may have decimals', async () => {
    const test = await start('braintree', { webhooks: false })
    await test.user.updateCard('fake-valid-visa-nonce')
    await test.user.charge(12.5)
    expect(sumChargedCents(test, test.user)).toBe(1250)
  })

  it('is in the smallest currency unit at Stripe, and may not have decimals', async () => {
    const test = await start('stripe', { webhooks: false })
    await test.user.updateCard('pm_card_visa')
    const error = await withoutCalls(test, () => catchError(() => test.user.charge(12.5)))
    expect(error).toBeInstanceOf(InvalidAmount)
  })
})

describe('an amount for a part of an invoice', () => {
  it('is rejected by creditNote() before any request if it cannot be credited', async () => {
    const test = await start('stripe', { webhooks: false })
    await test.user.updateCard('pm_card_visa')
    const invoice = await test.user.invoiceFor('Setup', 1000)
    for (const [what, amount] of IMPOSSIBLE.filter(([, each]) => each !== undefined)) {
      const act = () => invoice.creditNote({ to: 'refund', amount: amount as Amount })
      const error = await withoutCalls(test, () => catchError(act))
      expect(error, what).toBeInstanceOf(InvalidAmount)
    }
  })
})

describe('money()', () => {
  it.each([
    [1000, 'xyz'],
    [1000, 'dollar'],
    [1000, undefined as never],
    [1.5, 'usd'],
    ['1000' as never, 'usd'],
  ])('rejects the amount %s with the currency %s', (amount, currency) => {
    expect(() => money(amount, currency)).toThrow(InvalidAmount)
  })

  // ISO 4217 has withdrawn STD, and Stripe still charges it.
  it.each(['USD', 'eur', 'jpy', 'kwd', 'xcg', 'std'])('accepts the currency %s', (currency) => {
    expect(money(1000, currency)).toEqual({ amount: 1000, currency: currency.toLowerCase() })
  })
})

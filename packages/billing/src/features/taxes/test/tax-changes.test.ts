import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import type { Subscription } from '../../../index.ts'
import type { StartBillingOptions } from '../../../testing/index.ts'

const WAYS = ['none', 'percentage', 'rates', 'automatic'] as const
type Way = (typeof WAYS)[number]

const PERCENT: Readonly<Record<Way, { readonly plan: number; readonly book: number }>> = {
  none: { plan: 0, book: 0 },
  percentage: { plan: 10, book: 10 },
  rates: { plan: 25, book: 7 },
  // The rate of Germany, where the customer lives.
  automatic: { plan: 19, book: 19 },
}

const CENTS = { monthly: 1000, pro: 2500, yearly: 10000, book: 500 } as const
type Sold = keyof typeof CENTS

const withTax = (way: Way, ...sold: readonly Sold[]) =>
  sold.reduce((sum, price) => {
    const { plan, book } = PERCENT[way]
    return sum + (CENTS[price] * (100 + (price === 'book' ? book : plan))) / 100
  }, 0)

/** The tax as stored at Stripe, in percent. */
const AT_STRIPE: Readonly<Record<Way, { whole: number[]; items: number[][]; automatic: boolean }>> =
  {
    none: { whole: [], items: [[], []], automatic: false },
    percentage: { whole: [10], items: [[], []], automatic: false },
    rates: { whole: [], items: [[25], [7]], automatic: false },
    automatic: { whole: [], items: [[], []], automatic: true },
  }

async function startTaxed(from: Way) {
  const ids = new Map<number, string>()
  const options: Readonly<Record<Way, StartBillingOptions>> = {
    none: { taxPercentage: () => 0 },
    percentage: { taxPercentage: () => 10 },
    rates: {
      tax: { rates: (_row: unknown, price: string) => [ids.get(price in CENTS ? 25 : 7) ?? ''] },
      taxPercentage: undefined,
    } as never,
    automatic: { tax: 'automatic', taxPercentage: undefined } as never,
  }
  const test = await start('stripe', { webhooks: false, ...options[from] })
  const stripe = await stripeSdk(test)
  for (const percentage of [7, 25]) {
    const made = await stripe.taxRates.create({ display_name: 'Tax', percentage, inclusive: false })
    ids.set(percentage, made.id)
  }
  const { id: product } = await stripe.products.create({ name: 'Book' })
  const price = { currency: 'usd', unit_amount: 500, recurring: { interval: 'month' } } as const
  const book = (await stripe.prices.create({ ...price, product })).id
  const { user } = test
  await user.updateCard('pm_card_visa')
  await user.updateCustomer({ address: { country: 'DE', postalCode: '10115' } })
  return {
    ...{ test, user, stripe, ids },
    book,
    /** Reads the subscription with an application that configures this kind of tax. */
    async by(way: Way): Promise<Subscription> {
      return (await this.userBy(way)).subscription('main')
    },
    userBy(way: Way) {
      const { tax, taxPercentage } = options[way]
      return test.another({ tax, taxPercentage } as never).user(user.id)
    },
    async atStripe(of: Subscription) {
      const found = await stripe.subscriptions.retrieve(of.providerId)
      const percents = (rates: Stripe.TaxRate[] | null | undefined) =>
        (rates ?? []).map(({ percentage }) => percentage)
      const main = (item: Stripe.SubscriptionItem) => (item.price.id === book ? 1 : 0)
      return {
        whole: percents(found.default_tax_rates),
        items: found.items.data
          .sort((a, b) => main(a) - main(b))
          .map(({ tax_rates }) => percents(tax_rates)),
        automatic: found.automatic_tax.enabled,
      }
    },
    async nextBill(): Promise<number> {
      const before = sumChargedCents(test, user)
      await test.sandbox.clock.advance({ months: 1 })
      await test.sandbox.clock.advance({ hours: 2 })
      return sumChargedCents(test, user) - before
    },
  }
}

describe.each(WAYS)(
  'the tax of a subscription (%s), if the application configures no tax,',
  (from) => {
    it.each(['swap', 'swapAtPeriodEnd'] as const)('stays unchanged after %s()', async (how) => {
      const taxed = await startTaxed(from)
      const { test, user, stripe, book } = taxed
      const made = await user.newSubscription('main', 'monthly').price(book).create()
      // Removes the choice, as if the subscription had been created elsewhere.
      await stripe.subscriptions.update(made.providerId, { metadata: { taxed_by: '' } })
      const silent = test.another({ tax: undefined, taxPercentage: undefined } as never)
      const same = await (await silent.user(user.id)).subscription('main')
      if (how === 'swap') await same.swap('pro')
      else await same.swapAtPeriodEnd([{ price: 'pro' }, { price: book }])
      await taxed.nextBill()
      expect(await taxed.nextBill()).toBe(withTax(from, 'pro', 'book'))
      expect(await taxed.atStripe(made)).toEqual(AT_STRIPE[from])
    })

    it('stays unchanged after syncTaxPercentage()', async () => {
      const taxed = await startTaxed(from)
      const { test, user, stripe, book } = taxed
      const made = await user.newSubscription('main', 'monthly').price(book).create()
      await stripe.subscriptions.update(made.providerId, { metadata: { taxed_by: '' } })
      const silent = test.another({ tax: undefined, taxPercentage: undefined } as never)
      await (await (await silent.user(user.id)).subscription('main')).syncTaxPercentage()
      expect(await taxed.atStripe(made)).toEqual(AT_STRIPE[from])
      expect(await taxed.nextBill()).toBe(withTax(from, 'monthly', 'book'))
    })
  },
)

it('syncTaxPercentage() restores the automatic tax that was chosen for a subscription, when the application configures no tax', async () => {
  const taxed = await startTaxed('none')
  const { test, user, stripe, book } = taxed
  const made = await user
    .newSubscription('main', 'monthly')
    .price(book)
    .withTax('automatic')
    .create()
  // Stripe turns it off when it does not know the address.
  await stripe.subscriptions.update(made.providerId, { automatic_tax: { enabled: false } })
  const silent = test.another({ tax: undefined, taxPercentage: undefined } as never)
  await (await (await silent.user(user.id)).subscription('main')).syncTaxPercentage()
  expect(await taxed.atStripe(made)).toEqual(AT_STRIPE.automatic)
})

it('syncTaxPercentage() keeps the tax included in the price at Braintree, when the application configures no tax', async () => {
  const test = await start('braintree', { taxPercentage: () => 10 })
  const { user } = test
  await user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
  const silent = test.another({ taxPercentage: undefined } as never)
  await (await (await silent.user(user.id)).subscription('main')).syncTaxPercentage()
  await test.advance({ months: 1, hours: 2 })
  expect(sumChargedCents(test, user)).toBe(2200)
})

describe('a tax included in the price at Braintree, when the application configures no tax', () => {
  it.each<[string, (it: Subscription) => Promise<unknown>, number]>([
    ['swap()', (it) => it.noProrate().swap('pro'), 2750],
    [
      'swap() of all prices',
      (it) => it.noProrate().swap([{ price: 'pro' }, { price: 'seat' }]),
      3300,
    ],
    ['swap() to another interval', (it) => it.noProrate().swap('quarterly'), 2970],
    ['addPrice()', (it) => it.noProrate().addPrice('seat'), 1650],
    ['resume()', async (it) => (await it.cancel()).resume(), 1100],
  ])('is still charged after %s', async (_how, change, taken) => {
    const test = await start('braintree', { taxPercentage: () => 10 })
    test.sandbox.braintree.defineAddOn({ id: 'seat', amount: 500 })
    const { user } = test
    await user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
    const silent = test.another({ taxPercentage: undefined } as never)
    const same = await (await silent.user(user.id)).subscription('main')
    const before = sumChargedCents(test, user)
    await change(same)
    await test.advance({ months: 1, hours: 2 })
    expect(sumChargedCents(test, user) - before).toBe(taken)
    const [newest] = await (await silent.user(user.id)).invoices()
    expect(newest?.data.taxes).toMatchObject([{ percentage: '10', amount: taken / 11 }])
  })

  it('is included in the preview of a swap', async () => {
    const test = await start('braintree', { taxPercentage: () => 10 })
    const { user } = test
    await user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
    const silent = test.another({ taxPercentage: undefined } as never)
    const same = await (await silent.user(user.id)).subscription('main')
    const { total } = await same.noProrate().previewSwap('quarterly')
    expect(total.amount).toBe(2970)
  })
})

const PAIRS = WAYS.flatMap((from) => WAYS.map((to) => [from, to] as const))

describe.each(PAIRS)('changing the `tax` option from %s to %s', (from, to) => {
  it('leaves only the new tax after syncTaxPercentage(), and on the next invoice', async () => {
    const taxed = await startTaxed(from)
    const { test, user, book } = taxed
    const made = await user.newSubscription('main', 'monthly').price(book).create()
    expect(sumChargedCents(test, user)).toBe(withTax(from, 'monthly', 'book'))
    expect(await taxed.atStripe(made)).toEqual(AT_STRIPE[from])
    const same = await taxed.by(to)
    await same.syncTaxPercentage()
    expect(await taxed.atStripe(made)).toEqual(AT_STRIPE[to])
    const upcoming = await same.upcomingInvoice()
    expect(upcoming?.total.amount).toBe(withTax(to, 'monthly', 'book'))
    expect(await taxed.nextBill()).toBe(withTax(to, 'monthly', 'book'))
  })

  it('leaves only the new tax after a swap, which costs as much as its preview', async () => {
    const taxed = await startTaxed(from)
    const { test, user, book } = taxed
    const made = await user.newSubscription('main', 'monthly').price(book).create()
    const same = await taxed.by(to)
    const { prorationDate, total } = await same.previewSwap('yearly')
    const before = sumChargedCents(test, user)
    await same.swap('yearly', { prorationDate })
    expect(sumChargedCents(test, user) - before).toBe(total.amount)
    expect(await taxed.atStripe(made)).toEqual(AT_STRIPE[to])
  })

  it('leaves only the old tax until a planned swap takes effect, and only the new tax afterwards', async () => {
    const taxed = await startTaxed(from)
    const made = await taxed.user.newSubscription('main', 'monthly').price(taxed.book).create()
    const same = await taxed.by(to)
    await same.swapAtPeriodEnd([{ price: 'pro' }, { price: taxed.book }])
    expect(await taxed.atStripe(made)).toEqual(AT_STRIPE[from])
    expect(await taxed.nextBill()).toBe(withTax(to, 'pro', 'book'))
    expect(await taxed.atStripe(made)).toEqual(AT_STRIPE[to])
  })

  it('applies to an added price, if the subscription’s present tax allows it', async () => {
    const taxed = await startTaxed(from)
    await taxed.user.newSubscription('main', 'monthly').create()
    const same = await taxed.by(to)
    await same.addPrice(taxed.book)
    await taxed.nextBill()
    expect(await taxed.nextBill()).toBe(withTax(from, 'monthly') + withTax(ADDED[from][to], 'book'))
  })
})

/**
 * Stripe calculates the tax of an invoice as a whole or not at all, and rates of the whole
 * subscription apply to items without rates of their own.
 */
const ADDED: Readonly<Record<Way, Readonly<Record<Way, Way>>>> = {
  none: { none: 'none', percentage: 'percentage', rates: 'rates', automatic: 'none' },
  percentage: {
    none: 'percentage',
    percentage: 'percentage',
    rates: 'rates',
    automatic: 'percentage',
  },
  rates: { none: 'none', percentage: 'percentage', rates: 'rates', automatic: 'none' },
  automatic: {
    none: 'automatic',
    percentage: 'automatic',
    rates: 'automatic',
    automatic: 'automatic',
  },
}

describe.each(PAIRS)(
  'a tax (%s) chosen for one subscription, while the `tax` option is %s,',
  (chosen, option) => {
    it('is kept after syncTaxPercentage(), swaps, planned swaps and added prices', async () => {
      const taxed = await startTaxed('none')
      const choice = {
        none: [],
        percentage: 'percentage',
        rates: [taxed.ids.get(25) ?? ''],
        automatic: 'automatic',
      } as const
      const user = await taxed.userBy(chosen)
      await user
        .newSubscription('main', 'monthly')
        .withTax(choice[chosen] as 'automatic')
        .create()
      expect(sumChargedCents(taxed.test, user)).toBe(withTax(chosen, 'monthly'))
      const same = await taxed.by(option)
      // A choice of "percentage" follows the application's percentage, if it configures one.
      const way = chosen === 'percentage' && option === 'none' ? 'none' : chosen
      const cents = (amount: number) => (amount * (100 + PERCENT[way].plan)) / 100
      await same.syncTaxPercentage()
      expect(await taxed.nextBill()).toBe(cents(1000))
      await same.addPrice(taxed.book)
      await same.swap('pro')
      await taxed.nextBill()
      expect(await taxed.nextBill()).toBe(cents(3000))
      await same.swapAtPeriodEnd([{ price: 'monthly' }])
      expect(await taxed.nextBill()).toBe(cents(1000))
    })
  },
)

describe.each([
  [0, 10],
  [10, 0],
  [10, 25],
  [0, 0],
])('changing the tax percentage at Braintree from %s to %s percent', (from, to) => {
  it.each(['syncTaxPercentage', 'swap'] as const)(
    'applies to the invoices after %s()',
    async (how) => {
      const test = await start('braintree', { webhooks: false, taxPercentage: () => from })
      const { user } = test
      await user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
      expect(sumChargedCents(test, user)).toBe(1000 + from * 10)
      const later = test.another({ taxPercentage: () => to })
      const same = await (await later.user(user.id)).subscription('main')
      if (how === 'swap') await same.noProrate().swap('pro')
      else await same.syncTaxPercentage()
      const before = sumChargedCents(test, user)
      await test.sandbox.clock.advance({ months: 1, hours: 2 })
      const price = how === 'swap' ? 2500 : 1000
      expect(sumChargedCents(test, user) - before).toBe(price + (price * to) / 100)
    },
  )
})

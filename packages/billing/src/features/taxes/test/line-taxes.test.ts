import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { type FlowTest, start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import type { StartBillingOptions } from '../../../testing/index.ts'

const BERLIN = { country: 'DE', postalCode: '10115' } as const

/** Tax in percent on each price: at home, after moving away, and where no tax applies. */
const PERCENT = {
  home: { monthly: 19, pro: 19, book: 7 },
  away: { monthly: 25, pro: 25, book: 5 },
  free: { monthly: 0, pro: 0, book: 0 },
} as const

type Place = keyof typeof PERCENT
type Sold = keyof (typeof PERCENT)['home']

interface TaxedTest extends FlowTest {
  readonly stripe: Awaited<ReturnType<typeof stripeSdk>>
  /** Id of a price of five dollars a month. */
  readonly book: string
  /** Options with tax rates for each price, according to where the user lives now. */
  readonly byRates: Pick<StartBillingOptions, 'tax'>
  move(to: Place): void
  /** Advances by a month, and returns the amount that is charged. */
  nextBill(): Promise<number>
}

async function startTaxed(options: StartBillingOptions | 'rates'): Promise<TaxedTest> {
  let place: Place = 'home'
  let book = ''
  const ids = new Map<number, string>()
  const rates = (_row: unknown, price: string) => {
    const sold = price === book ? 'book' : (price as Sold)
    const id = ids.get(PERCENT[place][sold])
    return id === undefined ? [] : [id]
  }
  const byRates = { tax: { rates } }
  const test = await start('stripe', {
    webhooks: false,
    ...(options === 'rates' ? byRates : options),
  })
  const stripe = await stripeSdk(test)
  for (const percentage of [5, 7, 19, 25]) {
    const made = await stripe.taxRates.create({ display_name: 'Tax', percentage, inclusive: false })
    ids.set(percentage, made.id)
  }
  const product = await stripe.products.create({ name: 'Book' })
  const price = { currency: 'usd', unit_amount: 500, recurring: { interval: 'month' } } as const
  book = (await stripe.prices.create({ ...price, product: product.id })).id
  await test.user.updateCard('pm_card_visa')
  await test.user.updateCustomer({ address: BERLIN })
  return {
    ...test,
    ...{ stripe, book, byRates },
    move(to) {
      place = to
    },
    async nextBill() {
      const before = sumChargedCents(test, test.user)
      await test.sandbox.clock.advance({ months: 1 })
      await test.sandbox.clock.advance({ hours: 2 })
      return sumChargedCents(test, test.user) - before
    },
  }
}

/** Returns the total in cents with tax, each line by its own rate. */
function taxed(place: Place, main: 'monthly' | 'pro' = 'monthly'): number {
  const base = main === 'pro' ? 2500 : 1000
  return Math.round(base * (1 + PERCENT[place][main] / 100) + 500 * (1 + PERCENT[place].book / 100))
}

describe('the tax of a subscription with two prices, each with its own tax rate,', () => {
  it('changes for each price when the customer moves', async () => {
    const test = await startTaxed('rates')
    const { user, book } = test
    const subscription = await user.newSubscription('main', 'monthly').price(book).create()
    expect(sumChargedCents(test, user)).toBe(taxed('home'))
    test.move('away')
    await subscription.syncTaxPercentage()
    expect((await subscription.upcomingInvoice())?.total.amount).toBe(taxed('away'))
    expect(await test.nextBill()).toBe(taxed('away'))
    test.move('free')
    await subscription.syncTaxPercentage()
    expect(await test.nextBill()).toBe(1500)
  })

  it.each(['automatic', 'percentage'] as const)(
    'uses the rates of the prices after the kind of tax was changed from %s to rates',
    async (tax) => {
      const test = await startTaxed(tax === 'automatic' ? { tax } : { taxPercentage: () => 10 })
      const { user, book } = test
      await user.newSubscription('main', 'monthly').price(book).create()
      expect(sumChargedCents(test, user)).toBe(tax === 'automatic' ? 1785 : 1650)
      const later = test.another({ ...test.byRates, taxPercentage: undefined } as never)
      const same = await (await later.user(user.id)).subscription('main')
      await same.syncTaxPercentage()
      expect(await test.nextBill()).toBe(taxed('home'))
      test.move('free')
      await same.syncTaxPercentage()
      expect(await test.nextBill()).toBe(1500)
    },
  )

  it.each(['home', 'free'] as const)(
    'uses only the rates of the prices after the kind of tax was changed from a percentage to rates (customer’s address: %s)',
    async (place) => {
      const test = await startTaxed({ taxPercentage: () => 10 })
      const { user, book } = test
      await user.newSubscription('main', 'monthly').price(book).create()
      test.move(place)
      const later = test.another({ ...test.byRates, taxPercentage: undefined } as never)
      await (await (await later.user(user.id)).subscription('main')).syncTaxPercentage()
      expect(await test.nextBill()).toBe(taxed(place))
    },
  )

  it('uses the rates of the new prices after a planned swap, even if the customer moves before the swap', async () => {
    const test = await startTaxed('rates')
    const { user, book } = test
    const subscription = await user.newSubscription('main', 'monthly').create()
    await subscription.swapAtPeriodEnd([{ price: 'pro' }, { price: book }])
    expect((await subscription.upcomingInvoice())?.total.amount).toBe(taxed('home', 'pro'))
    test.move('away')
    await subscription.syncTaxPercentage()
    expect(await test.nextBill()).toBe(taxed('away', 'pro'))
    expect(await test.nextBill()).toBe(taxed('away', 'pro'))
  })

  it('includes the tax of a price that is added by a swap', async () => {
    const test = await startTaxed('rates')
    const { user, book } = test
    const made = await user.newSubscription('main', 'monthly').create()
    const wanted = [{ price: 'pro' }, { price: book }]
    const preview = await made.previewSwap(wanted)
    const before = sumChargedCents(test, user)
    const swapped = await made.swapAndInvoice(wanted, { prorationDate: preview.prorationDate })
    const paid = sumChargedCents(test, user) - before
    expect(paid).toBe(taxed('home', 'pro') - 1190)
    expect(await test.nextBill()).toBe(taxed('home', 'pro'))
    test.move('away')
    await swapped.swap('monthly')
    // The unused part of the more expensive price is credited with its tax.
    await test.nextBill()
    expect(await test.nextBill()).toBe(taxed('away'))
  })

  it('is still calculated by Stripe for both prices after a swap, if the tax is automatic', async () => {
    const test = await startTaxed('rates')
    const { user, book, stripe } = test
    await user.newSubscription('main', 'monthly').price(book).create()
    const later = test.another({ tax: 'automatic' })
    const same = await (await later.user(user.id)).subscription('main')
    await same.swap('pro')
    const { id } = (await same.asProvider()) as Stripe.Subscription
    const found = await stripe.subscriptions.retrieve(id)
    expect(found.automatic_tax.enabled).toBe(true)
    expect(found.items.data.map(({ tax_rates }) => tax_rates?.length)).toEqual([0, 0])
    await test.nextBill()
    expect(await test.nextBill()).toBe(3570)
  })
})

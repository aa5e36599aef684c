import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import {
  type FlowTest,
  PROVIDERS,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import {
  type Address,
  InvalidArgument,
  InvalidTaxId,
  ProviderUnavailable,
  type SwapPreview,
  TaxLocationUnknown,
  Unsupported,
} from '../../../index.ts'

const VAT = ['eu_vat', 'DE123456789'] as const
const BERLIN = { country: 'DE', postalCode: '10115' } as const

/** Creates a customer with this address. */
async function somewhere(test: FlowTest, address: Address) {
  await test.user.setTaxExempt('none')
  await test.user.updateCustomer({ address })
  return test.user
}

const withTax = (amount: number, percent: number) => amount + Math.round((amount * percent) / 100)

describe('tax ids at Stripe', () => {
  it('are stored once, found only by their owner, and can be deleted', async () => {
    const test = await start('stripe')
    const { user } = test
    expect(await user.taxIds()).toEqual([])
    const made = await Promise.all(Array.from({ length: 20 }, () => user.createTaxId(...VAT)))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    const [{ id } = { id: '' }] = made
    await user.createTaxId('us_ein', ' 12-3456789 ')
    expect(await user.taxIds()).toMatchObject([
      { id, type: 'eu_vat', value: 'DE123456789', country: 'DE', verification: 'pending' },
      { type: 'us_ein', value: '12-3456789', country: 'US', verification: 'unavailable' },
    ])
    expect(test.sandbox.stripe.customers()).toHaveLength(1)
    const stranger = await test.createUser()
    await stranger.createTaxId(...VAT)
    expect(await stranger.findTaxId(id)).toBeNull()
    await stranger.deleteTaxId(id)
    expect((await user.findTaxId(id))?.value).toBe('DE123456789')
    await user.deleteTaxId(id)
    await user.deleteTaxId(id)
    expect(await user.taxIds()).toHaveLength(1)
    await expect(user.createTaxId('eu_vat', '1')).rejects.toThrow(InvalidTaxId)
    await expect(user.createTaxId('xx_none', '1')).rejects.toThrow(InvalidTaxId)
    await expect(user.createTaxId('eu_vat', ' ')).rejects.toThrow(InvalidArgument)
    const open = await test.database.kysely.selectFrom('billing_operations').selectAll().execute()
    expect(open).toEqual([])
  })

  it.each(LOSSES)('are added once when a response is lost (kind of failure: %s)', async (how) => {
    const test = await start('stripe', { webhooks: false })
    for (let call = 0, wasHit = true; wasHit && call < 10; call++) {
      const user = await test.createUser()
      await user.updateCard('pm_card_visa')
      const other = await createImpatientBilling(test).user(user.id)
      loseResponse(test, 'stripe', { after: call, how })
      const failed = await other.createTaxId(...VAT).catch((error: unknown) => error)
      wasHit = test.sandbox.trouble.takeCallTrouble('stripe') === null
      test.sandbox.trouble.clear()
      if (failed instanceof Error) {
        expect(failed).toBeInstanceOf(ProviderUnavailable)
        await user.createTaxId(...VAT)
      }
      expect(await user.taxIds(), `call ${call}`).toHaveLength(1)
    }
    const open = await test.database.kysely.selectFrom('billing_operations').selectAll().execute()
    expect(open).toEqual([])
  })

  it('can be combined with a tax exemption or reverse charge', async () => {
    const test = await start('stripe', { taxPercentage: () => 19 })
    const { user } = test
    expect(await user.taxExempt()).toBe('none')
    await user.setTaxExempt('reverse')
    expect([await user.taxExempt(), await user.reverseChargeApplies()]).toEqual(['reverse', true])
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    expect(sumChargedCents(test, user)).toBe(1000)
    await user.setTaxExempt('exempt')
    expect([await user.taxExempt(), await user.reverseChargeApplies()]).toEqual(['exempt', false])
    await expect(user.setTaxExempt('some' as 'none')).rejects.toThrow(InvalidArgument)
  })
})

/** Addresses, and the tax on USD prices in percent. */
const PLACES = [
  { name: 'Germany', address: BERLIN, percent: 19, taxId: null },
  {
    name: 'California',
    address: { country: 'US', postalCode: '94107' },
    percent: 7.25,
    taxId: null,
  },
  { name: 'Quebec', address: { country: 'CA', state: 'QC' }, percent: 14.975, taxId: null },
  { name: 'Brazil', address: { country: 'BR' }, percent: 0, taxId: null },
  { name: 'a business in Germany', address: BERLIN, percent: 0, taxId: VAT },
] as const

describe('automatic tax at Stripe', () => {
  it.each(PLACES)(
    'is calculated for a customer in $name, in previews, swaps and renewals',
    async (place) => {
      const test = await start('stripe', { tax: 'automatic' })
      const user = await somewhere(test, place.address)
      if (place.taxId) await user.createTaxId(...place.taxId)
      const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
      expect(sumChargedCents(test, user)).toBe(withTax(1000, place.percent))
      const [invoice] = await user.invoices()
      expect(invoice?.data.reverseCharge).toBe(place.taxId !== null)
      expect(invoice?.data.customerTaxIds).toEqual(place.taxId ? [VAT[1]] : [])
      await test.advance({ days: 10 })
      const preview: SwapPreview = await subscription.previewSwap('yearly')
      expect(preview.taxLocationUnknown).toBeUndefined()
      const before = sumChargedCents(test, user)
      await subscription.swap('yearly', { prorationDate: preview.prorationDate })
      expect(sumChargedCents(test, user) - before).toBe(preview.total.amount)
      await subscription.syncTaxPercentage()
      const stripe = await stripeSdk(test)
      const { id } = (await subscription.asProvider()) as Stripe.Subscription
      expect((await stripe.subscriptions.retrieve(id)).automatic_tax.enabled).toBe(true)
    },
  )

  it('throws TaxLocationUnknown without the customer’s address', async () => {
    const test = await start('stripe', { tax: 'automatic' })
    const { user } = test
    const builder = user.newSubscription('main', 'monthly')
    await expect(builder.create('pm_card_visa')).rejects.toThrow(TaxLocationUnknown)
    expect(sumChargedCents(test, user)).toBe(0)
    await user.updateCustomer({ address: BERLIN })
    const subscription = await builder.create('pm_card_visa')
    expect(sumChargedCents(test, user)).toBe(1190)
    const away = user.updateCustomer({ address: { country: 'US' } })
    await expect(away).rejects.toThrow(TaxLocationUnknown)
    const { customers } = await stripeSdk(test)
    await customers.update(user.providerId ?? '', {
      address: { country: 'US' },
      tax: { validate_location: 'deferred' },
    })
    const preview = await subscription.previewSwap('yearly')
    expect(preview.taxLocationUnknown).toBe(true)
    await expect(subscription.swap('yearly')).rejects.toThrow(TaxLocationUnknown)
  })

  it('applies to a single invoice to the cent, and can be turned off for it', async () => {
    const test = await start('stripe', { tax: 'automatic' })
    const { user } = test
    await user.updateCard('pm_card_visa')
    await expect(user.invoiceFor('Setup', 4999)).rejects.toThrow(TaxLocationUnknown)
    expect(test.sandbox.stripe.invoices(user.providerId ?? '')).toEqual([])
    const key = { idempotencyKey: 'order-1' }
    const nowhere = user.invoiceFor('Setup', 4999, key)
    await expect(nowhere).rejects.toThrow(TaxLocationUnknown)
    expect(sumChargedCents(test, user)).toBe(0)
    await user.updateCustomer({ address: BERLIN })
    const invoice = await user.invoiceFor('Setup', 4999, key)
    expect(invoice.data).toMatchObject({ total: 5949, taxes: [{ amount: 950 }] })
    expect((await user.invoiceFor('Setup', 4999, key)).id).toBe(invoice.id)
    expect(sumChargedCents(test, user)).toBe(5949)
    await user.invoiceFor('Setup', 5000, { automaticTax: false })
    expect(sumChargedCents(test, user)).toBe(5949 + 5000)
    const plain = await start('stripe', { webhooks: false })
    const other = await somewhere(plain, BERLIN)
    await other.updateCard('pm_card_visa')
    await other.invoiceFor('Setup', 5000)
    await other.invoiceFor('Setup', 5000, { automaticTax: true })
    expect(sumChargedCents(plain, other)).toBe(5000 + 5950)
  })

  it('can be chosen for one subscription, where it stays after a swap, and can be turned on later', async () => {
    const test = await start('stripe', { taxPercentage: () => 10 })
    const user = await somewhere(test, BERLIN)
    const percent = await user.newSubscription('other', 'monthly').create('pm_card_visa')
    const chosen = await user.newSubscription('main', 'monthly').withTax('automatic').create()
    expect(sumChargedCents(test, user)).toBe(1100 + 1190)
    const stripe = await stripeSdk(test)
    const read = async (of: typeof chosen) =>
      stripe.subscriptions.retrieve(((await of.asProvider()) as Stripe.Subscription).id)
    for (const subscription of [chosen, percent]) {
      const preview = await subscription.previewSwap('yearly')
      const before = sumChargedCents(test, user)
      await subscription.swap('yearly', { prorationDate: preview.prorationDate })
      await subscription.syncTaxPercentage()
      expect(sumChargedCents(test, user) - before).toBe(preview.total.amount)
    }
    expect((await read(chosen)).automatic_tax.enabled).toBe(true)
    expect((await read(percent)).default_tax_rates).toMatchObject([{ percentage: 10 }])
    const later = test.another({ tax: 'automatic', taxPercentage: undefined } as never)
    const same = await (await later.user(user.id)).subscription('other')
    await same.syncTaxPercentage()
    expect(await read(percent)).toMatchObject({
      automatic_tax: { enabled: true },
      default_tax_rates: [],
    })
  })
})

describe('tax rates of Stripe', () => {
  it('apply to each item by its price, and change with a swap', async () => {
    const rates: Record<string, string> = {}
    const asked: string[] = []
    const test = await start('stripe', {
      tax: {
        rates: (row, price) => {
          asked.push(`${row.id} ${price}`)
          const rate = rates[price]
          return rate ? [rate] : []
        },
      },
    })
    const stripe = await stripeSdk(test)
    for (const [price, percentage, inclusive] of [
      ['monthly', 7, false],
      ['yearly', 20, true],
    ] as const) {
      const made = await stripe.taxRates.create({ display_name: 'Tax', percentage, inclusive })
      rates[price] = made.id
    }
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    expect(sumChargedCents(test, user)).toBe(1070)
    const preview = await subscription.previewSwap('yearly')
    const before = sumChargedCents(test, user)
    await subscription.swap('yearly', { prorationDate: preview.prorationDate })
    expect(sumChargedCents(test, user) - before).toBe(preview.total.amount)
    const { id } = (await subscription.asProvider()) as Stripe.Subscription
    const item = async () => (await stripe.subscriptions.retrieve(id)).items.data[0]
    expect((await item())?.tax_rates).toMatchObject([{ percentage: 20 }])
    await user.newSubscription('two', 'monthly').price('pro').create()
    const two = (await (await user.subscription('two')).asProvider()) as Stripe.Subscription
    expect(two.items.data.map(({ tax_rates }) => tax_rates?.length)).toEqual([1, 0])
    rates.yearly = rates.monthly ?? ''
    await subscription.syncTaxPercentage()
    expect((await item())?.tax_rates).toMatchObject([{ percentage: 7 }])
    expect(asked).toContain(`${user.id} yearly`)
    await user
      .newSubscription('own', 'monthly')
      .withTax([rates.monthly ?? ''])
      .create()
    expect(() => user.newSubscription('x', 'monthly').withTax([''])).toThrow(InvalidArgument)
  })
})

describe('a hosted page', () => {
  it('asks for the address and the tax id, and charges the amount that it showed, including the tax', async () => {
    const test = await start('stripe', { tax: 'automatic' })
    const { user, sandbox } = test
    const page = await user.checkout([{ price: 'monthly', adjustable: { min: 1, max: 5 } }], {
      successPath: '/done',
      collectTaxIds: true,
      collectAddress: true,
      locale: 'de',
    })
    const session = (await page.asProvider()) as Stripe.Checkout.Session
    expect(session).toMatchObject({
      automatic_tax: { enabled: true, status: 'requires_location_inputs' },
      tax_id_collection: { enabled: true },
      billing_address_collection: 'required',
      locale: 'de',
    })
    const { data } = await (await stripeSdk(test)).checkout.sessions.listLineItems(page.id)
    expect(data[0]?.adjustable_quantity).toMatchObject({ enabled: true, minimum: 1, maximum: 5 })
    sandbox.stripe.completeCheckout(page.id, { address: { country: 'DE' } })
    await user.completeCheckout(page.id)
    expect(sumChargedCents(test, user)).toBe(1190)
    const once = await user.checkoutCharge(1000, 'Course', { successPath: '/done', tax: 'none' })
    expect((await once.asProvider()) as object).toMatchObject({ amount_total: 1000 })
    const card = await user.checkout([], { mode: 'setup', successPath: '/done' })
    expect(card.status).toBe('open')
  })
})

describe.each(PROVIDERS.filter(({ provider }) => provider === 'braintree'))(
  'tax at $provider',
  ({ provider, card }) => {
    it('can only be a percentage, and other kinds of tax are unsupported', async () => {
      const { user } = await start(provider)
      await expect(user.taxIds()).rejects.toThrow(Unsupported)
      await expect(user.createTaxId(...VAT)).rejects.toThrow(Unsupported)
      await expect(user.setTaxExempt('reverse')).rejects.toThrow(Unsupported)
      const builder = user.newSubscription('main', 'monthly')
      for (const tax of ['automatic', ['txr_1']] as const) {
        await expect(builder.withTax(tax).create(card)).rejects.toThrow(Unsupported)
      }
      await builder.create(card)
      const taxed = user.invoiceFor('Setup', 50, { automaticTax: true })
      await expect(taxed).rejects.toThrow(Unsupported)
      const { user: other } = await start(provider, { tax: 'automatic' })
      const wanted = other.newSubscription('main', 'monthly')
      await expect(wanted.create(card)).rejects.toThrow(Unsupported)
    })
  },
)

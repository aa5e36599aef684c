import { describe, expect, it } from 'vitest'
import { PROVIDERS, start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import {
  InvalidAmount,
  InvalidArgument,
  InvoiceNotFound,
  money,
  NoCustomer,
  PaymentFailed,
  Unsupported,
} from '../../../index.ts'

const SELLER = { vendor: 'Tollgate Ltd', product: 'Gold' }

describe.each(PROVIDERS)('payments at $provider', (given) => {
  const { provider, card, ten } = given

  it('can be charged with a plain number in the provider’s own unit, or with a money object', async () => {
    const test = await start(provider)
    const { user } = test
    await user.updateCard(card)
    const answer = (await user.charge(ten)) as { id: string }
    expect(answer.id).toMatch(provider === 'stripe' ? /^pi_/ : /^\w+$/)
    await test.advance({ minutes: 1 })
    await user.charge(money(1999, 'usd'))
    expect(sumChargedCents(test, user)).toBe(2999)
  })

  it('are charged once per idempotency key', async () => {
    const test = await start(provider)
    const { user } = test
    await user.updateCard(card)
    const options = { idempotencyKey: 'order-17' }
    const first = (await user.charge(ten, options)) as { id: string }
    const second = (await user.charge(ten, options)) as { id: string }
    expect(second.id).toBe(first.id)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY, 10.005])(
    'are rejected before any request if the amount is %d',
    async (amount) => {
      const { user } = await start(provider)
      await expect(user.charge(amount)).rejects.toThrow(InvalidAmount)
      await expect(user.invoiceFor('Setup', amount)).rejects.toThrow(InvalidAmount)
    },
  )

  it('require that the user has a customer at the provider', async () => {
    const { user } = await start(provider)
    await expect(user.charge(ten)).rejects.toThrow(NoCustomer)
    expect(await user.invoices()).toEqual([])
  })

  it('throw an error with the provider’s code and message if they are declined', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    await user.updateCard(card)
    const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
    sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    const error = await user.charge(ten).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(PaymentFailed)
    expect(error).toMatchObject({
      providerCode: provider === 'stripe' ? 'card_declined' : '2001',
      message: expect.stringMatching(/insufficient/i),
    })
    sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    await expect(user.invoiceFor('Setup', ten)).rejects.toThrow(PaymentFailed)
    expect(sumChargedCents(test, user)).toBe(0)
  })

  it('can be charged immediately with an invoice of one item', async () => {
    const test = await start(provider, { taxPercentage: () => 19 })
    const { user } = test
    await user.updateCard(card)
    const invoice = await user.invoiceFor('Setup of the machine', ten)
    expect(invoice.total()).toBe('$10.00')
    expect(invoice.lines).toMatchObject([{ description: 'Setup of the machine', amount: 1000 }])
    expect(invoice.data.taxes).toEqual([])
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('appear among the invoices, whether they are settled or still settling', async () => {
    const test = await start(provider, { coupon: true, taxPercentage: () => 19.25 })
    const { user } = test
    await user.newSubscription('main', 'monthly').withCoupon('SPRING').create(card)
    const pending = await user.invoicesIncludingPending()
    expect(pending).toHaveLength(1)
    await test.advance({ days: 2 })
    const [invoice, ...more] = await user.invoices()
    expect(more).toEqual([])
    expect(invoice?.date().getTime()).toBe(pending[0]?.date().getTime())
    expect(invoice?.rawTotal()).toEqual({ amount: sumChargedCents(test, user), currency: 'usd' })
    // Braintree's prices include the tax, so the discount includes its share.
    const off = provider === 'stripe' ? 300 : 358
    expect(invoice?.data.discounts).toMatchObject([{ amount: off }])
    expect(invoice?.data.taxes).toMatchObject([{ percentage: '19.25' }])
    await test.advance({ months: 1 })
    await test.advance({ days: 2 })
    expect(await user.invoices()).toHaveLength(2)
  })

  it('have a coupon on their invoice only for as long as the coupon applies', async () => {
    const test = await start(provider, { coupon: true, webhooks: false })
    const { user } = test
    await user.newSubscription('main', 'monthly').withCoupon('SPRING').create(card)
    await test.sandbox.clock.advance({ months: 2, hours: 3 })
    const [newest] = await user.invoicesIncludingPending()
    expect(newest?.data).toMatchObject({ discounts: [], lines: [{ amount: 1000 }], total: 1000 })
  })

  it('have an invoice whose lines add up to its total (threat W6)', async () => {
    const test = await start(provider, { taxPercentage: () => 7.75 })
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    await test.advance({ days: 10 })
    await subscription.swap('pro')
    await test.advance({ months: 2 })
    for (const { data } of await user.invoicesIncludingPending()) {
      const sum = (all: readonly { amount: number }[]) =>
        all.reduce((total, { amount }) => total + amount, 0)
      const onTop = data.taxes.filter(({ inclusive }) => !inclusive)
      expect(sum(data.lines)).toBe(data.subtotal)
      expect(data.subtotal - sum(data.discounts) + sum(onTop)).toBe(data.total)
    }
  })

  it('have an invoice that only their own user can download (threat M1)', async () => {
    const test = await start(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(card)
    const [invoice] = await user.invoicesIncludingPending()
    const id = invoice?.id ?? ''
    const response = await user.downloadInvoice(id, SELLER)
    expect(response.headers.get('content-type')).toBe('application/pdf')
    expect(response.headers.get('content-disposition')).toContain('Gold_1_2026.pdf')
    const bytes = Buffer.from(await response.arrayBuffer())
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-')
    const twice = await user.downloadInvoice(id, SELLER)
    expect(Buffer.from(await twice.arrayBuffer()).equals(bytes)).toBe(true)

    const otherUser = await test.createUser({ email: 'eve@example.com' })
    await expect(otherUser.downloadInvoice(id, SELLER)).rejects.toThrow(InvoiceNotFound)
    await otherUser.updateCard(card)
    await expect(otherUser.downloadInvoice(id, SELLER)).rejects.toThrow(InvoiceNotFound)
    await expect(user.downloadInvoice('in_none', SELLER)).rejects.toThrow(InvoiceNotFound)
  })
})

describe('the quantity of a subscription', () => {
  it('includes the changes of all concurrent calls at Stripe', async () => {
    const test = await start('stripe')
    const { user } = test
    const subscription = await user
      .newSubscription('main', 'monthly')
      .quantity(3)
      .create('pm_card_visa')
    expect(subscription.quantity).toBe(3)
    const again = await user.subscription('main')
    await Promise.all([subscription.incrementQuantity(), again.incrementQuantity(5)])
    expect((await user.subscription('main')).quantity).toBe(9)
    await subscription.decrementQuantity(20)
    expect(subscription.quantity).toBe(1)
    for (const count of [0, -1, 1.5]) {
      await expect(subscription.updateQuantity(count)).rejects.toThrow(InvalidArgument)
    }
    await subscription.updateQuantity(4)
    const swapped = await subscription.swap('pro')
    expect(swapped).toMatchObject({ quantity: 4, providerPlan: 'pro' })
  })

  it('throws Unsupported at Braintree without a request', async () => {
    const { user, sandbox } = await start('braintree')
    const card = 'fake-valid-visa-nonce'
    await expect(user.newSubscription('main', 'monthly').quantity(2).create(card)).rejects.toThrow(
      Unsupported,
    )
    expect(sandbox.braintree.customers()).toEqual([])
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    await expect(subscription.incrementQuantity()).rejects.toThrow(Unsupported)
    await expect(subscription.decrementQuantity()).rejects.toThrow(Unsupported)
    await expect(subscription.updateQuantity(2)).rejects.toThrow(Unsupported)
  })
})

describe('invoiceFor() at Stripe, when the payment fails,', () => {
  it.each([
    [{}, 'open'],
    [{ voidOnFailure: true }, 'void'],
  ])(
    'leaves an invoice whose status depends on the options: %o leads to %s',
    async (options, status) => {
      const test = await start('stripe')
      const { user, sandbox } = test
      await user.updateCard('pm_card_visa')
      sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
      await expect(user.invoiceFor('Setup', 1000, options)).rejects.toThrow(PaymentFailed)
      const stripe = await stripeSdk(test)
      const { data } = await stripe.invoices.list({ customer: user.providerId ?? '' })
      expect(data.map((invoice) => invoice.status)).toEqual([status])
    },
  )
})

describe('a card at Braintree', () => {
  it('is verified when it is stored, and the previous card stays if the verification fails', async () => {
    const { user } = await start('braintree')
    await user.updateCard('fake-valid-visa-nonce')
    const refused = user.updateCard('fake-processor-declined-mastercard-nonce')
    await expect(refused).rejects.toThrow(PaymentFailed)
    expect(user.cardBrand).toBe('Visa')
  })
})

describe('PayPal at Braintree', () => {
  it('is stored with its e-mail address', async () => {
    const { user } = await start('braintree')
    await user.updateCard('fake-paypal-billing-agreement-nonce')
    expect(user).toMatchObject({ paypalEmail: 'jane.doe@paypal.com', cardBrand: null })
    await user.updateCard('fake-valid-visa-nonce')
    expect(user).toMatchObject({ paypalEmail: null, cardBrand: 'Visa' })
  })
})

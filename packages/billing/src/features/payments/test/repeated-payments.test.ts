import { describe, expect, it } from 'vitest'
import {
  type FlowTest,
  PROVIDERS,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import {
  type BillableUser,
  InvalidArgument,
  type Invoice,
  NoPaymentMethod,
  PaymentActionRequired,
  PaymentFailed,
  ProviderRejected,
  ProviderUnavailable,
} from '../../../index.ts'

const failed = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('It should have failed')
    },
    (error: unknown) => error,
  )

function declineNext(test: FlowTest, user: BillableUser): void {
  const code = user.provider === 'stripe' ? 'insufficient_funds' : '2001'
  test.sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
}

describe.each(PROVIDERS)(
  'an idempotency key at $provider',
  ({ provider, card, otherCard, ten }) => {
    const pays = [
      ['charge', (user: BillableUser, key: string) => user.charge(ten, { idempotencyKey: key })],
      [
        'invoiceFor',
        (user: BillableUser, key: string) => user.invoiceFor('Setup', ten, { idempotencyKey: key }),
      ],
    ] as const

    it.each(pays)(
      'makes %s() charge once if it is repeated with a new card after a decline',
      async (_name, pay) => {
        const test = await start(provider)
        const { user } = test
        await user.updateCard(card)
        declineNext(test, user)
        await expect(pay(user, 'order-17')).rejects.toThrow(PaymentFailed)
        await user.updateCard(otherCard)
        await pay(user, 'order-17')
        await pay(user, 'order-17')
        // Stripe would keep trying to collect an open invoice.
        await test.advance({ days: 20 })
        await pay(user, 'order-17')
        expect(sumChargedCents(test, user)).toBe(1000)
      },
    )

    it.each(pays)(
      'makes %s() charge once if it is repeated with a new card after a lost response',
      async (_name, pay) => {
        const test = await start(provider, { webhooks: false })
        const { sandbox } = test
        for (let call = 0, wasHit = true; wasHit && call < 20; call++) {
          const user = await test.createUser()
          await user.updateCard(card)
          sandbox.trouble.failNext(call, { slowMs: 0 }, provider)
          sandbox.trouble.failNext(1, 'half-written', provider)
          const key = `order-${user.id}`
          const first = await pay(user, key).catch((error: unknown) => error)
          wasHit = sandbox.trouble.takeCallTrouble(provider) === null
          sandbox.trouble.clear()
          if (first instanceof Error) expect(first).toBeInstanceOf(ProviderUnavailable)
          await user.updateCard(otherCard)
          await pay(user, key)
          await test.advance({ days: 20 })
          expect(sumChargedCents(test, user)).toBe(1000)
        }
      },
    )

    it('is rejected for a second payment with another amount', async () => {
      const test = await start(provider)
      const { user } = test
      await user.updateCard(card)
      for (const [name, pay] of [
        ['charge', (by: number) => user.charge(ten * by, { idempotencyKey: 'a' })],
        ['invoiceFor', (by: number) => user.invoiceFor('Setup', ten * by, { idempotencyKey: 'b' })],
      ] as const) {
        await pay(1)
        expect(await failed(pay(2)), name).toBeInstanceOf(ProviderRejected)
      }
      expect(sumChargedCents(test, user)).toBe(2000)
    })

    it('can be used for either a charge or an invoice, never for both', async () => {
      const test = await start(provider)
      const { user } = test
      await user.updateCard(card)
      for (const [key, [first, second]] of [
        ['a', [...pays]],
        ['b', [...pays].reverse()],
      ] as const) {
        const before = sumChargedCents(test, user)
        await first?.[1](user, key)
        const other = await second?.[1](user, key).then(
          () => null,
          (error: unknown) => error,
        )
        if (other !== null) expect(other).toBeInstanceOf(ProviderRejected)
        expect(sumChargedCents(test, user) - before).toBe(other === null ? 2000 : 1000)
        await first?.[1](user, key)
        expect(sumChargedCents(test, user) - before).toBe(other === null ? 2000 : 1000)
      }
    })

    it.each(['amount', 'currency', 'customer', 'customerId', 'confirm'])(
      'cannot be combined with the provider’s own option %s',
      async (option) => {
        const test = await start(provider)
        const { user } = test
        await user.updateCard(card)
        const isOurs = {
          stripe: /amount|currency|customer$|confirm/,
          braintree: /amount|customerId/,
        }
        if (!isOurs[provider].test(option)) return
        const options = { [option]: 1 }
        await expect(user.charge(ten, options)).rejects.toThrow(InvalidArgument)
        if (option !== 'amount' && option !== 'confirm') {
          await expect(user.invoiceFor('Setup', ten, options)).rejects.toThrow(InvalidArgument)
        }
        expect(sumChargedCents(test, user)).toBe(0)
      },
    )
  },
)

describe('an unpaid invoice', () => {
  async function declined(test: FlowTest, options = {}): Promise<Invoice> {
    const { user } = test
    await user.updateCard('pm_card_visa')
    declineNext(test, user)
    const error = await failed(user.invoiceFor('Setup', 5000, options))
    expect(error).toBeInstanceOf(PaymentFailed)
    const { invoice } = error as PaymentFailed
    if (!invoice) throw new Error('The error has no invoice')
    return invoice
  }

  it('is attached to the error, and can be paid with another card', async () => {
    const test = await start('stripe')
    const { user } = test
    const invoice = await declined(test)
    expect(invoice).toMatchObject({ paid: false })
    declineNext(test, user)
    const again = await failed(invoice.pay())
    expect(again).toMatchObject({ code: 'payment_failed', invoice: { id: invoice.id } })
    await user.updateCard('pm_card_mastercard')
    expect((await invoice.pay()).paid).toBe(true)
    expect((await invoice.pay()).paid).toBe(true)
    await test.advance({ days: 20 })
    expect(sumChargedCents(test, user)).toBe(5000)
  })

  it('is paid once by two concurrent calls', async () => {
    const test = await start('stripe')
    const { user } = test
    const invoice = await declined(test)
    const other = await (await test.another().user(user.id)).findInvoice(invoice.id)
    const both = await Promise.all([invoice.pay(), other?.pay()])
    expect(both.map((each) => each?.paid)).toEqual([true, true])
    expect(sumChargedCents(test, user)).toBe(5000)
  })

  it('throws PaymentActionRequired if the card requires authentication', async () => {
    const test = await start('stripe')
    const { user } = test
    const invoice = await declined(test)
    await user.updateCard('pm_card_authenticationRequired')
    expect(await failed(invoice.pay())).toBeInstanceOf(PaymentActionRequired)
  })

  it('is replaced by a new invoice for the same idempotency key if billing voided it', async () => {
    const test = await start('stripe')
    const { user } = test
    const options = { idempotencyKey: 'order-1', voidOnFailure: true }
    const first = await declined(test, options)
    await user.updateCard('pm_card_mastercard')
    const second = await user.invoiceFor('Setup', 5000, options)
    expect(second.id).not.toBe(first.id)
    await expect(first.pay()).rejects.toThrow(ProviderRejected)
    expect((await user.invoiceFor('Setup', 5000, options)).id).toBe(second.id)
    expect(sumChargedCents(test, user)).toBe(5000)
  })

  it('is not replaced by a new invoice for the same idempotency key if the merchant voided it', async () => {
    const test = await start('stripe')
    const { user } = test
    const options = { idempotencyKey: 'order-1' }
    const invoice = await declined(test, options)
    await (await stripeSdk(test)).invoices.voidInvoice(invoice.id)
    await expect(user.invoiceFor('Setup', 5000, options)).rejects.toThrow(ProviderRejected)
    expect(sumChargedCents(test, user)).toBe(0)
  })

  it('is never voided after it was paid', async () => {
    const test = await start('stripe', { webhooks: false })
    const { sandbox } = test
    for (let call = 0, wasHit = true; wasHit && call < 20; call++) {
      const user = await test.createUser()
      await user.updateCard('pm_card_visa')
      sandbox.trouble.failNext(call, { slowMs: 0 }, 'stripe')
      sandbox.trouble.failNext(1, 'half-written', 'stripe')
      const outcome = await user
        .invoiceFor('Setup', 5000, { voidOnFailure: true })
        .catch((error: unknown) => error)
      wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
      sandbox.trouble.clear()
      const taken = sumChargedCents(test, user)
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ProviderUnavailable)
      else expect(taken).toBe(5000)
      await test.advance({ days: 20 })
      if (taken === 0) expect(sumChargedCents(test, user)).toBe(0)
    }
  })

  it('is not created if the customer has no card', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    await user.updateCard('pm_card_visa')
    const stripe = await stripeSdk(test)
    const { data } = await stripe.customers.listPaymentMethods(user.providerId ?? '')
    for (const { id } of data) await stripe.paymentMethods.detach(id)
    await expect(user.invoiceFor('Setup', 5000)).rejects.toThrow(NoPaymentMethod)
    expect(sandbox.stripe.invoices(user.providerId ?? '')).toEqual([])
  })

  it('can be paid once the customer has a card', async () => {
    const test = await start('stripe')
    const { user } = test
    test.sandbox.stripe.seedPrice({ id: 'free', unitAmount: 0, interval: 'month', product: 'Free' })
    const free = await user.newSubscription('main', 'free').withoutCard().create()
    await free.swapAtPeriodEnd('monthly')
    await test.advance({ months: 1, hours: 2 })
    const subscription = await user.subscription('main')
    const [bill] = await user.invoicesIncludingPending({ limit: 1 })
    await expect(subscription.payNow()).rejects.toThrow(NoPaymentMethod)
    await expect(bill?.pay()).rejects.toThrow(NoPaymentMethod)
    await user.updateCard('pm_card_visa')
    await subscription.payNow()
    expect(sumChargedCents(test, user)).toBe(1000)
  })
})

describe.each([127, 128, 253, 254, 255])(
  'an idempotency key of %i characters at Braintree',
  (length) => {
    const idempotencyKey = 'k'.repeat(length)

    async function began() {
      const test = await start('braintree')
      await test.user.updateCard('fake-valid-visa-nonce')
      return { test, user: test.user }
    }

    it('charges once when the payment is repeated after a decline', async () => {
      const { test, user } = await began()
      declineNext(test, user)
      await expect(user.charge(10, { idempotencyKey })).rejects.toThrow(PaymentFailed)
      await user.charge(10, { idempotencyKey })
      await user.charge(10, { idempotencyKey })
      expect(sumChargedCents(test, user)).toBe(1000)
    })
  },
)

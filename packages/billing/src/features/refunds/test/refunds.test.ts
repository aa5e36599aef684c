import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import {
  type FlowTest,
  PROVIDERS,
  type ProviderCase,
  settleCharge,
  start,
  stripeSdk,
  sumChargedCents,
  sumRefundedCents,
} from '../../../../test/support.ts'
import {
  AmountTooLarge,
  type BillableUser,
  ChargeNotFound,
  InvalidAmount,
  InvalidArgument,
  money,
  ProviderUnavailable,
  RefundNotPossibleYet,
  RefundRefused,
} from '../../../index.ts'

const LOST = LOSSES.flatMap((how) => [true, false].map((hasKey) => ({ how, hasKey })))

/** Amounts that are charged, and the parts that are then refunded one after the other. */
const TABLE: readonly { readonly charged: number; readonly parts: readonly number[] }[] = [
  { charged: 1000, parts: [1000] },
  { charged: 1001, parts: [1, 333, 667] },
  { charged: 1999, parts: [999, 999] },
  { charged: 100, parts: [33, 33, 33] },
]

/** Charges the user and waits until the charge is settled. */
async function charged(test: FlowTest, { provider, card }: ProviderCase, cents: number) {
  const { user } = test
  await user.updateCard(card)
  const { id } = (await user.charge(money(cents, 'usd'))) as { id: string }
  await settleCharge(test, provider, id)
  return id
}

async function countStoredOperations({ database }: FlowTest): Promise<number> {
  const rows = await database.kysely.selectFrom('billing_operations').select('id').execute()
  return rows.length
}

describe.each(PROVIDERS)('refund() at $provider', (given) => {
  const { provider, card, ten } = given

  it.each(TABLE)(
    'refunds the parts $parts of a charge of $charged cents',
    async ({ charged: cents, parts }) => {
      const test = await start(provider)
      const { user } = test
      const id = await charged(test, given, cents)
      let back = 0
      for (const part of parts) {
        await test.sandbox.clock.advance({ minutes: 1 })
        const refund = await user.refund(id, { amount: money(part, 'usd') })
        back += part
        expect(refund.amount).toEqual(money(part, 'usd'))
        expect(sumRefundedCents(test, user)).toBe(back)
      }
      const left = cents - back
      const tooMuch = user.refund(id, { amount: money(left + 1, 'usd') })
      await expect(tooMuch).rejects.toThrow(AmountTooLarge)
      await user.refund(id)
      expect(sumRefundedCents(test, user)).toBe(cents)
      expect(sumChargedCents(test, user)).toBe(cents)
      expect(await countStoredOperations(test)).toBe(0)
    },
  )

  it('refunds the whole charge once when called repeatedly', async () => {
    const test = await start(provider)
    const { user } = test
    const id = await charged(test, given, 1000)
    const first = await user.refund(id)
    expect(first.status).toBe(provider === 'stripe' ? 'succeeded' : 'pending')
    expect((await user.refund(id)).id).toBe(first.id)
    expect((await user.refund(id, { amount: ten })).id).toBe(first.id)
    expect(sumRefundedCents(test, user)).toBe(1000)
  })

  it('returns the newest refund if several parts were refunded in the same second', async () => {
    const test = await start(provider)
    const { user } = test
    const id = await charged(test, given, 1000)
    await user.refund(id, { amount: money(300, 'usd') })
    const rest = await user.refund(id)
    expect(rest.amount).toEqual(money(700, 'usd'))
    expect((await user.refund(id)).id).toBe(rest.id)
    expect(sumRefundedCents(test, user)).toBe(1000)
  })

  it('refunds once for an idempotency key, and rejects the key for another amount', async () => {
    const test = await start(provider)
    const { user } = test
    // A refund and its charge may use the same key.
    await user.updateCard(card)
    const idempotencyKey = 'order-17'
    const { id } = (await user.charge(ten, { idempotencyKey })) as { id: string }
    await settleCharge(test, provider, id)
    const options = { amount: money(600, 'usd'), idempotencyKey }
    const first = await user.refund(id, options)
    expect((await user.refund(id, options)).id).toBe(first.id)
    expect(sumRefundedCents(test, user)).toBe(600)
    const another = user.refund(id, { ...options, amount: money(100, 'usd') })
    await expect(another).rejects.toThrow(RefundRefused)
    await expect(user.refund(id, { idempotencyKey })).rejects.toThrow(RefundRefused)
    const second = await user.refund(id, { idempotencyKey: 'k'.repeat(255) })
    expect(second.amount).toEqual(money(400, 'usd'))
    expect((await user.refund(id, { idempotencyKey: 'k'.repeat(255) })).id).toBe(second.id)
    expect(sumRefundedCents(test, user)).toBe(1000)
  })

  it('refunds once when twenty calls run concurrently', async () => {
    const test = await start(provider)
    const id = await charged(test, given, 1000)
    const users = [test.user, await test.another().user(test.user.id)]
    const options = { amount: money(600, 'usd'), idempotencyKey: 'refund-1' }
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (users[index % 2] as BillableUser).refund(id, options),
      ),
    )
    expect(new Set(made.map((each) => each.id)).size).toBe(1)
    expect(sumRefundedCents(test, test.user)).toBe(600)
  })

  it.each(LOST)(
    'refunds once when a response is lost ($how) and the call is repeated (idempotency key: $hasKey)',
    async ({ how, hasKey }) => {
      const test = await start(provider, { webhooks: false })
      const { sandbox } = test
      for (let call = 0, wasHit = true; wasHit && call < 12; call++) {
        const user = await test.createUser()
        await user.updateCard(provider === 'stripe' ? card : sandbox.braintree.createNonce())
        const { id } = (await user.charge(ten)) as { id: string }
        await settleCharge(test, provider, id)
        const amount = money(300, 'usd')
        const options = hasKey ? { amount, idempotencyKey: `refund-${id}` } : { amount }
        const other = await createImpatientBilling(test).user(user.id)
        loseResponse(test, provider, { after: call, how })
        const failed = await other.refund(id, options).then(
          () => null,
          (error: unknown) => error,
        )
        wasHit = sandbox.trouble.takeCallTrouble(provider) === null
        sandbox.trouble.clear()
        if (failed) {
          expect(failed).toBeInstanceOf(ProviderUnavailable)
          await user.refund(id, options)
        }
        expect(sumRefundedCents(test, user), `call ${call}`).toBe(300)
      }
      expect(await countStoredOperations(test)).toBe(0)
    },
  )

  it('refunds an invoice, and the refund does not appear among the invoices', async () => {
    const test = await start(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(card)
    await test.advance({ days: 3 })
    const [invoice, ...others] = await user.invoices()
    if (!invoice) throw new Error('There is no invoice')
    expect(others).toEqual([])
    expect(await invoice.refunded()).toEqual(money(0, 'usd'))
    await invoice.refund({ amount: money(250, 'usd') })
    expect(await invoice.refunded()).toEqual(money(250, 'usd'))
    const rest = await user.refund(invoice, { reason: 'requested_by_customer' })
    expect(rest.amount).toEqual(money(750, 'usd'))
    expect(rest.reason).toBe('requested_by_customer')
    expect(await invoice.refunded()).toEqual(money(1000, 'usd'))
    await test.advance({ days: 3 })
    expect((await user.invoicesIncludingPending()).map((each) => each.id)).toEqual([invoice.id])
    expect(await user.subscribed('main')).toBe(true)
  })

  it('refunds only the customer’s own charges, and only in their currency', async () => {
    const test = await start(provider)
    const id = await charged(test, given, 1000)
    const bob = await test.createUser({ email: 'bob@example.com' })
    await bob.updateCard(given.otherCard)
    await expect(bob.refund(id)).rejects.toThrow(ChargeNotFound)
    await expect(test.user.refund('none-of-ours')).rejects.toThrow(ChargeNotFound)
    const euros = test.user.refund(id, { amount: money(100, 'eur') })
    await expect(euros).rejects.toThrow(InvalidAmount)
    await expect(test.user.refund(id, { amount: 0 })).rejects.toThrow(InvalidAmount)
    const unreasonable = test.user.refund(id, { reason: 'whim' as never })
    await expect(unreasonable).rejects.toThrow(InvalidArgument)
    expect(sumRefundedCents(test, test.user)).toBe(0)
  })
})

describe('refund() of a charge that Braintree has not settled', () => {
  it('voids the whole charge, and rejects a refund of a part of it', async () => {
    const test = await start('braintree')
    const { user } = test
    await user.updateCard('fake-valid-visa-nonce')
    const { id } = (await user.charge(10)) as { id: string }
    const part = user.refund(id, { amount: 4 })
    await expect(part).rejects.toThrow(RefundNotPossibleYet)
    expect(sumRefundedCents(test, user)).toBe(0)
    const refund = await user.refund(id, { idempotencyKey: 'refund-1' })
    expect(refund).toMatchObject({ id, charge: id, status: 'voided', amount: money(1000, 'usd') })
    expect(await user.refund(id, { idempotencyKey: 'refund-1' })).toMatchObject({ id })
    expect(await user.refund(id, { amount: 10 })).toMatchObject({ status: 'voided' })
    await expect(user.refund(id, { amount: 4 })).rejects.toThrow(AmountTooLarge)
    expect(sumChargedCents(test, user)).toBe(0)
    expect(await user.invoicesIncludingPending()).toEqual([])
  })

  it('is rejected while the settlement is being confirmed or is pending', async () => {
    const test = await start('braintree')
    const { user, sandbox } = test
    await user.updateCard('fake-valid-visa-nonce')
    const { default: braintree } = await import('braintree')
    const sdk = new braintree.BraintreeGateway(sandbox.braintree.config as never)
    const { testing } = sdk as unknown as {
      testing: Record<'settlementPending' | 'settlementConfirm', (id: string) => Promise<unknown>>
    }
    const { id } = (await user.charge(10)) as { id: string }
    await testing.settlementConfirm(id)
    await expect(user.refund(id)).rejects.toThrow(RefundNotPossibleYet)
    await sandbox.clock.advance({ minutes: 1 })
    const { id: pending } = (await user.charge(20)) as { id: string }
    await testing.settlementPending(pending)
    await expect(user.refund(pending)).rejects.toThrow(RefundNotPossibleYet)
    expect(sumRefundedCents(test, user)).toBe(0)
    expect(await countStoredOperations(test)).toBe(0)
  })
})

/** Changes of a charge between the last read and the refund. */
const MOVES = [
  { move: 'settlementPending', refusal: RefundNotPossibleYet, code: 'settlement_pending' },
  { move: 'settlementDecline', refusal: RefundRefused, code: '91506' },
] as const

describe('refund() of a charge that is settling at Braintree', () => {
  it('is rejected until settlement if the merchant account does not refund settling charges', async () => {
    const test = await start('braintree')
    const { user, sandbox } = test
    const id = 'sandbox_usd'
    sandbox.braintree.defineMerchantAccount({ id, currency: 'USD', refundsSettling: false })
    await user.updateCard('fake-paypal-billing-agreement-nonce')
    const charge = (await user.charge(10)) as { id: string }
    const early = await user.refund(charge.id, { amount: 4 }).catch((error: unknown) => error)
    expect(early).toBeInstanceOf(RefundNotPossibleYet)
    expect(early).toMatchObject({ provider: 'braintree', providerCode: 'settling' })
    expect(sumRefundedCents(test, user)).toBe(0)
    expect(await countStoredOperations(test)).toBe(0)
    await test.advance({ hours: 1 })
    expect((await user.refund(charge.id, { amount: 4 })).amount).toEqual(money(400, 'usd'))
  })

  it.each(MOVES)(
    'is rejected if the charge changes to the state $move before the refund',
    async ({ move, refusal, code }) => {
      const test = await start('braintree', { webhooks: false })
      const { user, sandbox } = test
      await user.updateCard('fake-paypal-billing-agreement-nonce')
      const { id } = (await user.charge(10)) as { id: string }
      const { trouble } = sandbox
      // The charge is read three times before the refund is requested: hold the third response.
      trouble.failNext(2, { slowMs: 0 }, 'braintree')
      trouble.failNext(1, 'held', 'braintree')
      const refused = user.refund(id, { amount: 4 }).catch((error: unknown) => error)
      await trouble.untilHeld()
      const { default: braintree } = await import('braintree')
      const sdk = new braintree.BraintreeGateway(sandbox.braintree.config as never)
      const { testing } = sdk as unknown as {
        testing: Record<typeof move, (id: string) => Promise<unknown>>
      }
      await testing[move](id)
      trouble.release()
      expect(await refused).toBeInstanceOf(refusal)
      expect(await refused).toMatchObject({ providerCode: code })
      expect(sumRefundedCents(test, user)).toBe(0)
      expect(await countStoredOperations(test)).toBe(0)
    },
  )
})

describe('the reason of a refund at Braintree', () => {
  const given = PROVIDERS.find(({ provider }) => provider === 'braintree') as ProviderCase
  const key = { idempotencyKey: 'a' }

  it('is read back with the refund, and a repeated call cannot change it', async () => {
    const test = await start('braintree')
    const id = await charged(test, given, 1000)
    const part = { amount: money(400, 'usd') }
    const made = await test.user.refund(id, { ...part, ...key, reason: 'duplicate' })
    expect(made.reason).toBe('duplicate')
    const again = await test.user.refund(id, { ...part, ...key, reason: 'fraudulent' })
    expect(again).toMatchObject({ id: made.id, reason: 'duplicate' })
    const another = await test.user.refund(id, { ...part, idempotencyKey: 'a:duplicate' })
    expect(another).toMatchObject({ reason: null })
    expect(another.id).not.toBe(made.id)
    const long = { idempotencyKey: 'x'.repeat(240), reason: 'requested_by_customer' } as const
    const rest = await test.user.refund(id, long)
    expect(await test.user.refund(id, long)).toMatchObject({ id: rest.id, reason: long.reason })
    expect(sumRefundedCents(test, test.user)).toBe(1000)
  })

  it('is part of the refund.created event, even for a voided charge, which cannot store it', async () => {
    const told: Array<string | null> = []
    const on = {
      'refund.created': ({ data }: { data: { refund: { reason: string | null } } }) =>
        void told.push(data.refund.reason),
    }
    const test = await start('braintree', { on })
    await test.user.updateCard(given.card)
    const { id } = (await test.user.charge(10)) as { id: string }
    const voided = await test.user.refund(id, { ...key, reason: 'fraudulent' })
    expect(voided).toMatchObject({ status: 'voided', reason: 'fraudulent' })
    await test.settle()
    expect(told).toEqual(['fraudulent'])
  })

  it.each([
    { hasKey: true, listens: true },
    { hasKey: true, listens: false },
    { hasKey: false, listens: true },
    { hasKey: false, listens: false },
  ])(
    'stays the reason given in the first call when a call that voids a charge is repeated after a lost response (idempotency key: $hasKey, event handler: $listens)',
    async ({ hasKey, listens }) => {
      const told: Array<string | null> = []
      const on = {
        'refund.created': ({ data }: { data: { refund: { reason: string | null } } }) =>
          void told.push(data.refund.reason),
      }
      const test = await start('braintree', { ...(listens ? { on } : {}), webhooks: false })
      await test.user.updateCard(given.card)
      const { id } = (await test.user.charge(10)) as { id: string }
      const options = hasKey ? key : {}
      // The charge is voided, but the response is lost.
      loseResponse(test, 'braintree', { after: 3, how: 'half-written' })
      const lost = test.user.refund(id, { ...options, reason: 'fraudulent' })
      await expect(lost).rejects.toThrow(ProviderUnavailable)
      expect(sumChargedCents(test, test.user)).toBe(0)
      const second = await test.user.refund(id, { ...options, reason: 'duplicate' })
      expect(second).toMatchObject({ status: 'voided', reason: 'fraudulent' })
      const third = await test.user.refund(id, { ...options, reason: 'duplicate' })
      expect(third).toMatchObject({ status: 'voided', reason: listens ? 'fraudulent' : null })
      await test.settle()
      expect(told).toEqual(listens ? ['fraudulent'] : [])
      expect(await countStoredOperations(test)).toBe(0)
    },
  )
})

describe('a charge to PayPal', () => {
  it('can be refunded right after it was made, also in parts, because PayPal settles immediately', async () => {
    const test = await start('braintree')
    const { user } = test
    await user.updateCard('fake-paypal-billing-agreement-nonce')
    const { id } = (await user.charge(10)) as { id: string }
    const part = await user.refund(id, { amount: 4 })
    expect(part).toMatchObject({ charge: id, status: 'pending', amount: money(400, 'usd') })
    const rest = await user.refund(id)
    expect(rest.amount).toEqual(money(600, 'usd'))
    expect(sumRefundedCents(test, user)).toBe(1000)
    await expect(user.refund(id, { amount: 1 })).rejects.toThrow(AmountTooLarge)
  })

  it.each([127, 128, 255])(
    'is made and refunded once per idempotency key, with a key of %i characters',
    async (length) => {
      const test = await start('braintree')
      const { user } = test
      await user.updateCard('fake-paypal-billing-agreement-nonce')
      const idempotencyKey = 'k'.repeat(length)
      const { id } = (await user.charge(10, { idempotencyKey })) as { id: string }
      expect(await user.charge(10, { idempotencyKey })).toMatchObject({ id })
      const options = { amount: 4, idempotencyKey, reason: 'requested_by_customer' } as const
      const refund = await user.refund(id, options)
      expect(await user.refund(id, options)).toMatchObject({
        id: refund.id,
        reason: options.reason,
      })
      expect(sumChargedCents(test, user)).toBe(1000)
      expect(sumRefundedCents(test, user)).toBe(400)
    },
  )
})

describe('refund() at Stripe', () => {
  it('rejects a disputed charge', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    await user.updateCard('pm_card_visa')
    await user.charge(1000)
    const [charge] = sandbox.stripe.charges(user.providerId ?? '')
    const id = String(charge?.id)
    sandbox.stripe.disputeCharge(id)
    const thrown = await user.refund(id).catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(RefundRefused)
    expect(thrown).toMatchObject({ provider: 'stripe', providerCode: 'charge_disputed' })
    expect(await countStoredOperations(test)).toBe(0)
  })

  it('rejects an invoice that was paid with credit', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.updateCard('pm_card_visa')
    const stripe = await stripeSdk(test)
    await stripe.customers.update(user.providerId ?? '', { balance: -5000 })
    const invoice = await user.invoiceFor('Setup', 1000)
    await expect(invoice.refund()).rejects.toThrow(
      /credit paid it.*creditNote\({ to: 'balance' }\)/,
    )
    expect(await invoice.refunded()).toEqual(money(0, 'usd'))
    expect(sumRefundedCents(test, user)).toBe(0)
  })
})

import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { start, sumChargedCents } from '../../../../test/support.ts'
import {
  InvalidAmount,
  money,
  ProviderRejected,
  ProviderUnavailable,
  Unsupported,
} from '../../../index.ts'

const usd = (cents: number) => money(cents, 'usd')

const gift = (idempotencyKey: string) => ({ gift: true, idempotencyKey })

const LOST = LOSSES.flatMap((how) =>
  [true, false].flatMap((hasKey) => [true, false].map((isNew) => ({ how, hasKey, isNew }))),
)

/** Each row: amounts credited (positive) or debited (negative) before an invoice over 10.00. */
const TABLE: readonly (readonly number[])[] = [
  [300],
  [1000],
  [1500],
  [300, -100],
  [-250],
  [1, 2, 3],
]

async function customer() {
  const test = await start('stripe')
  await test.user.updateCard('pm_card_visa')
  return test
}

describe('a customer balance at Stripe', () => {
  it.each(TABLE.map((entries) => ({ entries })))(
    'is applied to the next invoice exactly, after entries of $entries cents',
    async ({ entries }) => {
      const test = await customer()
      const { user } = test
      let credit = 0
      for (const cents of entries) {
        const entry =
          cents > 0 ? await user.creditBalance(usd(cents)) : await user.debitBalance(usd(-cents))
        credit += cents
        expect(entry.amount).toEqual(usd(cents))
        expect(entry.balance).toEqual(usd(credit))
        expect(await user.balance()).toEqual(usd(credit))
      }
      const used = Math.min(credit, 1000)
      const invoice = await user.invoiceFor('Setup', 1000)
      expect(invoice.amounts).toMatchObject({
        total: usd(1000),
        amountDue: usd(1000 - used),
        startingBalance: usd(0 - credit),
      })
      expect(sumChargedCents(test, user)).toBe(1000 - used)
      expect(await user.balance()).toEqual(usd(credit - used))
      const [newest] = await user.balanceTransactions({ limit: 1 })
      expect(newest).toMatchObject({ invoice: invoice.id, amount: usd(-used) })
      expect(await user.balanceTransactions()).toHaveLength(entries.length + 1)
    },
  )

  it('marks an entry as a gift only if the caller says so', async () => {
    const { user } = await customer()
    await user.creditBalance(500, 'Returned goods')
    await user.creditBalance(1000, 'Welcome', gift('welcome-1'))
    await user.creditBalance(1000, 'Welcome', gift('welcome-1'))
    expect(await user.balance()).toEqual(usd(1500))
    expect(await user.balanceTransactions()).toMatchObject([
      { isGift: true, description: 'Welcome', amount: usd(1000) },
      { isGift: false, description: 'Returned goods', amount: usd(500), invoice: null },
    ])
    const another = user.creditBalance(900, 'Welcome', gift('welcome-1'))
    await expect(another).rejects.toThrow(ProviderRejected)
    expect(await user.balance()).toEqual(usd(1500))
  })

  it('is credited only once by twenty concurrent calls with the same idempotency key', async () => {
    const test = await customer()
    const give = () => test.user.creditBalance(700, 'Welcome', gift('gift'))
    const made = await Promise.all(Array.from({ length: 20 }, give))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(await test.user.balance()).toEqual(usd(700))
  })

  it.each(LOST)(
    'is credited once when a response is lost ($how) and the call is repeated (idempotency key: $hasKey, new customer: $isNew)',
    async ({ how, hasKey, isNew }) => {
      const test = await start('stripe', { webhooks: false })
      const { sandbox } = test
      for (let call = 0, wasHit = true; wasHit && call < 10; call++) {
        const user = await test.createUser()
        if (!isNew) await user.updateCard('pm_card_visa')
        const options = hasKey ? { idempotencyKey: `gift-${user.id}` } : {}
        const other = await createImpatientBilling(test).user(user.id)
        loseResponse(test, 'stripe', { after: call, how })
        const failed = await other.creditBalance(300, 'Sorry', options).then(
          () => null,
          (error: unknown) => error,
        )
        wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
        sandbox.trouble.clear()
        if (failed) {
          expect(failed).toBeInstanceOf(ProviderUnavailable)
          await user.creditBalance(300, 'Sorry', options)
        }
        const read = await test.billing.user(user.id)
        expect(await read.balance(), `call ${call}`).toEqual(usd(300))
        expect(sandbox.stripe.customers()).toHaveLength(call + 1)
      }
      const open = await test.database.kysely.selectFrom('billing_operations').selectAll().execute()
      expect(open).toEqual([])
    },
  )

  it('can be credited before the first purchase, which then costs less', async () => {
    const test = await start('stripe')
    const { user } = test
    const wrong = user.creditBalance(0, undefined, { gift: true })
    await expect(wrong).rejects.toThrow(InvalidAmount)
    expect(test.sandbox.stripe.customers()).toEqual([])
    const welcome = () => user.creditBalance(usd(400), 'Welcome', gift('welcome'))
    await Promise.all([welcome(), welcome()])
    await user.creditBalance(usd(100), 'Sorry')
    await user.debitBalance(usd(50))
    expect(test.sandbox.stripe.customers()).toMatchObject([
      { id: user.providerId, email: 'ada@example.com' },
    ])
    expect(await user.balance()).toEqual(usd(450))
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    expect(sumChargedCents(test, user)).toBe(550)
    expect(test.sandbox.stripe.customers()).toHaveLength(1)
  })

  it('is zero without a customer, and rejects amounts that are not positive', async () => {
    const { user } = await start('stripe')
    expect(await user.balance()).toEqual(usd(0))
    expect(await user.balanceTransactions()).toEqual([])
    await expect(user.creditBalance(-100)).rejects.toThrow(InvalidAmount)
    await expect(user.debitBalance(0)).rejects.toThrow(InvalidAmount)
  })

  it('is unsupported at Braintree', async () => {
    const { user } = await start('braintree')
    await expect(user.balance()).rejects.toThrow(Unsupported)
    await expect(user.creditBalance(10)).rejects.toThrow(Unsupported)
  })
})

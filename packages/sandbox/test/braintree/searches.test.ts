import { describe, expect, it } from 'vitest'
import { addCustomer, collect, startMerchant } from './support.ts'

/**
 * Criteria builder that the SDK passes to a search; @types/braintree declares only a part of it.
 */
interface Search {
  [field: string]: () => {
    is(value: unknown): void
    in(values: unknown): void
    contains(text: string): void
    startsWith(text: string): void
    isNot(text: string): void
    between(min: unknown, max: unknown): void
    min(value: unknown): void
    max(value: unknown): void
  }
}

describe('searches at Braintree', () => {
  const TRANSACTIONS: ReadonlyArray<readonly [string, (search: Search) => void, string[]]> = [
    ['by amount', (s) => s.amount?.().between('2.00', '3.00'), ['3.00', '2.00']],
    ['by exact amount', (s) => s.amount?.().is('2.00'), ['2.00']],
    ['by status', (s) => s.status?.().in(['settled', 'processor_declined']), ['2001.00', '1.00']],
    [
      'by several',
      (s) => {
        s.type?.().is('sale')
        s.orderId?.().startsWith('b')
      },
      ['3.00', '2.00'],
    ],
    ['by what it is not', (s) => s.orderId?.().isNot('b-2'), ['2001.00', '3.00', '1.00']],
    [
      'by part of an e-mail',
      (s) => s.customerEmail?.().contains('EXAMPLE'),
      ['2001.00', '3.00', '2.00', '1.00'],
    ],
    [
      'by the day it settled',
      (s) => s.settledAt?.().min(new Date('2026-01-15T20:00:00Z')),
      ['1.00'],
    ],
    ['by when it was made', (s) => s.createdAt?.().max('2026-01-15T10:00:00'), ['1.00']],
    ['by card type', (s) => s.creditCardCardType?.().is('JCB'), []],
    ['by an address nobody gave', (s) => s.billingCompany?.().is('x'), []],
  ]

  it.each(TRANSACTIONS)(
    'find transactions by a criterion: %s',
    async (_name, criteria, amounts) => {
      const merchant = await startMerchant()
      const { gateway, clock } = merchant
      const { token: paymentMethodToken } = await addCustomer(merchant)
      const submitted = { options: { submitForSettlement: true } }
      await gateway.transaction.sale({
        amount: '1.00',
        paymentMethodToken,
        orderId: 'a',
        ...submitted,
      })
      await clock.advance({ days: 1 })
      await gateway.transaction.sale({ amount: '2.00', paymentMethodToken, orderId: 'b-2' })
      await gateway.transaction.sale({ amount: '3.00', paymentMethodToken, orderId: 'b-3' })
      await gateway.transaction.sale({ amount: '2001.00', paymentMethodToken })
      const found = await collect<{ amount: string }>(
        gateway.transaction.search((search) => criteria(search as unknown as Search)),
      )
      expect(found.map((row) => row.amount)).toEqual(amounts)
    },
  )

  const SUBSCRIPTIONS: ReadonlyArray<readonly [string, (search: Search) => void, string[]]> = [
    ['in trial', (s) => s.inTrialPeriod?.().is(true), ['trial']],
    ['not in trial', (s) => s.inTrialPeriod?.().is(false), ['late', 'short', 'plain']],
    ['by price', (s) => s.price?.().is('12.00'), ['short']],
    ['by cycles left', (s) => s.billingCyclesRemaining?.().between(1, 5), ['short']],
    ['by next billing date', (s) => s.nextBillingDate?.().max('2026-01-31'), ['trial']],
    ['by days past due', (s) => s.daysPastDue?.().min(1), ['late']],
    ['by ids', (s) => s.ids?.().in(['plain', 'late']), ['late', 'plain']],
    ['by plan', (s) => s.planId?.().in(['trial', 'yearly']), ['trial']],
  ]

  it.each(SUBSCRIPTIONS)('find subscriptions by a criterion: %s', async (_name, criteria, ids) => {
    const merchant = await startMerchant()
    const { gateway, sandbox, clock } = merchant
    sandbox.changeSettings({ afterRetries: 'keep-past-due' })
    const good = await addCustomer(merchant)
    const bad = await addCustomer(merchant)
    const create = (id: string, token: string, extra = {}) =>
      gateway.subscription.create({ id, planId: 'monthly', paymentMethodToken: token, ...extra })
    await create('plain', good.token)
    await clock.advanceTo(new Date('2026-01-20T00:00:00Z'))
    await create('trial', good.token, { planId: 'trial', trialDuration: 10 } as never)
    await create('short', good.token, { price: '12.00', numberOfBillingCycles: 3 })
    await create('late', bad.token, { firstBillingDate: '2026-01-22' } as never)
    sandbox.failCharges(bad.token, '2001')
    await clock.advanceTo(new Date('2026-01-24T00:00:00Z'))
    const found = await collect<{ id: string }>(
      gateway.subscription.search(((search: Search) => criteria(search)) as never),
    )
    expect(found.map((row) => row.id)).toEqual(ids)
  })

  it('find transactions by the date of their dispute', async () => {
    const merchant = await startMerchant()
    const { gateway, sandbox, clock } = merchant
    const { token: paymentMethodToken } = await addCustomer(merchant)
    const sell = async (amount: string) =>
      (await gateway.transaction.sale({ amount, paymentMethodToken })).transaction.id
    await sell('1.00')
    sandbox.notify('dispute_opened', await sell('2.00'))
    await clock.advance({ days: 2 })
    sandbox.notify('dispute_opened', await sell('3.00'))
    const disputedSince = async (day: string) => {
      const search = (asked: Search) => asked.disputeDate?.().min(new Date(day))
      const found = await collect<{ amount: string }>(gateway.transaction.search(search as never))
      return found.map(({ amount }) => amount)
    }
    expect(await disputedSince('2000-01-01')).toEqual(['3.00', '2.00'])
    expect(await disputedSince('2026-01-16')).toEqual(['3.00'])
  })

  it('find customers by their details, and find subscriptions by one of their transactions', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    const { token, customerId } = await addCustomer(merchant)
    await gateway.customer.create({ email: 'bob@example.org' })
    const customers = await collect<{ id: string }>(
      gateway.customer.search(((search: Search) =>
        search.email?.().is('ada@example.com')) as never) as never,
    )
    expect(customers.map((row) => row.id)).toEqual([customerId])
    const holders = await collect<{ id: string }>(
      gateway.customer.search(((search: Search) =>
        search.paymentMethodToken?.().is(token)) as never) as never,
    )
    expect(holders.map((row) => row.id)).toEqual([customerId])
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    await gateway.subscription.create({ id: 't', planId: 'monthly', paymentMethodToken: token })
    await clock.advance({ months: 1 })
    const [first] = sandbox.transactions(customerId)
    const found = await collect<{ id: string }>(
      gateway.subscription.search(((search: Search) =>
        search.transactionId?.().is(first?.id)) as never),
    )
    expect(found.map((row) => row.id)).toEqual(['s'])
  })
})

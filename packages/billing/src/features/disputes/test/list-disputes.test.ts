import { describe, expect, it } from 'vitest'
import { PROVIDERS, start } from '../../../../test/support.ts'
import { InvalidArgument } from '../../../index.ts'
import { openDispute } from './dispute.ts'

describe.each(PROVIDERS)('billing.disputes() at $provider', ({ provider, card }) => {
  it('lists disputes with their invoice, page by page, and by status and owner', async () => {
    const test = await start(provider)
    const { billing, user, settle } = test
    await user.newSubscription('main', 'monthly').create(card)
    expect(await billing.disputes()).toEqual({ disputes: [], next: null })
    const opened = test.sandbox.clock.now()
    const decide = openDispute(test, user)
    await settle()
    decide('won')
    await settle()
    await test.advance({ months: 1, days: 2 })
    openDispute(test, user)
    await settle()
    const invoices = (await user.invoicesIncludingPending()).map(({ id }) => id)
    const { disputes } = await billing.disputes()
    expect(disputes.map(({ invoice }) => invoice)).toEqual(invoices)
    const { id: subscriptionId } = await user.subscription('main')
    expect(disputes).toMatchObject([
      { provider, ownerType: 'user', subscriptionId, status: 'open', closedAt: null },
      { status: 'won', amount: { amount: 1000, currency: 'usd' }, closedAt: expect.any(Date) },
    ])
    expect(disputes[1]?.openedAt.getTime()).toBeLessThanOrEqual(opened.getTime())
    const first = await billing.disputes({ limit: 1 })
    const second = await billing.disputes({ limit: 1, after: first.next ?? '' })
    expect([...first.disputes, ...second.disputes]).toEqual(disputes)
    expect(second.next).toBeNull()
    const won = await billing.disputes({ status: 'won', provider, owner: user.owner })
    expect(won.disputes).toEqual(disputes.slice(1))
    const friend = await test.createUser()
    expect((await billing.disputes({ owner: friend.owner })).disputes).toEqual([])
  })

  it('rejects an unknown status, an invalid cursor and a page that is too long', async () => {
    const { billing } = await start(provider)
    for (const wrong of [{ status: 'maybe' as never }, { after: 'nonsense' }, { limit: 1001 }]) {
      await expect(billing.disputes(wrong)).rejects.toThrow(InvalidArgument)
    }
  })
})

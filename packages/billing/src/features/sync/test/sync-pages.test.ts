import { connect } from '@tollgate/database'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createImpatientBilling } from '../../../../test/lost-answers.ts'
import { PROVIDERS, start, stripeSdk } from '../../../../test/support.ts'
import {
  corruptRow,
  countProviderRequests,
  createSubscribers,
  startWithSubscribers,
} from './sync-support.ts'

const LONG = 180_000

const pages = (count: number, size: number) => Math.ceil(count / size)

/** Requests of a sync() for this many users if nothing differs. */
const CALLS = {
  // Customers, subscriptions, and one page of disputes.
  stripe: (users: number) => 2 * pages(users, 100) + 1,
  // A search by ids is one request, and one more for each fifty results; one for disputes.
  braintree: (users: number) => pages(users, 100) + pages(users, 50) + 1,
}

describe.each(PROVIDERS)('sync() at $provider', ({ provider }) => {
  it('sends one request per page of users, and a few more for each user whose data differs', {
    timeout: LONG,
  }, async () => {
    const { ids, ...test } = await startWithSubscribers(provider, 110)
    const { billing } = test
    const sync = (options = {}) => countProviderRequests(test, () => billing.sync(options))
    expect(await sync()).toBe(CALLS[provider](110))
    ids.push(...(await createSubscribers(test, 100)))
    expect(await sync()).toBe(CALLS[provider](210))
    expect(await sync({ dryRun: true })).toBe(CALLS[provider](210))

    const differing = [ids[3], ids[120], ids[209]].map(Number)
    for (const id of differing) await corruptRow(test, id)
    const report = { drift: [] as readonly { readonly owner: unknown }[], users: 0 }
    const calls = await countProviderRequests(test, async () => {
      Object.assign(report, await billing.sync())
    })
    expect(calls).toBeLessThanOrEqual(CALLS[provider](210) + 5 * differing.length)
    expect(report.users).toBe(210)
    const owners = differing.map((id) => ({ type: 'user', id }))
    expect(report.drift.map(({ owner }) => owner)).toEqual(expect.arrayContaining(owners))
    expect(report.drift).toHaveLength(differing.length)
    expect(await sync()).toBe(CALLS[provider](210))
  })

  it('resumes where it stopped after a provider error, and after its process was killed', {
    timeout: LONG,
  }, async () => {
    const { ids, ...test } = await startWithSubscribers(provider, 110)
    const { billing, sandbox } = test
    const all = CALLS[provider](110)

    // The second page fails, and with it the list. The other phases still run.
    const quick = createImpatientBilling(test)
    const failSecondPage = async () => {
      sandbox.trouble.failNext(provider === 'stripe' ? 1 : 3, { slowMs: 0 }, provider)
      sandbox.trouble.failNext(1, '500', provider)
      const report = await quick.sync()
      sandbox.trouble.clear()
      expect(report).toMatchObject({ complete: false, failures: [{ owner: null }] })
    }
    await failSecondPage()
    const firstPage = provider === 'stripe' ? 1 : 3
    const rest = await countProviderRequests(test, async () => {
      const report = await billing.sync({ resume: true })
      expect(report).toMatchObject({ drift: [], failures: [], complete: true })
    })
    expect(rest).toBe(all - firstPage)

    // A later difference is found if its page was not listed before.
    await failSecondPage()
    for (const at of [0, 109]) await corruptRow(test, Number(ids[at]))
    const { drift } = await billing.sync({ resume: true })
    const later = provider === 'stripe' ? [ids[0], ids[109]] : [ids[109]]
    expect(drift.map(({ owner }) => Number(owner.id)).sort((x, y) => x - y)).toEqual(later)
    expect((await billing.sync()).drift).toHaveLength(2 - later.length)

    // The process dies in the middle of the second step.
    let left = Number.POSITIVE_INFINITY
    const database = await connect(test.url, {
      onQuery(text) {
        if (/^update .billing_sync_runs/.test(text) && left-- <= 0) throw new Error('died')
      },
    })
    onTestFinished(() => database.close())
    const dying = test.another({ database })
    await dying.migrate()
    left = 2
    await expect(dying.sync()).rejects.toThrow('died')
    const resumed = await countProviderRequests(test, () => billing.sync({ resume: true }))
    expect(resumed).toBe(all - firstPage)
    // No position is left to resume from.
    expect(await countProviderRequests(test, () => billing.sync({ resume: true }))).toBe(all)
  })
})

describe('sync() of a Stripe account that other applications share', () => {
  it('reads its own users one by one if listing all objects of the account would take more requests', {
    timeout: LONG,
  }, async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, billing } = test
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const { customers } = await stripeSdk(test)
    // Enough for eleven pages.
    for (let at = 0; at < 1100; at += 50) {
      await Promise.all(Array.from({ length: 50 }, () => customers.create({})))
    }
    await corruptRow(test, Number(user.id))
    let report = null
    const calls = await countProviderRequests(test, async () => {
      report = await billing.sync()
    })
    expect(report).toMatchObject({ drift: [{ what: 'outdated row' }], complete: true })
    expect(calls).toBeLessThanOrEqual(10 + 5 + 1)
  })
})

import { describe, expect, it } from 'vitest'
import type { BillableUser, BillingOptions } from '../src/index.ts'
import { CHILD_SECRET } from './child-process.ts'
import { expectPoints, LEASE, LONG, prepare, tryEveryPoint } from './killed/every-point.ts'
import { subscribe } from './killed/story.ts'
import { deliver, loseDispute } from './signed-event.ts'
import { type FlowTest, PROVIDERS, start, subscriptionsAt, takenFrom } from './support.ts'
import { createTeam, startTeams } from './teams.ts'

const NEW = { webhooks: false, lockLease: LEASE } as const

/** Another process that is there afterwards, and takes events which the children take, too. */
function survivorOf({ sandbox, another }: FlowTest, options: Partial<BillingOptions>) {
  return another({
    processEvery: false,
    stripe: {
      secret: sandbox.stripe.apiKey,
      webhookSecret: CHILD_SECRET,
      config: sandbox.stripe.config,
    },
    ...options,
  })
}

describe.each(PROVIDERS)('a process killed at $provider', (given) => {
  const { provider } = given

  it('threat W5 at any step of create() of a team charges the team once', LONG, async () => {
    const test = await startTeams(provider, 'integer', NEW)
    const owners = { team: { table: 'teams', email: 'billing_email', name: 'title' } }
    let teams = 0
    const how = { atOnce: 4, billing: { owners } }
    const points = await tryEveryPoint(test, given, how, async (child, stopAt) => {
      const id = ++teams
      const team = await createTeam(test, id)
      const card = provider === 'stripe' ? given.card : test.sandbox.braintree.createNonce()
      child.begin({ job: 'create', type: 'team', userId: id, card, stopAt })
      const outcome = await child.outcome()
      await child.kill()
      expect(outcome.failed).toBeUndefined()
      const at = outcome.stopped ?? 'at the end'
      const again = await test.billing.owner('team', team.id)
      await again.newSubscription('main', 'monthly').create(card)
      expect(await again.subscribed('main'), at).toBe(true)
      expect([subscriptionsAt(test, again), takenFrom(test, again)], at).toEqual([1, 1000])
      expect(await again.subscriptions(), at).toHaveLength(1)
      return outcome
    })
    expectPoints(points, ['calls', 'writes'])
    const open = await test.database.kysely.selectFrom('billing_operations').selectAll().execute()
    expect(open).toEqual([])
  })

  it('threat W2 at any step of ending what a lost dispute ends, ends it later', LONG, async () => {
    const disputes = { access: 'end' } as const
    const test = await start(provider, { ...NEW, disputes })
    const survivor = survivorOf(test, { disputes })
    const toCheck: { user: BillableUser; at: string }[] = []
    const how = { atOnce: 1, billing: { disputes } }
    const points = await tryEveryPoint(test, given, how, async (child, stopAt) => {
      const asking = await prepare(test, given)
      const { user } = asking
      await subscribe(asking)
      const event = await loseDispute(test, provider, user.providerId ?? '', CHILD_SECRET)
      child.begin({ job: 'receive', ...event, stopAt })
      const outcome = await child.outcome()
      const isAcknowledged = child.reports.some(({ answered }) => answered === 200)
      await child.kill()
      expect(outcome.failed).toBeUndefined()
      if (!isAcknowledged) expect(await deliver(survivor, event)).toBe(200)
      await survivor.webhooks.process()
      toCheck.push({ user, at: outcome.stopped ?? 'at the end' })
      return outcome
    })
    expectPoints(points, ['calls', 'writes'])
    await test.sandbox.clock.advance({ minutes: 11 })
    await survivor.webhooks.process()
    expect(await survivor.webhooks.pending()).toEqual([])
    for (const { user, at } of toCheck) {
      expect((await user.subscription('main')).ended(), at).toBe(true)
    }
  })
})

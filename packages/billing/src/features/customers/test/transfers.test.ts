import { describe, expect, it } from 'vitest'
import {
  countProviderCustomers,
  type FlowTest,
  PROVIDERS,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import { createTeam, startTeams } from '../../../../test/teams.ts'
import { createLocks } from '../../../core/storage/locks.ts'
import {
  type AnyBillingEvent,
  type BillableOwner,
  type MailMessage,
  NoCustomer,
  NoSubscription,
  TransferRefused,
  TrialUsed,
  UserNotFound,
} from '../../../index.ts'
import { openDispute } from '../../disputes/test/dispute.ts'

const ownersOf = async ({ database }: FlowTest, table: string) => {
  const rows = await database.kysely.selectFrom(table).selectAll().execute()
  return rows.map((row) => row.owner_type ?? 'user')
}

const codeOf = (asked: Promise<unknown>) =>
  asked.then(
    () => 'done',
    (error: { code?: string; reason?: string }) => error.reason ?? error.code,
  )

describe.each(PROVIDERS)(
  'a customer at $provider that is transferred to another owner (threat Q3)',
  ({ provider, card, otherCard, otherLastFour }) => {
    it('keeps its subscriptions, cards and invoices, and is billed as before', async () => {
      const test = await startTeams(provider)
      const { user, billing } = test
      const team = await createTeam(test, 7)
      const subscription = await user.newSubscription('main', 'monthly').create(card)
      await test.settle()
      const customer = user.providerId
      const [invoice] = await user.invoicesIncludingPending()

      await user.transferTo(team)
      expect(user.providerId).toBeNull()
      expect(user.cardBrand).toBeNull()
      expect(await user.subscribed('main')).toBe(false)
      expect(await user.invoicesIncludingPending()).toEqual([])
      await expect(subscription.cancel()).rejects.toThrow(NoSubscription)

      const now = await billing.owner('team', 7)
      expect([now.providerId, now.provider]).toEqual([customer, provider])
      expect(now.cardBrand).not.toBeNull()
      expect(await now.subscribed('main', 'monthly')).toBe(true)
      expect((await now.subscription('main')).owner).toEqual(team.owner)
      expect((await now.invoicesIncludingPending()).map(({ id }) => id)).toEqual([invoice?.id])

      await test.advance({ months: 1, hours: 2 })
      expect(sumChargedCents(test, now)).toBe(2000)
      expect(await now.subscribed('main')).toBe(true)
      await now.updateCard(otherCard)
      expect((await billing.owner('team', 7)).cardLastFour).toBe(otherLastFour)
      await (await now.subscription('main')).cancel()
      await test.settle()
      expect((await billing.sync()).drift).toEqual([])
      expect(await billing.webhooks.deadLetters()).toEqual([])
      expect(await ownersOf(test, 'billing_operations')).toEqual([])
    })

    it('can be replaced: the previous owner can subscribe again as a new customer', async () => {
      const test = await startTeams(provider, 'string', { webhooks: false })
      const { user } = test
      const team = await createTeam(test, 'a7')
      await user.newSubscription('main', 'monthly').create(card)
      await user.transferTo(team.owner)
      await user.newSubscription('main', 'pro').create(otherCard)
      expect(countProviderCustomers(test, provider)).toBe(2)
      expect(await user.subscribed('main', 'pro')).toBe(true)
      expect(await team.subscribed('main', 'monthly')).toBe(true)
      expect((await test.billing.sync()).drift).toEqual([])
    })

    it('can be transferred back and forth, and a repeated transfer does nothing', async () => {
      const test = await startTeams(provider, 'integer', { webhooks: false })
      const { user, billing } = test
      await createTeam(test, 7)
      await user.newSubscription('main', 'monthly').create(card)
      const team = () => billing.owner('team', 7)
      await user.transferTo(await team())
      await user.transferTo(await team())
      await (await billing.user(user.id)).transferTo({ type: 'team', id: '7' })
      expect(await (await team()).subscribed('main')).toBe(true)
      await (await team()).transferTo(user)
      expect(await user.subscribed('main')).toBe(true)
      expect(await (await team()).subscribed('main')).toBe(false)
      await (await team()).transferTo(user)
      await user.transferTo(await team())
      expect(await (await team()).subscribed('main')).toBe(true)
      expect(await ownersOf(test, 'subscriptions')).toEqual(['team'])
    })

    it('is not transferred to an owner that has a customer, subscriptions or another provider, to itself, or to an unknown owner', async () => {
      const test = await startTeams(provider, 'integer', { webhooks: false })
      const { user, billing } = test
      const to = async (id: number) => codeOf(user.transferTo({ type: 'team', id }))
      await createTeam(test, 1)
      expect(await to(1)).toBe('no_customer')
      await user.newSubscription('main', 'monthly').create(card)

      const withCard = await createTeam(test, 2)
      await withCard.updateCard(otherCard)
      const elsewhere = await createTeam(test, 3)
      await elsewhere.chooseProvider(provider === 'stripe' ? 'braintree' : 'stripe')
      const before = await createTeam(test, 4)
      const nonce = provider === 'stripe' ? card : test.sandbox.braintree.createNonce()
      await (await before.newSubscription('main', 'monthly').trialDays(3).create(nonce)).cancelNow()
      const other = provider === 'stripe' ? 'braintree' : 'stripe'
      await before.chooseProvider(other)

      expect(await to(2)).toBe('has_customer')
      expect(await to(3)).toBe('other_provider')
      expect(await to(4)).toBe('has_subscription')
      expect(await codeOf(user.transferTo(user))).toBe('same_owner')
      await expect(user.transferTo(user)).rejects.toThrow(TransferRefused)
      await expect(user.transferTo({ type: 'team', id: 99 })).rejects.toThrow(UserNotFound)
      expect(await codeOf(user.transferTo({ type: 'nobody', id: 1 }))).toBe('invalid_argument')
      expect(await (await billing.user(user.id)).subscribed('main')).toBe(true)
      expect((await billing.sync()).drift).toEqual([])
    })

    it('goes to only one of two owners when two processes transfer it concurrently', async () => {
      const test = await startTeams(provider, 'integer', { webhooks: false })
      const { user } = test
      const teams = [await createTeam(test, 1), await createTeam(test, 2)]
      await user.newSubscription('main', 'monthly').create(card)
      const processes = [test.billing, test.another()]
      const codes = await Promise.all(
        processes.map(async (billing, at) => {
          const giver = await billing.user(user.id)
          return codeOf(giver.transferTo(teams[at] as BillableOwner))
        }),
      )
      expect(codes.sort()).toEqual(['done', 'no_customer'])
      const subscribed = await Promise.all(teams.map((team) => team.subscribed('main')))
      expect(subscribed.filter(Boolean)).toHaveLength(1)
      expect(await user.subscribed('main')).toBe(false)
      expect((await test.billing.sync()).drift).toEqual([])
    })

    it('stays with its owner, without a deadlock, if two owners with customers transfer to each other concurrently', async () => {
      const test = await startTeams(provider, 'integer', { webhooks: false })
      const { user } = test
      const team = await createTeam(test, 1)
      await user.newSubscription('main', 'monthly').create(card)
      await team.updateCard(otherCard)
      const other = test.another()
      const codes = await Promise.all([
        codeOf(user.transferTo(team)),
        codeOf((await other.owner('team', 1)).transferTo(user)),
      ])
      expect(codes).toEqual(['has_customer', 'has_customer'])
      expect(await user.subscribed('main')).toBe(true)
    })

    it('makes the free trial count as used for both owners', async () => {
      const test = await startTeams(provider, 'integer', {
        webhooks: false,
        trials: { oncePerOwner: true },
      })
      const { user } = test
      const team = await createTeam(test, 1)
      await user.newSubscription('main', 'monthly').trialDays(9).create(card)
      await user.transferTo(team)
      expect([await user.hadTrial(), await team.hadTrial()]).toEqual([true, true])
      const again = user.newSubscription('main', 'monthly').trialDays(9)
      await expect(again.create(otherCard)).rejects.toThrow(TrialUsed)
      expect(await test.createUser().then((each) => each.hadTrial())).toBe(false)
    })

    it('causes an event for both owners, and its pending events and mail are sent to the new owner', async () => {
      const emitted: AnyBillingEvent[] = []
      const sent: MailMessage[] = []
      let isAway = true
      const tell = (event: AnyBillingEvent) => {
        if (isAway) throw new Error('away')
        emitted.push(event)
      }
      const send = async (message: MailMessage) => {
        if (isAway) throw new Error('away')
        sent.push(message)
      }
      const test = await startTeams(provider, 'integer', {
        invoice: { vendor: 'Example', product: 'Gold' },
        mail: { send, only: ['receipt'] },
        on: { 'subscription.created': tell, 'customer.transferred': tell },
      })
      const { user } = test
      const team = await createTeam(test, 1)
      await user.newSubscription('main', 'monthly').create(card)
      await test.settle()
      await user.transferTo(team)
      isAway = false
      await test.advance({ hours: 2 })
      const by = (type: string) => emitted.filter((event) => event.type === type)
      expect(by('subscription.created').map(({ owner }) => owner)).toEqual([team.owner])
      const both = by('customer.transferred').sort((a, b) =>
        a.owner.type.localeCompare(b.owner.type),
      )
      expect(both).toMatchObject([
        { owner: team.owner, provider, data: { customer: { id: expect.any(String) } } },
        { owner: user.owner, provider, data: { from: user.owner, to: team.owner } },
      ])
      expect(sent.map(({ to }) => to)).toEqual(['team@example.com'])
      expect(await sent[0]?.attachments()).toHaveLength(1)
    })

    it("is updated with its new owner by a webhook that was waiting for the previous owner's lock", async () => {
      const test = await startTeams(provider)
      const { user, billing, sandbox } = test
      const team = await createTeam(test, 1)
      await user.newSubscription('main', 'monthly').create(card)
      await test.settle()
      await sandbox.clock.advance({ months: 1, hours: 2 })
      await sandbox.outbox.flush()
      await billing.process()
      // A replayed webhook finds the lock held.
      const locks = createLocks(test.database, { lease: 20_000, wait: 60_000 })
      let handled: Promise<unknown> = Promise.resolve()
      const events = await test.database.kysely.selectFrom('billing_webhooks').selectAll().execute()
      await locks.hold(`user:${user.id}`, async () => {
        await billing.webhooks.replay({ from: new Date(0) })
        handled = billing.process()
        await new Promise((resolve) => setTimeout(resolve, 100))
        // Stands for `transferTo()` in another process, which holds both locks.
        const columns = ['provider', 'provider_id', 'card_brand', 'card_last_four'] as const
        const { kysely } = test.database
        const given = await kysely
          .selectFrom('users')
          .select([...columns])
          .executeTakeFirstOrThrow()
        const none = Object.fromEntries(columns.map((column) => [column, null]))
        await kysely.updateTable('users').set(none).execute()
        await kysely.updateTable('teams').set(given).execute()
      })
      await handled
      expect(events.length).toBeGreaterThan(0)
      expect(await team.subscribed('main')).toBe(true)
      expect((await billing.user(user.id)).cardBrand).toBeNull()
      expect(await ownersOf(test, 'subscriptions')).toEqual(['team'])
    })

    it('keeps its disputes, which then belong to the new owner', async () => {
      const test = await startTeams(provider, 'integer', { disputes: { access: 'suspend' } })
      const { user, billing } = test
      const team = await createTeam(test, 1)
      await user.newSubscription('main', 'monthly').create(card)
      await test.settle()
      const decide = openDispute(test, await billing.user(user.id))
      await test.settle()
      expect(await user.subscribed('main')).toBe(false)
      await user.transferTo(team)
      expect(await ownersOf(test, 'billing_disputes')).toEqual(['team'])
      decide('won')
      await test.settle()
      expect(await team.subscribed('main')).toBe(true)
      expect((await billing.sync()).drift).toEqual([])
    })
  },
)

describe('a customer at Stripe that is transferred to another owner (threat Q3)', () => {
  it('has the new owner in its metadata', async () => {
    const test = await startTeams('stripe', 'integer', { webhooks: false })
    const { user, billing } = test
    const team = await createTeam(test, 1)
    await user.updateCard('pm_card_visa')
    const { customers } = await stripeSdk(test)
    await customers.update(user.providerId ?? '', { metadata: { crm: '42' } })
    await user.transferTo(team)
    const read = async () =>
      (await (await billing.owner('team', 1)).asCustomer()) as { metadata: Record<string, string> }
    expect((await read()).metadata).toMatchObject({ owner: 'team:1', crm: '42' })
    expect((await read()).metadata).not.toHaveProperty('user_id')
    await (await billing.owner('team', 1)).transferTo(user)
    const back = (await user.asCustomer()) as { metadata: Record<string, string> }
    expect(back.metadata).toMatchObject({ user_id: '1' })
    expect(back.metadata).not.toHaveProperty('owner')
  })

  it('has its open hosted pages expired, because the previous owner could still pay on them', async () => {
    const test = await startTeams('stripe', 'integer', { webhooks: false })
    const { user, sandbox } = test
    const team = await createTeam(test, 1)
    const open = await user.checkout('monthly', { name: 'main', successPath: '/done' })
    const paid = await user.checkout('pro', { name: 'other', successPath: '/done' })
    sandbox.stripe.completeCheckout(paid.id)
    await user.transferTo(team)
    expect(await team.subscribed('other', 'pro')).toBe(true)
    expect(() => sandbox.stripe.completeCheckout(open.id)).toThrow()
    expect(await team.subscribed('main')).toBe(false)
    await expect(user.completeCheckout(paid.id)).rejects.toThrow()
    expect(await ownersOf(test, 'billing_operations')).toEqual([])
  })

  it('is not charged by a concurrent request of the previous owner, unless that charge came first', async () => {
    const test = await startTeams('stripe', 'integer', { webhooks: false })
    const { user, billing } = test
    const team = await createTeam(test, 1)
    await user.updateCard('pm_card_visa')
    const stale = await test.another().user(user.id)
    const locks = createLocks(test.database, { lease: 20_000, wait: 60_000 })
    let charged: Promise<unknown> = Promise.resolve()
    await locks.hold('owner:team:1', async () => {
      const given = user.transferTo(team)
      await new Promise((resolve) => setTimeout(resolve, 50))
      charged = Promise.allSettled([given, codeOf(stale.charge(1000, { idempotencyKey: 'once' }))])
    })
    const [, code] = (await charged) as { value?: unknown }[]
    const now = await billing.owner('team', 1)
    // Either the charge came first, or it was refused.
    expect([code?.value, sumChargedCents(test, now)]).toEqual(
      code?.value === 'done' ? ['done', 1000] : ['no_customer', 0],
    )
    await expect(stale.charge(1000)).rejects.toThrow(NoCustomer)
  })
})

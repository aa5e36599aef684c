import { describe, expect, it } from 'vitest'
import { createImpatientBilling, loseResponse } from '../../../../test/lost-answers.ts'
import {
  countProviderCustomers,
  type FlowTest,
  PROVIDERS,
  start,
  sumChargedCents,
} from '../../../../test/support.ts'
import { createTeam, startTeams } from '../../../../test/teams.ts'
import { type AnyBillingEvent, NoCustomer, NoSubscription } from '../../../index.ts'
import { advanceToNextPeriod, startWithChargedUsage } from '../../usage/test/charged.ts'
import { startWithMeter } from '../../usage/test/support.ts'

const UNBILLED = {
  provider: null,
  provider_id: null,
  card_brand: null,
  card_last_four: null,
  card_expires: null,
  paypal_email: null,
}

/** Deletes a user as an application without billing does, and gives the id to a new user. */
async function reuseId({ database, billing }: FlowTest, id: string | number) {
  await database.kysely.deleteFrom('users').where('id', '=', id).execute()
  await database.kysely
    .insertInto('users')
    .values({ id, email: 'eve@example.com', name: 'Eve' })
    .execute()
  return billing.user(id)
}

const cards = ({ database }: FlowTest) =>
  database.kysely
    .selectFrom('users')
    .select(['id', 'card_brand', 'card_last_four'])
    .orderBy('id')
    .execute()

/** Moves the billing columns of one user to another, as an operator does by hand. */
async function moveByHand({ database }: FlowTest, from: string | number, to: string | number) {
  const columns = Object.keys(UNBILLED)
  const billed = await database.kysely
    .selectFrom('users')
    .select(columns)
    .where('id', '=', from)
    .executeTakeFirstOrThrow()
  await database.kysely.updateTable('users').set(UNBILLED).where('id', '=', from).execute()
  await database.kysely.updateTable('users').set(billed).where('id', '=', to).execute()
}

describe.each(PROVIDERS)(
  'a subscription at $provider, which belongs to the customer it was created for (threat Q3),',
  ({ provider, card, otherCard }) => {
    it('is not inherited by a user who reuses the id of a deleted one', async () => {
      const test = await start(provider, { webhooks: false })
      const old = await test.user.newSubscription('main', 'monthly').trialDays(9).create(card)
      const user = await reuseId(test, test.user.id)
      expect(user.providerId).toBeNull()
      expect(await user.subscribed('main')).toBe(false)
      expect(await user.subscribed('main', 'monthly')).toBe(false)
      expect(await user.onTrial('main')).toBe(false)
      expect(await user.hadTrial()).toBe(false)
      expect(await user.subscriptions()).toEqual([])
      expect(await user.findSubscription('main')).toBeNull()
      await expect(user.subscription('main')).rejects.toThrow(NoSubscription)
      expect(await user.invoices()).toEqual([])
      await user.startGenericTrial(new Date('2030-01-01T00:00:00Z'))
      expect(await user.onGenericTrial()).toBe(true)

      const own = await user.newSubscription('main', 'pro').create(otherCard)
      expect(own.providerId).not.toBe(old.providerId)
      expect(await user.subscribed('main', 'pro')).toBe(true)
      expect(await user.subscriptions()).toHaveLength(1)
      expect(countProviderCustomers(test, provider)).toBe(2)
    })

    it('is reported by sync() when its owner’s id is reused, and cancelled by sync() on request', async () => {
      const test = await start(provider, { webhooks: false })
      const { providerId } = await test.user.newSubscription('main', 'monthly').create(card)
      const customer = test.user.providerId
      const user = await reuseId(test, test.user.id)
      for (const dryRun of [true, false]) {
        expect((await test.billing.sync({ dryRun, cancelDeletedUsers: true })).drift).toMatchObject(
          [
            {
              owner: user.owner,
              providerId,
              what: 'no owner',
              was: { name: 'main', price: 'monthly', customer },
              advice: expect.stringContaining(String(customer)),
            },
          ],
        )
      }
      const { drift } = await test.billing.sync({ cancelUnowned: true })
      expect(drift).toMatchObject([
        { what: 'no owner', is: { status: expect.stringMatching(/^canceled$/i) } },
      ])
      expect(drift[0]).not.toHaveProperty('advice')
      expect((await test.billing.sync()).drift).toEqual([])
      await test.advance({ months: 2 })
      expect(sumChargedCents(test, test.user)).toBe(1000)
    })

    it('causes no events for a user who reuses the id of a deleted one', async () => {
      const emitted: AnyBillingEvent[] = []
      const tell = (event: AnyBillingEvent) => emitted.push(event)
      const test = await start(provider, {
        on: {
          'subscription.changed': tell,
          'subscription.ended': tell,
          'trial.ending': tell,
          'invoice.paid': tell,
          'customer.updated': tell,
        },
      })
      const made = await test.user.newSubscription('main', 'monthly').trialDays(9).create(card)
      await test.settle()
      emitted.length = 0
      const user = await reuseId(test, test.user.id)
      await test.advance({ days: 7 })
      await test.advance({ days: 40 })
      await made.cancelNow().catch(() => undefined)
      await test.settle()
      expect(emitted).toEqual([])
      expect(await cards(test)).toEqual([{ id: user.id, card_brand: null, card_last_four: null }])
      expect(await test.billing.webhooks.deadLetters()).toEqual([])
    })

    it('cannot be changed through an object that was read before the subscription moved to another owner', async () => {
      const test = await start(provider, { webhooks: false })
      const { user } = test
      const stale = await user.newSubscription('main', 'monthly').create(card)
      const other = await test.createUser({ email: 'bob@example.com' })
      await moveByHand(test, user.id, other.id)
      await test.billing.sync()
      for (const change of [stale.cancel(), stale.cancelNow(), stale.swap('yearly')]) {
        await expect(change).rejects.toThrow(NoSubscription)
      }
      await expect(user.charge(provider === 'stripe' ? 1000 : 10)).rejects.toThrow(NoCustomer)
      expect(await other.subscribed('main', 'monthly')).toBe(true)
      expect((await other.subscription('main')).cancelled()).toBe(false)
      expect(sumChargedCents(test, await test.billing.user(other.id))).toBe(1000)
    })

    it('is never created for the customer of a deleted user with the same id, even if the creation of that customer was interrupted', async () => {
      const test = await start(provider, { webhooks: false })
      const gone = await createImpatientBilling(test).user(test.user.id)
      loseResponse(test, provider, { after: 0, how: 'timeout' })
      await expect(gone.updateCard(card)).rejects.toThrow()
      test.sandbox.trouble.clear()
      expect(countProviderCustomers(test, provider)).toBe(1)
      const user = await reuseId(test, test.user.id)
      await user.updateCard(otherCard)
      expect(countProviderCustomers(test, provider)).toBe(2)
      expect(await user.asCustomer()).toMatchObject({ email: 'eve@example.com' })
    })

    it('follows its customer to another user at the next sync(), if provider_id was moved by hand in the database', async () => {
      const test = await start(provider, { webhooks: false })
      const { user, billing } = test
      const { providerId } = await user.newSubscription('main', 'monthly').create(card)
      const other = await test.createUser({ email: 'bob@example.com' })
      await moveByHand(test, user.id, other.id)
      expect(await user.subscribed('main')).toBe(false)
      const moved = {
        owner: other.owner,
        providerId,
        what: 'other owner',
        was: { owner: user.owner },
        is: { owner: other.owner },
      }
      expect((await billing.sync({ dryRun: true })).drift).toMatchObject([moved])
      expect((await billing.sync()).drift).toMatchObject([moved])
      expect(await user.subscribed('main')).toBe(false)
      expect(await other.subscribed('main')).toBe(true)
      expect((await billing.sync()).drift).toEqual([])
      expect((await (await billing.user(other.id)).subscription('main')).owner).toEqual(other.owner)
    })

    it('follows its customer to another user at the next webhook, if provider_id was moved by hand', async () => {
      const test = await start(provider)
      const { user } = test
      await user.newSubscription('main', 'monthly').create(card)
      await test.settle()
      const other = await test.createUser({ email: 'bob@example.com' })
      await moveByHand(test, user.id, other.id)
      await test.advance({ months: 1, hours: 2 })
      expect(await other.subscribed('main')).toBe(true)
      expect(await user.subscribed('main')).toBe(false)
    })

    it('is moved back to its owner by sync() if only its database row was assigned to another user by hand', async () => {
      const test = await start(provider, { webhooks: false })
      const { user, billing, database } = test
      await user.newSubscription('main', 'monthly').create(card)
      const other = await test.createUser({ email: 'bob@example.com' })
      await database.kysely.updateTable('subscriptions').set({ user_id: other.id }).execute()
      expect(await other.subscribed('main')).toBe(false)
      expect((await billing.sync()).drift).toMatchObject([{ what: 'other owner' }])
      expect(await user.subscribed('main')).toBe(true)
      expect((await billing.sync()).drift).toEqual([])
    })

    it("gives no access and is reported while its user's provider_id is empty, and gives access again once provider_id is restored", async () => {
      const test = await start(provider, { webhooks: false })
      const { user, billing, database } = test
      await user.newSubscription('main', 'monthly').create(card)
      const { providerId: customer } = user
      const set = (provider_id: string | null) =>
        database.kysely.updateTable('users').set({ provider_id }).execute()
      await set(null)
      expect(await user.subscribed('main')).toBe(false)
      expect((await billing.sync()).drift).toMatchObject([{ what: 'no owner', was: { customer } }])
      await set(customer)
      expect(await user.subscribed('main')).toBe(true)
      expect((await billing.sync()).drift).toEqual([])
    })

    it('stays in the history of an owner whose customer was replaced, and its trial still counts as used', async () => {
      const test = await start(provider, { webhooks: false })
      const { user, billing } = test
      const first = await user.newSubscription('main', 'monthly').trialDays(5).create(card)
      await first.cancelNow()
      await user.chooseProvider(provider === 'stripe' ? 'braintree' : 'stripe')
      const again = await billing.user(user.id)
      expect(again.providerId).toBeNull()
      expect(await again.hadTrial()).toBe(true)
      expect(await again.subscriptions()).toHaveLength(1)
      expect((await billing.sync()).drift).toEqual([])
    })

    it('is not inherited by a team that reuses the id of a deleted one', async () => {
      const test = await startTeams(provider, 'string', { webhooks: false })
      const team = await createTeam(test, 'a7')
      await team.newSubscription('main', 'monthly').create(card)
      await test.database.kysely.deleteFrom('teams').execute()
      const next = await createTeam(test, 'a7')
      expect(await next.subscribed('main')).toBe(false)
      expect(await next.subscriptions()).toEqual([])
      expect((await test.billing.sync()).drift).toMatchObject([{ what: 'no owner' }])
    })
  },
)

describe('usage, which belongs to the customer it was reported for (threat Q3),', () => {
  it('is never sent to Stripe for the customer of a later user with the same id', async () => {
    const test = await startWithMeter()
    await test.user.reportUsage('calls', 5, { id: 'job 1' })
    const user = await reuseId(test, test.user.id)
    await user.updateCard('pm_card_visa')
    await user.reportUsage('calls', 7, { id: 'job 1' })
    await test.billing.process()
    const query = { from: new Date(test.sandbox.clock.now().getTime() - 60_000) }
    const later = { ...query, to: new Date(test.sandbox.clock.now().getTime() + 60_000) }
    expect((await user.usage('calls', later)).map(({ value }) => value)).toEqual(['7'])
    // The usage of the deleted user, whose customer still exists.
    expect(await test.counted()).toBe('5')
  })

  it('is never charged at Braintree to the card of a later user with the same id', async () => {
    const test = await startWithChargedUsage()
    const { user, billing } = test
    await user.reportUsage('calls', 10)
    const next = await reuseId(test, user.id)
    await next.newSubscription('main', 'monthly').create('fake-valid-mastercard-nonce')
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, await billing.user(next.id))).toBe(2000)
    expect(await billing.usage.refused()).toMatchObject([{ meter: 'calls' }])
  })

  it('is not among the unbilled usage that a later user with the same id can list or void', async () => {
    const test = await startWithChargedUsage()
    const { user, billing, database } = test
    await user.reportUsage('calls', 10)
    const next = await reuseId(test, user.id)
    const states = database.kysely.selectFrom('billing_usage').select('state')
    for (const card of [null, 'fake-valid-mastercard-nonce']) {
      if (card) await next.updateCard(card)
      const asked = await billing.user(next.id)
      expect([await asked.unbilledUsage(), await asked.voidUnbilledUsage()]).toEqual([[], 0])
    }
    // Its charge fails because its customer is gone, but no other user voids it.
    expect(await states.execute()).not.toEqual([{ state: 'cancelled' }])
  })
})

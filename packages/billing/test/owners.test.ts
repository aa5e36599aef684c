import { connect, SchemaTooOld } from '@tollgate/database'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { formatOwnerLockName } from '../src/core/owner-lock.ts'
import { createOperationRepository } from '../src/core/storage/operations.ts'
import { CheckoutNotFound, createBilling, InvalidArgument, UserNotFound } from '../src/index.ts'
import {
  countProviderCustomers,
  countProviderSubscriptions,
  type FlowTest,
  PROVIDERS,
} from './support.ts'
import { createTeam, createTeams, startTeams, teamTable } from './teams.ts'

const BOTH = PROVIDERS.flatMap((each) => [
  { ...each, idType: 'integer' as const, id: 1 },
  { ...each, idType: 'string' as const, id: '1' },
])

const readOwners = async ({ database }: FlowTest, table = 'subscriptions') => {
  const rows = await database.kysely.selectFrom(table).selectAll().execute()
  return rows.map(({ user_id, owner_type, owner_id }) => ({ user_id, owner_type, owner_id }))
}

describe.each(BOTH)(
  'a team as the owner of subscriptions at $provider (type of ids: $idType)',
  ({ provider, card, otherCard, otherLastFour, ten, idType, id }) => {
    it('can do everything that a user can, and its rows have the team as owner', async () => {
      const test = await startTeams(provider, idType)
      const team = await createTeam(test, id)
      expect(team.owner).toEqual({ type: 'team', id })
      const subscription = await team.newSubscription('main', 'monthly').create(card)
      expect(subscription.owner).toEqual({ type: 'team', id })
      expect(subscription.userId).toBeNull()
      expect(await readOwners(test)).toEqual([{ user_id: null, owner_type: 'team', owner_id: '1' }])
      await subscription.swap('yearly')
      expect(await team.subscribed('main', 'yearly')).toBe(true)
      const swapped = await team.subscription('main')
      await swapped.cancel()
      expect(swapped.onGracePeriod()).toBe(true)
      await swapped.resume()
      await team.updateCard(otherCard)
      expect((await test.billing.owner('team', id)).cardLastFour).toBe(otherLastFour)
      await team.charge(ten)
      await team.startGenericTrial(new Date('2030-01-01T00:00:00Z'))
      expect(await team.onTrial()).toBe(true)
      await test.advance({ years: 1, hours: 2 })
      expect(await team.subscribed('main')).toBe(true)
      expect((await team.invoices()).length).toBeGreaterThan(1)
      expect((await test.billing.sync()).drift).toEqual([])
      expect(await test.billing.webhooks.deadLetters()).toEqual([])
      expect(await readOwners(test, 'billing_operations')).toEqual([])
    })

    it('is never mistaken for the user with the same id', async () => {
      const test = await startTeams(provider, idType)
      const { user, billing } = test
      const team = await createTeam(test, id)
      expect(String(user.id)).toBe('1')
      await user.newSubscription('main', 'monthly').create(card)
      expect(await team.subscribed('main')).toBe(false)
      expect(await team.subscriptions()).toEqual([])
      const theirs = await team.newSubscription('main', 'pro').create(otherCard)
      await test.settle()

      expect(await readOwners(test)).toEqual([
        { user_id: 1, owner_type: null, owner_id: null },
        { user_id: null, owner_type: 'team', owner_id: '1' },
      ])
      const customer = team.providerId ?? ''
      expect(customer).not.toBe(user.providerId)
      expect((await billing.findOwnerByCustomer(provider, customer))?.owner).toEqual(team.owner)
      expect(await billing.findUserByCustomer(provider, customer)).toBeNull()
      expect((await billing.findUserByCustomer(provider, user.providerId ?? ''))?.id).toBe(1)
      const [invoice] = await team.invoices()
      expect(await user.findInvoice(invoice?.id ?? '')).toBeNull()

      await (await user.subscription('main')).cancelNow()
      await test.settle()
      expect(await user.subscribed('main')).toBe(false)
      expect(await team.subscribed('main', 'pro')).toBe(true)
      await theirs.cancelNow()
      await test.settle()
      expect(await team.subscribed('main')).toBe(false)
      expect((await billing.sync()).drift).toEqual([])
    })

    it('is found as the owner by a webhook if the process that created its subscription was killed', async () => {
      const test = await startTeams(provider, idType)
      const team = await createTeam(test, id)
      let isDying = false
      const database = await connect(test.url, {
        onQuery(text) {
          if (isDying && /^insert into .subscriptions/.test(text)) throw new Error('died')
        },
      })
      onTestFinished(() => database.close())
      const dying = await test.another({ database }).owner('team', id)
      isDying = true
      await expect(dying.newSubscription('main', 'monthly').create(card)).rejects.toThrow('died')
      // The webhook may have arrived already, or arrives now.
      await test.settle()
      expect(await team.subscribed('main', 'monthly')).toBe(true)
      expect(await test.user.subscribed('main')).toBe(false)
      expect(await readOwners(test, 'billing_operations')).toEqual([])
      expect(countProviderSubscriptions(test, await test.billing.owner('team', id))).toBe(1)
    })

    it('has one subscription when two processes create it concurrently', async () => {
      const test = await startTeams(provider, idType)
      await createTeam(test, id)
      const other = test.another()
      const made = await Promise.all(
        [test.billing, other].map(async (billing) => {
          const team = await billing.owner('team', id)
          return (await team.newSubscription('main', 'monthly').create(card)).providerId
        }),
      )
      expect(new Set(made).size).toBe(1)
      expect(countProviderCustomers(test, provider)).toBe(1)
      expect(countProviderSubscriptions(test, await test.billing.owner('team', id))).toBe(1)
    })

    it('no longer has a subscription after the application deleted the team, while a user with the same id keeps one', async () => {
      const test = await startTeams(provider, idType)
      const team = await createTeam(test, id)
      await test.user.newSubscription('main', 'monthly').create(card)
      const { providerId } = await team.newSubscription('main', 'monthly').create(otherCard)
      await test.settle()
      await test.database.kysely.deleteFrom('teams').execute()

      const unaware = test.another({ owners: {} })
      const report = await unaware.sync({ cancelDeletedUsers: true })
      expect(report).toMatchObject({ drift: [], failures: [{ owner: { type: 'team', id: '1' } }] })
      const { drift } = await test.billing.sync({ cancelDeletedUsers: true })
      expect(drift).toMatchObject([{ owner: team.owner, providerId, what: 'user deleted' }])
      expect((await test.billing.sync()).drift).toEqual([])
      expect(await test.user.subscribed('main')).toBe(true)
    })
  },
)

describe('an owner that is not a user', () => {
  it('has its own name and e-mail address at the provider, and its own tax', async () => {
    const asked: unknown[] = []
    const team = {
      ...teamTable('integer'),
      taxPercentage: (row: Record<string, unknown>) => {
        asked.push(row.title)
        return 20
      },
    }
    const test = await startTeams('stripe', 'integer', {
      owners: { team },
      taxPercentage: () => 10,
    })
    const owner = await createTeam(test, 1)
    await owner.newSubscription('main', 'monthly').create('pm_card_visa')
    expect(await owner.taxPercentage()).toBe(20)
    expect(await test.user.taxPercentage()).toBe(10)
    expect(asked).toContain('The Analysts')
    const [invoice] = await owner.invoices()
    expect(invoice?.rawTotal()).toMatchObject({ amount: 1200 })
    const customer = await owner.asCustomer()
    expect(customer).toMatchObject({ email: 'team@example.com', name: 'The Analysts' })
    expect(customer).toMatchObject({ metadata: { owner: 'team:1' } })
    expect(customer).not.toHaveProperty('metadata.user_id')
  })

  it('can subscribe on a hosted page, which the user with the same id cannot claim', async () => {
    // Without webhooks, which would find either owner by the customer that both have below.
    const test = await startTeams('stripe', 'integer', { webhooks: false })
    const team = await createTeam(test, 1)
    await test.user.updateCard('pm_card_visa')
    const page = await team.checkout('monthly', { name: 'main', successPath: '/done' })
    const signedIn = test.another({ authenticate: () => 1 })
    const again = await (await signedIn.owner('team', team.owner.id)).checkout('monthly', {
      name: 'main',
      successPath: '/done',
    })
    // Only the application knows the members of a team, so customers return to its own page
    // directly.
    expect(again.id).toBe(page.id)
    test.sandbox.stripe.completeCheckout(page.id)
    await expect(test.user.completeCheckout(page.id)).rejects.toThrow(CheckoutNotFound)
    // Fails even with the same customer.
    await test.database.kysely
      .updateTable('users')
      .set({ provider_id: (await test.billing.owner('team', 1)).providerId })
      .execute()
    const user = await test.billing.user(1)
    await expect(user.completeCheckout(page.id)).rejects.toThrow(CheckoutNotFound)
    const { isPaid, subscription } = await team.completeCheckout(page.id)
    expect([isPaid, subscription?.owner]).toEqual([true, team.owner])
    expect(await readOwners(test)).toEqual([{ user_id: null, owner_type: 'team', owner_id: '1' }])
  })

  it('can download its own invoices, and those of no other owner', async () => {
    let asking: { type: string; id: number } | number = { type: 'team', id: 1 }
    const test = await startTeams('stripe', 'integer', {
      authenticate: () => asking,
      invoice: { vendor: 'Example', product: 'Gold' },
    })
    const team = await createTeam(test, 1)
    await team.newSubscription('main', 'monthly').create('pm_card_visa')
    const [invoice] = await team.invoices()
    const request = () => new Request(`http://localhost/user/invoice/${invoice?.id}`)
    expect((await test.billing.fetch(request())).status).toBe(200)
    asking = 1
    expect((await test.billing.fetch(request())).status).toBe(404)
    asking = { type: 'team', id: 2 }
    expect((await test.billing.fetch(request())).status).toBe(404)
  })

  it('is found by its type and id', async () => {
    const test = await startTeams('stripe')
    const { billing, user } = test
    await createTeam(test, 7)
    expect((await billing.owner('team', '7')).id).toBe(7)
    expect((await billing.owner('user', user.id)).owner).toEqual(user.owner)
    expect(await billing.findOwner('team', 8)).toBeNull()
    expect(await billing.findOwner('team', '7 ')).toBeNull()
    await expect(billing.owner('team', 8)).rejects.toThrow(UserNotFound)
    for (const type of ['teams', 'constructor', '__proto__', '']) {
      await expect(billing.findOwner(type, 7)).rejects.toThrow(InvalidArgument)
    }
  })

  it('does not share unfinished operations with an owner of another type that has the same id', async () => {
    const { database } = await startTeams('stripe')
    const operations = createOperationRepository(database, new Map())
    const owners = [
      { type: 'user', id: 7 },
      { type: 'team', id: 7 },
      { type: 'team', id: 'x' },
      { type: 'shop', id: 7 },
    ]
    const request = { provider: 'stripe' as const }
    const begin = (owner: (typeof owners)[number]) =>
      operations.begin({ owner, kind: 'customer', request }, new Date(), database)
    const begun = await Promise.all(owners.map(begin))
    expect(new Set(begun.map(({ id }) => id)).size).toBe(owners.length)
    for (const [i, owner] of owners.entries()) {
      expect((await begin(owner)).id).toBe(begun[i]?.id)
      expect((await operations.listByOwner(owner)).map(({ id }) => id)).toEqual([begun[i]?.id])
    }
  })

  it('may have an id of the maximum length of its column', async () => {
    const id = 'ä'.repeat(255)
    const test = await startTeams('stripe', 'string')
    const team = await createTeam(test, id)
    await team.newSubscription('main', 'monthly').create('pm_card_visa')
    await test.settle()
    expect(await team.subscribed('main')).toBe(true)
    expect((await team.subscription('main')).owner.id).toBe(id)
  })
})

describe("formatOwnerLockName(), which returns the name of an owner's lock,", () => {
  it('uses the id of a user, or the type and id of another owner', () => {
    const owners = [
      { type: 'user', id: 7 },
      { type: 'user', id: 'team:7' },
      { type: 'user', id: 'owner:team:7' },
      { type: 'team', id: 7 },
      { type: 'teams', id: 7 },
      { type: 'team', id: 's:7' },
      { type: 'user', id: 'x'.repeat(255) },
      { type: 'user', id: `${'x'.repeat(254)}y` },
      { type: 'team', id: 'x'.repeat(255) },
    ]
    const names = owners.map(formatOwnerLockName)
    expect(names[0]).toBe('user:7')
    expect(new Set(names).size).toBe(owners.length)
    for (const name of names) expect(name.length).toBeLessThanOrEqual(255)
  })
})

describe('the table of an additional owner type', () => {
  const stripe = { secret: 'sk_test_1', webhookSecret: 'whsec_1' }
  const shared = { stripe, users: { table: 'users' }, processEvery: false as const }

  it("gets billing's columns in the first migration after the owner type is configured, even if the other tables were migrated before", async () => {
    const { database, drop } = await createTestDatabase()
    onTestFinished(drop)
    await database.kysely.schema.createTable('users').addColumn('id', 'integer').execute()
    await createTeams(database, 'string')
    await createBilling({ ...shared, database }).migrate()
    const owners = { team: teamTable('string') }
    await database.kysely.insertInto('teams').values({ id: 'a' }).execute()

    const careful = createBilling({ ...shared, database, owners, migrate: false })
    await expect(careful.owner('team', 'a')).rejects.toThrow(SchemaTooOld)
    const billing = createBilling({ ...shared, database, owners })
    expect((await billing.migrate()).applied).toEqual(['0001-first-release'])
    expect((await billing.migrate()).applied).toEqual([])
    expect((await careful.owner('team', 'a')).attributes).toMatchObject({
      billing_email: null,
      provider_id: null,
      card_expires: null,
    })
    await Promise.all([careful, billing].map((each) => each.close()))
  })

  it.each([
    ['under the type of users', { user: { table: 'teams' } }, /users have an option of their own/],
    ['under a type with a colon', { 'a:b': { table: 'teams' } }, /'a:b' should be a short word/],
    [
      'under a type that is too long',
      { ['x'.repeat(51)]: { table: 'teams' } },
      /should be a short word/,
    ],
    [
      'if it is the table of users',
      { team: { table: 'users' } },
      /'users' already belongs to the type 'user'/,
    ],
    [
      'if two types share it',
      { a: { table: 't' }, b: { table: 't' } },
      /owners.b: the table 't' already belongs to the type 'a'/,
    ],
    ['with an invalid name', { team: { table: 'a; b' } }, /owners.team.table: name/],
  ])('is rejected in the options %s', async (_what, owners, words) => {
    const { database, drop } = await createTestDatabase()
    onTestFinished(drop)
    expect(() => createBilling({ ...shared, database, owners })).toThrow(words)
  })
})

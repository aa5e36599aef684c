import { describe, expect, it } from 'vitest'
import { type FlowTest, PROVIDERS, START, start } from '../../../../test/support.ts'
import { createTeam, startTeams } from '../../../../test/teams.ts'
import { SUBSCRIPTION_STATUSES } from '../../../core/storage/subscription-conditions.ts'
import { subscriptionRowMapper } from '../../../core/storage/tables.ts'
import {
  type Billing,
  InvalidArgument,
  type Subscription,
  type SubscriptionListOptions,
} from '../../../index.ts'
import { MAX_EXAMINED_SUBSCRIPTIONS } from '../list-subscriptions.ts'

const DAY = 86_400_000
const namesOf = (all: readonly Subscription[]) => all.map(({ name }) => name)

/** Reads every page, and counts them. */
async function listAll(billing: Billing, options: SubscriptionListOptions = {}) {
  const first = await billing.subscriptions(options)
  const all = [...first.subscriptions]
  let pages = 1
  for (let after = first.next; after; pages++) {
    const page = await billing.subscriptions({ ...options, after })
    all.push(...page.subscriptions)
    after = page.next
  }
  return { all, pages }
}

let rows = 0

function insert(test: FlowTest, more: object = {}) {
  return test.database.kysely.insertInto('subscriptions').values(newRow(test, more)).execute()
}

function newRow({ user }: FlowTest, more: object = {}) {
  return subscriptionRowMapper.toRow({
    owner: user.owner,
    name: `row-${++rows}`,
    provider: 'stripe',
    providerId: `sub_${rows}`,
    providerCustomer: null,
    providerPlan: 'monthly',
    providerStatus: 'active',
    quantity: 1,
    trialEndsAt: null,
    endsAt: null,
    disputedAt: null,
    pausedAt: null,
    plannedPrice: null,
    plannedAt: null,
    periodStartsAt: null,
    periodEndsAt: null,
    createdAt: START,
    updatedAt: START,
    ...more,
  })
}

/** Inserts a row for every combination of the columns that determine the status. */
async function insertCombinations(test: FlowTest) {
  const words = {
    stripe: [
      'active',
      'trialing',
      'past_due',
      'unpaid',
      'incomplete',
      'incomplete_expired',
      'canceled',
      'paused',
      'a_new_word',
    ],
    braintree: ['Active', 'Pending', 'Past Due', 'Canceled', 'Expired'],
  }
  const now = test.sandbox.clock.now().getTime()
  const moments = [null, new Date(now - DAY), new Date(now), new Date(now + DAY)]
  await test.database.transaction(async (tx) => {
    for (const [provider, statuses] of Object.entries(words)) {
      for (const providerStatus of statuses) {
        for (const trialEndsAt of moments) {
          for (const endsAt of moments) {
            for (const [disputedAt, pausedAt] of [
              [null, null],
              [START, null],
              [null, START],
            ]) {
              const columns = {
                provider,
                providerStatus,
                trialEndsAt,
                endsAt,
                disputedAt,
                pausedAt,
              }
              await insert({ ...test, database: tx }, columns)
            }
          }
        }
      }
    }
  })
}

describe('billing.subscriptions()', () => {
  it('filters by status exactly like the method of Subscription with the same name', async () => {
    const test = await start('stripe')
    await insertCombinations(test)
    const suspending = { disputes: { access: 'suspend' }, pauses: { access: 'suspend' } } as const
    for (const billing of [test.billing, test.another(suspending)]) {
      const { all } = await listAll(billing, { limit: 1000 })
      expect(all).toHaveLength(14 * 4 * 4 * 3)
      for (const status of SUBSCRIPTION_STATUSES) {
        const { all: found } = await listAll(billing, { status, limit: 1000 })
        const expected = all.filter((each) => each[status]())
        expect([status, namesOf(found)]).toEqual([status, namesOf(expected)])
        expect(status === 'suspended' && billing === test.billing).toBe(found.length === 0)
      }
      const active = all.filter((each) => each.active())
      expect(await billing.countActive(test.sandbox.clock.now())).toBe(active.length)
    }
  })

  it('lists the newest subscriptions first, in pages that stay consistent while rows are added', async () => {
    const test = await start('stripe')
    for (const name of ['a', 'b', 'c', 'd', 'e']) await insert(test, { name })
    const first = await test.billing.subscriptions({ limit: 2 })
    expect(namesOf(first.subscriptions)).toEqual(['e', 'd'])
    await insert(test, { name: 'f' })
    const after = first.next ?? ''
    const second = await test.billing.subscriptions({ limit: 2, after })
    expect(namesOf(second.subscriptions)).toEqual(['c', 'b'])
    const last = await test.billing.subscriptions({ limit: 2, after: second.next ?? '' })
    expect([namesOf(last.subscriptions), last.next]).toEqual([['a'], null])
    expect((await listAll(test.billing, { limit: 3 })).pages).toBe(2)
    expect((await listAll(test.billing)).pages).toBe(1)
  })

  it('examines at most 10,000 subscriptions for one page if a filter cannot use an index, and finds the others on later pages', async () => {
    const test = await start('stripe')
    const { billing, database } = test
    await insert(test, { name: 'oldest', pausedAt: START })
    for (let count = 0; count < MAX_EXAMINED_SUBSCRIPTIONS; count += 500) {
      const batch = Array.from({ length: 500 }, () => newRow(test))
      await database.kysely.insertInto('subscriptions').values(batch).execute()
    }
    await insert(test, { name: 'newest', pausedAt: START })
    const first = await billing.subscriptions({ status: 'paused' })
    expect([namesOf(first.subscriptions), first.next]).toEqual([['newest'], expect.any(String)])
    const { all, pages } = await listAll(billing, { status: 'paused', price: 'monthly' })
    expect([namesOf(all), pages]).toEqual([['newest', 'oldest'], 2])
    const none = { subscriptions: [], next: expect.any(String) }
    expect(await billing.subscriptions({ provider: 'braintree' })).toEqual(none)
    expect(await billing.subscriptions({ status: 'pastDue' })).toEqual({ ...none, next: null })
  })

  it('returns an empty page if no subscription matches', async () => {
    const { billing } = await start('stripe')
    expect(await billing.subscriptions()).toEqual({ subscriptions: [], next: null })
  })

  it.each(PROVIDERS)(
    'can be limited to $provider, and returns subscriptions whose methods can be called',
    async (given) => {
      const { provider, card } = given
      const test = await start(provider)
      const { user, billing } = test
      await user.newSubscription('main', 'monthly').create(card)
      await user.newSubscription('other', 'yearly').create()
      const names = async (options: SubscriptionListOptions) =>
        namesOf((await billing.subscriptions(options)).subscriptions)
      expect(await names({ provider })).toEqual(['other', 'main'])
      expect(await names({ provider: provider === 'stripe' ? 'braintree' : 'stripe' })).toEqual([])
      expect(await names({ name: 'main' })).toEqual(['main'])
      expect(await names({ name: 'Main' })).toEqual([])
      expect(await names({ price: 'yearly' })).toEqual(['other'])
      expect(await names({ price: 'yearly', name: 'main' })).toEqual([])
      expect(await names({ ownerType: 'user' })).toEqual(['other', 'main'])
      const [found] = (await billing.subscriptions({ name: 'main' })).subscriptions
      await found?.cancel()
      expect(await names({ status: 'onGracePeriod' })).toEqual(['main'])
      expect(await names({ status: 'recurring' })).toEqual(['other'])
    },
  )

  it('finds a subscription by an additional price, and lists it only once', async () => {
    const test = await start('stripe')
    const { user, billing, sandbox } = test
    for (const id of ['seat', 'desk']) {
      sandbox.stripe.seedPrice({ id, unitAmount: 500, interval: 'month', product: id })
    }
    const builder = user.newSubscription('main', 'monthly').price('seat').price('desk')
    await builder.create('pm_card_visa')
    await user.newSubscription('plain', 'monthly').create()
    const { subscriptions } = await billing.subscriptions({ price: 'seat' })
    expect(namesOf(subscriptions)).toEqual(['main'])
    expect(subscriptions[0]?.hasPrice('desk')).toBe(true)
    const { subscriptions: all } = await billing.subscriptions({ price: 'monthly', limit: 2 })
    expect(namesOf(all)).toEqual(['plain', 'main'])
  })

  it.each(['integer', 'string'] as const)(
    'lists subscriptions of users and teams with ids of type %s',
    async (idType) => {
      const test = await startTeams('stripe', idType)
      const team = await createTeam(test, idType === 'integer' ? 1 : 'analysts')
      await test.user.newSubscription('own', 'monthly').create('pm_card_visa')
      await team.newSubscription('theirs', 'monthly').create('pm_card_visa')
      const { subscriptions } = await test.billing.subscriptions()
      expect(subscriptions.map(({ owner, name }) => [owner, name])).toEqual([
        [team.owner, 'theirs'],
        [test.user.owner, 'own'],
      ])
      for (const [ownerType, name] of [
        ['user', 'own'],
        ['team', 'theirs'],
      ] as const) {
        const page = await test.billing.subscriptions({ ownerType })
        expect(namesOf(page.subscriptions)).toEqual([name])
      }
    },
  )

  it('leaves out subscriptions whose owner was deleted or no longer has their customer', async () => {
    const test = await startTeams('stripe')
    await insert(test, { name: 'first' })
    await insert(test, { name: 'gone', owner: { type: 'user', id: 999 } })
    await insert(test, { name: 'unknown', providerCustomer: '' })
    await insert(test, { name: 'type', owner: { type: 'club', id: 1 } })
    await insert(test, { name: 'left', providerCustomer: 'cus_of_another' })
    await insert(test, { name: 'last' })
    expect(namesOf((await listAll(test.billing, { limit: 2 })).all)).toEqual(['last', 'first'])
    expect(namesOf(await test.user.subscriptions())).toEqual(['last', 'first'])
  })

  it.each([
    [{ limit: 0 }],
    [{ limit: 1001 }],
    [{ limit: 1.5 }],
    [{ after: '' }],
    [{ after: '1e3' }],
    [{ after: '-1' }],
    [{ status: 'valid' }],
    [{ status: 'constructor' }],
    [{ name: '' }],
    [{ price: 7 }],
    [{ ownerType: 'club' }],
  ])('rejects the invalid filter %o', async (options) => {
    const { billing } = await start('stripe')
    const asked = billing.subscriptions(options as SubscriptionListOptions)
    await expect(asked).rejects.toThrow(InvalidArgument)
  })

  it('names an invalid page token in the error, in single quotes', async () => {
    const { billing } = await start('stripe')
    const page = billing.subscriptions({ after: 'abc' })
    await expect(page).rejects.toThrow(/^after is 'abc'; expected the 'next' of an earlier page$/)
  })
})

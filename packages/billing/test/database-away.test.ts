import { renameSync } from 'node:fs'
import { connect, type Database, findDatabaseFile, isUnavailable } from '@tollgate/database'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startTcpProxy } from '../../../test-support/tcp-proxy.ts'
import {
  type BillableUser,
  type Billing,
  isBillingError,
  type Logger,
  type Subscription,
} from '../src/index.ts'
import { endAtProvider } from './signed-event.ts'
import { catchError } from './specification/no-calls.ts'
import {
  BASE_URL,
  countProviderSubscriptions,
  type FlowTest,
  start,
  sumChargedCents,
} from './support.ts'

const isServer = process.env.TEST_DATABASE !== 'sqlite'
const CARD = 'pm_card_visa'
const SECRET = 'whsec_away'

interface Outage {
  readonly database: Database
  takeAway(): Promise<void>
  bringBack(): Promise<void>
}

/**
 * A connection to the test's database that can be interrupted: by a proxy in front of a server, or
 * by moving SQLite's file.
 */
async function startOutage({ url, database }: FlowTest, how: 'cut' | 'stall'): Promise<Outage> {
  if (!isServer) {
    const path = findDatabaseFile(url) ?? ''
    const bringBack = async () => renameSync(`${path}.away`, path)
    return { database, takeAway: async () => renameSync(path, `${path}.away`), bringBack }
  }
  const proxy = await startTcpProxy(url)
  const cutOff = await connect(proxy.url, { poolSize: 3, timeout: 500 })
  onTestFinished(async () => {
    await proxy.heal()
    await cutOff.close()
    await proxy.close()
  })
  const takeAway = async () => (how === 'cut' ? proxy.cut() : proxy.stall())
  return { database: cutOff, takeAway, bringBack: () => proxy.heal() }
}

interface Things {
  readonly billing: Billing
  readonly user: BillableUser
  readonly subscription: Subscription
}

/** A call of every kind that uses the database. */
const CALLS: Readonly<Record<string, (things: Things) => Promise<unknown>>> = {
  'billing.user': ({ billing, user }) => billing.user(user.id),
  'billing.findUserByCustomer': ({ billing }) => billing.findUserByCustomer('stripe', 'cus_1'),
  'billing.sync': ({ billing }) => billing.sync(),
  'billing.countActive': ({ billing }) => billing.countActive(new Date()),
  'billing.countByPrice': ({ billing }) => billing.countByPrice(),
  'billing.subscriptions': ({ billing }) => billing.subscriptions(),
  'billing.migrate': ({ billing }) => billing.migrate(),
  'billing.process': ({ billing }) => billing.process(),
  'billing.purge': ({ billing }) => billing.purge(),
  'webhooks.pending': ({ billing }) => billing.webhooks.pending(),
  'events.deadLetters': ({ billing }) => billing.events.deadLetters(),
  'deliveries.list': ({ billing }) => billing.deliveries.list('dead'),
  'user.subscribed': ({ user }) => user.subscribed('main'),
  'user.subscription': ({ user }) => user.subscription('main'),
  'user.updateCard': ({ user }) => user.updateCard(CARD),
  'user.charge': ({ user }) => user.charge(1000, { idempotencyKey: 'away' }),
  'user.reportUsage': ({ user }) => user.reportUsage('calls', 1, { id: 'away' }),
  'create()': ({ user }) => user.newSubscription('other', 'monthly').create(),
  'checkout()': ({ user }) =>
    user.newSubscription('other', 'monthly').checkout({ successPath: '/done' }),
  'subscription.swap': ({ subscription }) => subscription.swap('pro'),
  'subscription.cancel': ({ subscription }) => subscription.cancel(),
}

describe.each(isServer ? (['cut', 'stall'] as const) : (['cut'] as const))(
  'billing while its database is unavailable (threat F2, failure: %s)',
  (how) => {
    it('throws DatabaseUnavailable from every call, and works again once the database is available', async () => {
      const test = await start('stripe', { webhooks: false })
      const outage = await startOutage(test, how)
      const billing = test.another({ database: outage.database, on: { 'invoice.paid': () => {} } })
      const user = await billing.user(test.user.id)
      const subscription = await user.newSubscription('main', 'monthly').create(CARD)
      await outage.takeAway()
      for (const [name, call] of Object.entries(CALLS)) {
        const error = await catchError(() => call({ billing, user, subscription }))
        expect(isBillingError(error, 'database_unavailable'), `${name}: ${error}`).toBe(true)
        expect(error, name).toMatchObject({ status: 503 })
        expect(error, name).toSatisfy(isUnavailable)
      }
      await outage.bringBack()
      await expect.poll(() => user.subscribed('main').catch(() => false)).toBe(true)
      expect([sumChargedCents(test, user), countProviderSubscriptions(test, user)]).toEqual([
        1000, 1,
      ])
    })

    it('responds 503 to webhooks, so that the provider retries them', async () => {
      const test = await start('stripe', { webhooks: false })
      const outage = await startOutage(test, how)
      const logged: unknown[] = []
      const logger: Logger = { error: (_message, error) => logged.push(error) }
      const { apiKey: secret, config } = test.sandbox.stripe
      const stripe = { secret, config, webhookSecret: SECRET }
      const billing = test.another({ database: outage.database, logger, stripe })
      const user = await billing.user(test.user.id)
      const { providerId } = await user.newSubscription('main', 'monthly').create(CARD)
      const { path, body, headers } = await endAtProvider(test, 'stripe', providerId, SECRET)
      const send = () =>
        billing.fetch(new Request(`${BASE_URL}${path}`, { method: 'POST', body, headers }))
      await outage.takeAway()
      const response = await send()
      expect([response.status, await response.json()]).toEqual([503, { error: 'unavailable' }])
      expect(response.headers.get('retry-after')).toBe('1')
      expect(logged.some((error) => isBillingError(error, 'database_unavailable'))).toBe(true)
      await outage.bringBack()
      await expect.poll(async () => (await send()).status).toBe(200)
      await billing.process()
      expect(await user.subscribed('main')).toBe(false)
    })

    it('logs DatabaseUnavailable when its workers cannot run', async () => {
      const test = await start('stripe', { webhooks: false })
      const outage = await startOutage(test, how)
      const logged: unknown[] = []
      const logger: Logger = { error: (_message, error) => logged.push(error) }
      const billing = test.another({ database: outage.database, logger, processEvery: 1 })
      await billing.ready()
      await outage.takeAway()
      await expect
        .poll(() => logged.some((error) => isBillingError(error, 'database_unavailable')), {
          timeout: 20_000,
        })
        .toBe(true)
      await outage.bringBack()
    })

    it('finds a subscription that the provider created during the outage when create() is called again', async () => {
      const test = await start('stripe', { webhooks: false })
      const outage = await startOutage(test, how)
      // The lock of the interrupted call expires after a second.
      const billing = test.another({ database: outage.database, lockLease: 1 })
      const user = await billing.user(test.user.id)
      await user.updateCard(CARD)
      // Delay the provider's response, so that the database is gone by the time it arrives.
      test.sandbox.trouble.failNext(20, { slowMs: 500 }, 'stripe')
      const making = catchError(() => user.newSubscription('main', 'monthly').create())
      await expect.poll(() => countProviderSubscriptions(test, user)).toBe(1)
      await outage.takeAway()
      expect(isBillingError(await making, 'database_unavailable')).toBe(true)
      await outage.bringBack()
      await expect
        .poll(() =>
          billing.user(user.id).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true)
      const again = await user.newSubscription('main', 'monthly').create()
      expect(again.valid()).toBe(true)
      expect([sumChargedCents(test, user), countProviderSubscriptions(test, user)]).toEqual([
        1000, 1,
      ])
    })
  },
)

describe('a transaction of the application whose database becomes unavailable', () => {
  it.runIf(isServer)(
    'makes reportUsage() in that transaction throw DatabaseUnavailable',
    async () => {
      const test = await start('stripe', { webhooks: false })
      const outage = await startOutage(test, 'cut')
      const billing = test.another({ database: outage.database })
      const user = await billing.user(test.user.id)
      let reported: unknown
      const work = outage.database.transaction(async (transaction) => {
        await outage.takeAway()
        reported = await catchError(() => user.reportUsage('calls', 1, { id: 'away', transaction }))
      })
      await work.catch(() => undefined)
      expect(isBillingError(reported, 'database_unavailable')).toBe(true)
    },
  )
})

import type { Database } from '@tollgate/database'
import type { KyselyPlugin } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../../../../test-support/create-test-database.ts'
import { SECRET, startReceiver } from '../../../../../../test-support/webhook-receiver.ts'
import { billingTables, start } from '../../../../test/support.ts'

/**
 * Runs another call between the check whether an endpoint is held back, and the write that follows.
 */
function interruptible(database: Database) {
  let between: (() => Promise<unknown>) | null = null
  const looks = new WeakSet<object>()
  const plugin: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      const asks = JSON.stringify(node)
      const isLook = asks.includes('billing_deliveries') && asks.includes('"gone"')
      if (node.kind === 'SelectQueryNode' && isLook) looks.add(queryId)
      return node
    },
    async transformResult({ result, queryId }) {
      const interrupt = looks.has(queryId) ? between : null
      if (interrupt) between = null
      await interrupt?.()
      return result
    },
  }
  // Billing derives its own database from this one, so the plugin is added to all of them.
  const everyDatabase = Object.getPrototypeOf(database)
  const { get = fail } = Object.getOwnPropertyDescriptor(everyDatabase, 'kysely') ?? fail()
  const withPlugin = {
    get(this: Database) {
      return get.call(this).withPlugin(plugin)
    },
    configurable: true,
  }
  Object.defineProperty(everyDatabase, 'kysely', withPlugin)
  onTestFinished(
    () => void Object.defineProperty(everyDatabase, 'kysely', { get, configurable: true }),
  )
  return {
    interrupt(by: () => Promise<unknown>) {
      between = by
    },
    wasInterrupted: () => between === null,
  }
}

function fail(): never {
  throw new Error('A database has no kysely any more')
}

/** Starts billing whose endpoint has responded with 410 Gone, with one delivery held back. */
async function startHeld() {
  const receiver = await startReceiver()
  onTestFinished(receiver.close)
  const types = ['subscription.created'] as const
  const endpoints = [{ url: receiver.url, secret: SECRET, types, name: 'the shop' }]
  const created = await createTestDatabase({ template: billingTables })
  onTestFinished(created.drop)
  const { database } = created
  const looking = interruptible(database)
  const test = await start('stripe', {
    database,
    deliveries: { endpoints, privateAddresses: ['127.0.0.1'] },
  })
  const subscribe = async () => {
    const user = await test.createUser()
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await test.settle()
    await test.billing.process()
  }
  receiver.answer(410)
  await subscribe()
  receiver.answer(200)
  const gone = () => test.billing.deliveries.list('gone')
  expect(await gone()).toHaveLength(1)
  return { ...test, ...looking, receiver, subscribe, gone }
}

it('a webhook endpoint stays enabled when an event is added while resendAll() sends the events that were held back (threat W7)', async () => {
  const test = await startHeld()
  const { receiver, billing } = test
  test.interrupt(() => billing.deliveries.resendAll('the shop'))
  await test.subscribe()
  expect(test.wasInterrupted()).toBe(true)
  expect(await test.gone()).toEqual([])
  await test.subscribe()
  expect(await test.gone()).toEqual([])
  expect(new Set(receiver.ids()).size).toBe(3)
})

it('a webhook endpoint that was paused after a 410 Gone stays paused when its old deliveries are deleted (threat W7)', async () => {
  const test = await startHeld()
  const { receiver, billing, sandbox } = test
  await test.subscribe()
  await test.subscribe()
  expect(await test.gone()).toHaveLength(3)
  await sandbox.clock.advance({ days: 50 })
  expect(await billing.purge({ before: sandbox.clock.now() })).toMatchObject({ deliveries: 2 })
  await test.subscribe()
  expect(await test.gone()).toHaveLength(2)
  expect(receiver.received).toHaveLength(1)
  expect(await billing.deliveries.resendAll('the shop')).toBe(2)
  await billing.process()
  expect(new Set(receiver.ids()).size).toBe(3)
})

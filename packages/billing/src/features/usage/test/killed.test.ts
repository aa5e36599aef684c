import { describe, expect, it } from 'vitest'
import { startChild } from '../../../../test/child-process.ts'
import {
  LONG_TEST_TIMEOUT,
  runAndKill,
  tryEveryPoint,
  tryOneByOne,
} from '../../../../test/killed/every-point.ts'
import { subscriptionJob, userJob } from '../../../../test/killed/story.ts'
import { start, sumChargedCents } from '../../../../test/support.ts'
import type { BillableUser } from '../../../index.ts'
import { declineUsageCharge, makeOtherCardDefault } from './charged.ts'
import { type MeteredTest, startWithMeter } from './support.ts'

const rows = ({ database }: MeteredTest, userId: string | number) =>
  database.kysely
    .selectFrom('billing_usage')
    .select('state')
    .where('owner_id', '=', String(userId))
    .execute()

describe('metered usage', () => {
  it(
    'is counted once at Stripe, at whichever step the process is killed (threat W5)',
    LONG_TEST_TIMEOUT,
    async () => {
      const test = await startWithMeter()
      const { billing, sandbox, user } = test
      let times = 0
      const steps = await tryOneByOne(async (stopAt) => {
        const id = `job-${++times}`
        const job = { job: 'use', userId: user.id, id, stopAt } as const
        const { outcome, at } = await runAndKill(test, 'stripe', job)
        // The application got no response and repeats the call. Reports that the dead process had
        // claimed are sent later.
        await user.reportUsage('calls', 5, { id })
        await sandbox.clock.advance({ minutes: 11 })
        await billing.process()
        const counted = [await test.counted(), await rows(test, user.id)]
        expect(counted, at).toEqual([
          String(5 * times),
          Array.from({ length: times }, () => ({ state: 'sent' })),
        ])
        return outcome
      })
      expect(steps.some((step) => /insert/.test(step))).toBe(true)
      expect(steps.some((step) => /POST .*meter_events/.test(step))).toBe(true)
    },
  )

  it(
    'is charged once at Braintree, no matter at which step the process is killed (threat W5)',
    LONG_TEST_TIMEOUT,
    async () => {
      const metered = { calls: { unitAmount: 5 } }
      const test = await start('braintree', { webhooks: false, metered, lockLease: 1 })
      const { billing, sandbox } = test
      const steps = await tryOneByOne(async (stopAt) => {
        const user = await test.createUser()
        await user.newSubscription('main', 'monthly').create(sandbox.braintree.createNonce())
        await user.reportUsage('calls', 10)
        await billing.process()
        await sandbox.clock.advance({ months: 1 })
        await sandbox.clock.advance({ hours: 2 })
        const before = sumChargedCents(test, user)
        const job = { job: 'chargeUsage', userId: user.id, stopAt } as const
        const { outcome, at } = await runAndKill(test, 'braintree', job)
        await sandbox.clock.advance({ minutes: 11 })
        await billing.process()
        expect(sumChargedCents(test, user) - before, at).toBe(50)
        expect(await billing.usage.pending()).toEqual([])
        const open = await test.database.kysely
          .selectFrom('billing_operations')
          .selectAll()
          .execute()
        expect(open).toEqual([])
        return outcome
      })
      expect(steps.some((step) => /insert/.test(step))).toBe(true)
      expect(steps.some((step) => /POST .*transactions/.test(step))).toBe(true)
    },
  )

  it.each<[string, readonly unknown[]]>([
    ['sync', []],
    ['updateCard', ['fake-valid-amex-nonce']],
  ])(
    'is charged once to another card if it is unpaid at Braintree, at whichever step of %s() the process is killed (threat W5)',
    LONG_TEST_TIMEOUT,
    async (method, args) => {
      const test = await start('braintree', {
        webhooks: false,
        metered: { calls: { unitAmount: 5 } },
        lockLease: 1,
      })
      const { billing, sandbox } = test
      // Each worker that is woken processes the due usage of all users.
      const steps = await tryOneByOne(async (stopAt) => {
        const user = await test.createUser()
        await user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
        await declineUsageCharge({ ...test, user })
        await makeOtherCardDefault({ sandbox, user })
        const job = { userId: user.id, ...userJob(method, ...args), stopAt }
        const { outcome, at } = await runAndKill(test, 'braintree', job)
        await (await billing.user(user.id)).sync()
        // The dead process may have claimed the debt already, so its lease must run out first.
        await sandbox.clock.advance({ minutes: 11 })
        await billing.process()
        expect(sumChargedCents(test, user), at).toBe(2000 + 50)
        return outcome
      })
      expect(steps.some((step) => /update/.test(step))).toBe(true)
    },
  )

  it(
    'is billed once when the subscription ends, no matter at which step the process is killed (threat W5)',
    LONG_TEST_TIMEOUT,
    async () => {
      const test = await startWithMeter({ lockLease: 1 })
      const { billing, database, sandbox } = test
      const calls = await test.price({ unit_amount: 5 })
      const steps = await tryEveryPoint(test, 'stripe', {
        async prepare(count) {
          const users: BillableUser[] = []
          for (let i = 0; i < count; i++) {
            const user = await test.createUser()
            await user.updateCard('pm_card_visa')
            await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
            await database.transaction((transaction) =>
              user.reportUsage('calls', 10, { id: 'job', transaction }),
            )
            users.push(user)
          }
          await sandbox.clock.advance({ minutes: 1 })
          return users
        },
        jobOf: ({ id: userId }) => ({
          userId,
          ...subscriptionJob('cancelNow', { invoiceNow: true }),
        }),
        async afterwards(user, at) {
          const again = await (await billing.user(user.id)).subscription('main')
          await again.cancelNow({ invoiceNow: true })
          expect(sumChargedCents(test, user), at).toBe(1000 + 50)
        },
      })
      expect(steps.some((step) => /POST .*meter_events/.test(step))).toBe(true)
      expect(steps.some((step) => /DELETE .*subscriptions/.test(step))).toBe(true)
    },
  )

  it(
    'is counted once if four processes make twenty reports with the same id',
    LONG_TEST_TIMEOUT,
    async () => {
      const test = await startWithMeter()
      const { id: userId } = test.user
      const children = await Promise.all(
        [1, 2, 3, 4].map(() => startChild(test, 'stripe', { lockLease: 15 })),
      )
      const outcomes = await Promise.all(
        children.map((child) =>
          child.begin({ job: 'use', userId, id: 'job-1', times: 5 }).outcome(),
        ),
      )
      expect(outcomes.map(({ failed }) => failed)).toEqual(outcomes.map(() => undefined))
      await test.billing.process()
      expect(await test.counted()).toBe('5')
      expect(await rows(test, userId)).toEqual([{ state: 'sent' }])
    },
  )
})

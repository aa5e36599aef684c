import assert from 'node:assert/strict'
import { type ContractPart, openAccount } from './part.ts'

const DAY = 86_400_000

/** Ends of subscriptions and of trials on any day, where the provider has them. */
export const datesContract: ContractPart = ({ describe, it }, create) => {
  describe('a date', () => {
    it('ends a subscription, where any day may be its last', async () => {
      const account = await openAccount(create)
      const { gateway } = account
      if (!gateway.endDates) return
      const { id } = await account.subscribe()
      const at = wholeSecond(account.now().getTime() + 50 * DAY)
      for (let i = 0; i < 2; i++) await gateway.endDates.set(id, at, { prorate: false })
      assert.deepEqual((await account.read(id)).endsAt, at)
      await gateway.resume(id)
      assert.equal((await account.read(id)).endsAt, null)
    })

    it('ends a trial, where that can be moved', async () => {
      const account = await openAccount(create)
      const { trials } = account.gateway
      if (!trials) return
      const { id } = await account.subscribe({ trialDays: 9 })
      const at = wholeSecond(account.now().getTime() + 20 * DAY)
      for (let i = 0; i < 2; i++) await trials.setEnd(id, at)
      assert.deepEqual((await account.read(id)).trialEndsAt, at)
      for (let i = 0; i < 2; i++) await trials.setEnd(id, 'now')
      const { trialEndsAt, status } = await account.read(id)
      assert.ok(trialEndsAt && trialEndsAt <= account.now(), `It is ${status}`)
    })
  })
}

function wholeSecond(time: number): Date {
  return new Date(Math.floor(time / 1000) * 1000)
}

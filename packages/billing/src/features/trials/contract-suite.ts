import assert from 'node:assert/strict'
import {
  type ContractPart,
  daysFromNow,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'

/** Contract tests of extending and ending trials, for gateways that implement `trials`. */
export const defineTrialsContract: ContractPart = ({ describe, it }, create) => {
  describe('the end of a trial', () => {
    it('can be moved to a date and to now, if the gateway supports it', async () => {
      const account = await openContractTestAccount(create)
      const { trials } = account.gateway
      if (!trials) return
      const { id } = await account.subscribe({ trialDays: 9 })
      const at = daysFromNow(account, 20)
      for (let i = 0; i < 2; i++) await trials.setEnd(id, at)
      assert.deepEqual((await account.read(id)).trialEndsAt, at)
      for (let i = 0; i < 2; i++) await trials.setEnd(id, 'now')
      const { trialEndsAt, status } = await account.read(id)
      assert.ok(trialEndsAt && trialEndsAt <= account.now(), `It is ${status}`)
    })
  })
}

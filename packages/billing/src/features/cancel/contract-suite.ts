import assert from 'node:assert/strict'
import {
  type ContractPart,
  daysFromNow,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'

/** Contract tests of end dates, for gateways that can end a subscription on any day. */
export const defineEndDatesContract: ContractPart = ({ describe, it }, create) => {
  describe('the end date of a subscription', () => {
    it('is set once when the call is repeated, and removed by resume(), for gateways with end dates', async () => {
      const account = await openContractTestAccount(create)
      const { gateway } = account
      if (!gateway.endDates) return
      const { id } = await account.subscribe()
      const at = daysFromNow(account, 50)
      for (let i = 0; i < 2; i++) await gateway.endDates.set(id, at, { prorate: false })
      assert.deepEqual((await account.read(id)).endsAt, at)
      await gateway.resume(id)
      assert.equal((await account.read(id)).endsAt, null)
    })
  })
}

import assert from 'node:assert/strict'
import { type ContractPart, openContractTestAccount } from '../../providers/contract-suite.ts'

/**
 * Contract tests of disputes (chargebacks), for gateways that report them, in test accounts that
 * can create one.
 */
export const defineDisputesContract: ContractPart = ({ describe, it }, create) => {
  describe('a dispute of a charge', () => {
    it('names the customer of the disputed charge, for gateways with disputes', async () => {
      const account = await openContractTestAccount(create)
      const { disputes } = account.gateway
      if (!disputes || !account.disputeNewestCharge) return
      const { id: subscriptionId } = await account.subscribe()
      const id = await account.disputeNewestCharge(account.customerId)
      const found = await disputes.find(id)
      assert.equal(found?.id, id)
      assert.equal(found.status, 'open')
      assert.equal(found.customerId, account.customerId)
      assert.equal(found.subscriptionId, subscriptionId)
      assert.equal(found.amount.currency, account.currency)
      assert.ok(found.amount.amount > 0)
      assert.equal(await disputes.find('no-such-dispute'), null)
    })
  })
}

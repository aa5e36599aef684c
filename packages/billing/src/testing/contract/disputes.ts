import assert from 'node:assert/strict'
import { type ContractPart, openAccount } from './part.ts'

/** Charges that were asked back, where the provider tells of them and the account can have one. */
export const disputesContract: ContractPart = ({ describe, it }, create) => {
  describe('a dispute', () => {
    it('says whose charge it is about, where there are disputes', async () => {
      const account = await openAccount(create)
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

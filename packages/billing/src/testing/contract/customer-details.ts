import assert from 'node:assert/strict'
import { type ContractPart, openAccount } from './part.ts'

/** Of a gateway with the part `customerDetails`. */
export const customerDetailsContract: ContractPart = ({ describe, it }, create) => {
  describe('what is known of a customer', () => {
    it('can be changed and set again, and the card stays', async () => {
      const { gateway, customerId } = await openAccount(create)
      if (!gateway.customerDetails) return
      const before = await gateway.findCustomer(customerId)
      const details = { email: 'king@example.com', name: 'Ada King' }
      for (let i = 0; i < 2; i++) await gateway.customerDetails.set(customerId, details)
      await gateway.customerDetails.set(customerId, { phone: '123' })
      const after = await gateway.findCustomer(customerId)
      assert.deepEqual(after?.card, before?.card)
      assert.equal(after?.hasPaymentMethod, true)
    })
  })
}

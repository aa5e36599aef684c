import assert from 'node:assert/strict'
import { NO_CARD } from '../../core/values/card.ts'
import {
  type ContractPart,
  catchErrorCode,
  createOperationId,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'

const owner = { type: 'user', id: 2 }
const details = { email: 'bob@example.com', name: 'Bob' }

/** Contract tests of customers and their cards. */
export const defineCustomersContract: ContractPart = ({ describe, it }, create) => {
  describe('a customer', () => {
    it('starts without a card and without payments', async () => {
      const { gateway } = await openContractTestAccount(create)
      const made = await gateway.createCustomer({ owner, details, operation: createOperationId() })
      assert.deepEqual(made.card, NO_CARD)
      assert.equal(made.hasPaymentMethod, false)
      assert.equal((await gateway.findCustomer(made.id))?.id, made.id)
      assert.equal(await gateway.hasPaid(made.id), false)
      assert.deepEqual(await gateway.listSubscriptions(made.id), [])
    })

    it('is created once when its operation is repeated', async () => {
      const { gateway } = await openContractTestAccount(create)
      const wanted = { owner, details, operation: createOperationId() }
      const first = await gateway.createCustomer(wanted)
      assert.equal((await gateway.createCustomer(wanted)).id, first.id)
      const other = await gateway.createCustomer({ ...wanted, operation: createOperationId() })
      assert.notEqual(other.id, first.id)
    })

    it('keeps its card when it is assigned to another owner, for gateways that store owners', async () => {
      const { gateway, customerId } = await openContractTestAccount(create)
      const before = await gateway.findCustomer(customerId)
      for (const each of [owner, owner]) await gateway.setOwner?.(customerId, each)
      assert.deepEqual((await gateway.findCustomer(customerId))?.card, before?.card)
    })

    it('is null if the provider does not know the id', async () => {
      const { gateway } = await openContractTestAccount(create)
      assert.equal(await gateway.findCustomer('none-of-ours'), null)
    })

    it('has the card that was set last, even if it is set twice', async () => {
      const { gateway, customerId, cards } = await openContractTestAccount(create)
      const first = await gateway.findCustomer(customerId)
      assert.equal(first?.hasPaymentMethod, true)
      const second = await gateway.setCard(customerId, cards[1])
      assert.notDeepEqual(second.card, first.card)
      assert.deepEqual((await gateway.setCard(customerId, cards[1])).card, second.card)
      assert.deepEqual((await gateway.findCustomer(customerId))?.card, second.card)
    })

    it('gets the error payment_failed if its card is declined', async () => {
      const { gateway, customerId, declinedCard, currency } = await openContractTestAccount(create)
      const pay = async () => {
        await gateway.setCard(customerId, declinedCard)
        await gateway.charge(customerId, { amount: 1000, currency }, {})
      }
      assert.equal(await catchErrorCode(pay), 'payment_failed')
      assert.equal(await gateway.hasPaid(customerId), false)
    })
  })
}

/** Contract tests of changes to customer details, for gateways that implement `customerDetails`. */
export const defineCustomerDetailsContract: ContractPart = ({ describe, it }, create) => {
  describe('the details of a customer', () => {
    it('can be changed repeatedly, and leave the card unchanged', async () => {
      const { gateway, customerId } = await openContractTestAccount(create)
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

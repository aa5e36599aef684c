import assert from 'node:assert/strict'
import { NO_CARD } from '../../values/card.ts'
import { type ContractPart, codeOf, newOperation, openAccount } from './part.ts'

const owner = { type: 'user', id: 2 }
const details = { email: 'bob@example.com', name: 'Bob' }

/** Customers and their cards. */
export const customersContract: ContractPart = ({ describe, it }, create) => {
  describe('a customer', () => {
    it('begins without a card, and has paid nothing', async () => {
      const { gateway } = await openAccount(create)
      const made = await gateway.createCustomer({ owner, details, operation: newOperation() })
      assert.deepEqual(made.card, NO_CARD)
      assert.equal(made.hasPaymentMethod, false)
      assert.equal((await gateway.findCustomer(made.id))?.id, made.id)
      assert.equal(await gateway.hasPaid(made.id), false)
      assert.deepEqual(await gateway.listSubscriptions(made.id), [])
    })

    it('is the same one when its operation is repeated', async () => {
      const { gateway } = await openAccount(create)
      const wanted = { owner, details, operation: newOperation() }
      const first = await gateway.createCustomer(wanted)
      assert.equal((await gateway.createCustomer(wanted)).id, first.id)
      const other = await gateway.createCustomer({ ...wanted, operation: newOperation() })
      assert.notEqual(other.id, first.id)
    })

    it('is named after another owner, where the provider keeps that, and stays as it is', async () => {
      const { gateway, customerId } = await openAccount(create)
      const before = await gateway.findCustomer(customerId)
      for (const each of [owner, owner]) await gateway.setOwner?.(customerId, each)
      assert.deepEqual((await gateway.findCustomer(customerId))?.card, before?.card)
    })

    it('that nobody made is null', async () => {
      const { gateway } = await openAccount(create)
      assert.equal(await gateway.findCustomer('none-of-ours'), null)
    })

    it('shows the card that was given last; giving it again changes nothing', async () => {
      const { gateway, customerId, cards } = await openAccount(create)
      const first = await gateway.findCustomer(customerId)
      assert.equal(first?.hasPaymentMethod, true)
      const second = await gateway.setCard(customerId, cards[1])
      assert.notDeepEqual(second.card, first.card)
      assert.deepEqual((await gateway.setCard(customerId, cards[1])).card, second.card)
      assert.deepEqual((await gateway.findCustomer(customerId))?.card, second.card)
    })

    it('whose card is refused is told so by payment_failed', async () => {
      const { gateway, customerId, declinedCard, currency } = await openAccount(create)
      const pay = async () => {
        await gateway.setCard(customerId, declinedCard)
        await gateway.charge(customerId, { amount: 1000, currency }, {})
      }
      assert.equal(await codeOf(pay), 'payment_failed')
      assert.equal(await gateway.hasPaid(customerId), false)
    })
  })
}

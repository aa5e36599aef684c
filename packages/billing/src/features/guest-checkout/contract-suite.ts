import assert from 'node:assert/strict'
import {
  type ContractPart,
  createOperationId,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'
import type { NewGuestCheckout } from './contract.ts'

/**
 * Contract tests of hosted checkout pages for guests, for gateways that implement `guestCheckout`.
 */
export const defineGuestCheckoutContract: ContractPart = ({ describe, it }, create) => {
  describe('a hosted page for a guest', () => {
    it('is created once per key and has no customer, for gateways with guest pages', async () => {
      const { gateway, prices } = await openContractTestAccount(create)
      const { guestCheckout, checkout } = gateway
      if (!guestCheckout) return
      assert.ok(
        checkout,
        'A gateway with `guestCheckout` also needs `checkout`, which finds its pages',
      )
      const wanted = page(prices[0])
      const made = await guestCheckout.create(wanted)
      assert.deepEqual([made.status, made.customerId, made.owner], ['open', null, 'guest'])
      assert.ok(made.url && URL.canParse(made.url))
      assert.equal((await guestCheckout.create(wanted)).id, made.id)
      const other = await guestCheckout.create({ ...wanted, key: createOperationId() })
      assert.notEqual(other.id, made.id)
      assert.equal((await checkout.find(made.id))?.owner, 'guest')
    })
  })
}

function page(price: string): NewGuestCheckout {
  return {
    mode: 'subscription',
    owner: 'guest',
    lines: [{ price, quantity: 1, adjustable: null }],
    subscription: { name: 'main', trialDays: null, trialEndsAt: null, withoutCard: false },
    discount: null,
    allowsCodes: false,
    tax: 0,
    collectsTaxId: false,
    collectsAddress: false,
    successUrl: 'https://app.example.com/done',
    successPath: '/done',
    cancelUrl: null,
    locale: null,
    metadata: {},
    key: createOperationId(),
  }
}

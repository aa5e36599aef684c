import assert from 'node:assert/strict'
import {
  type ContractPart,
  type ContractTestAccount,
  createOperationId,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'
import type { CheckoutPages, NewCheckout } from './contract.ts'

/** Contract tests of hosted checkout pages, for gateways that implement `checkout`. */
export const defineCheckoutContract: ContractPart = ({ describe, it }, create) => {
  const onPages = (
    name: string,
    body: (pages: CheckoutPages, account: ContractTestAccount) => Promise<void>,
  ) =>
    it(`${name}, for gateways with hosted pages`, async () => {
      const account = await openContractTestAccount(create)
      const { checkout } = account.gateway
      if (checkout) await body(checkout, account)
    })

  describe('a hosted page', () => {
    onPages('is created once per operation', async (pages, account) => {
      const wanted = page(account)
      const made = await pages.create(wanted)
      const { url } = made
      assert.equal(made.status, 'open')
      assert.ok(url && URL.canParse(url), `${url} is not a URL`)
      assert.equal((await pages.create(wanted)).id, made.id)
      const other = await pages.create({ ...wanted, operation: createOperationId() })
      assert.notEqual(other.id, made.id)
    })

    onPages('is found by its id and by its operation', async (pages, account) => {
      const wanted = page(account)
      const { id } = await pages.create(wanted)
      const found = (await pages.find(id)) ?? assert.fail(`There is no page ${id}`)
      const { customerId, owner, successPath, operation } = wanted
      assert.equal(found.customerId, customerId)
      assert.equal(found.owner, owner)
      assert.equal(found.successPath, successPath)
      assert.equal(found.subscriptionId, null)
      assert.equal((await pages.findByOperation(operation, customerId))?.id, id)
      assert.equal(await pages.findByOperation(createOperationId(), customerId), null)
      assert.equal(await pages.find(`${id}0`), null)
    })

    onPages('can be expired repeatedly', async (pages, account) => {
      const { id } = await pages.create(page(account))
      await pages.expire(id)
      await pages.expire(id)
      assert.equal((await pages.find(id))?.status, 'expired')
    })
  })
}

function page({ customerId, prices }: ContractTestAccount): NewCheckout {
  return {
    mode: 'subscription',
    customerId,
    owner: 'user:1',
    lines: [{ price: prices[0], quantity: 1, adjustable: null }],
    subscription: { name: 'main', trialDays: null, trialEndsAt: null, withoutCard: false },
    discount: null,
    allowsCodes: false,
    tax: 0,
    collectsTaxId: false,
    collectsAddress: false,
    successUrl: 'https://app.example.com/billing/checkout/return',
    successPath: '/done',
    cancelUrl: null,
    locale: null,
    metadata: {},
    operation: createOperationId(),
  }
}

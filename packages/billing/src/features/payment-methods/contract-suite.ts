import assert from 'node:assert/strict'
import {
  type ContractPart,
  catchErrorCode,
  createAnotherCustomer,
  createCapabilityTests,
} from '../../providers/contract-suite.ts'

/** Contract tests of payment methods, for gateways that store several per customer. */
export const definePaymentMethodsContract: ContractPart = ({ describe, it }, create) => {
  const onMethods = createCapabilityTests(
    'paymentMethods',
    'for gateways with payment methods',
    { it },
    create,
  )

  describe('a payment method', () => {
    onMethods('is added once, and leaves the default alone', async (methods, account) => {
      const { customerId, cards } = account
      const [first, ...none] = await methods.list(customerId)
      assert.deepEqual(none, [])
      assert.equal(first?.isDefault, true)
      const added = await methods.add(customerId, cards[1])
      assert.equal(added.isDefault, false)
      assert.equal((await methods.add(customerId, cards[1])).id, added.id)
      const all = await methods.list(customerId)
      assert.deepEqual(idsOf(all).sort(), [added.id, first.id].sort())
      assert.deepEqual(idsOf(all.filter(({ isDefault }) => isDefault)), [first.id])
    })

    onMethods('can be made the default, also of subscriptions', async (methods, account) => {
      const { customerId, cards, gateway } = account
      await account.subscribe()
      const [first] = await methods.list(customerId)
      const { id } = await methods.add(customerId, cards[1])
      assert.equal(await methods.isInUse(customerId, first?.id ?? ''), true)
      assert.equal(await methods.isInUse(customerId, id), false)
      for (let i = 0; i < 2; i++) {
        const { card } = await methods.setDefault(customerId, id)
        assert.deepEqual((await gateway.findCustomer(customerId))?.card, card)
      }
      assert.equal(await methods.isInUse(customerId, id), true)
      assert.equal(await methods.isInUse(customerId, first?.id ?? ''), false)
    })

    onMethods('can be removed repeatedly', async (methods, account) => {
      const { customerId, cards } = account
      const { id } = await methods.add(customerId, cards[1])
      for (let i = 0; i < 2; i++) await methods.remove(customerId, id)
      assert.equal((await methods.list(customerId)).length, 1)
      assert.equal(await catchErrorCode(() => methods.setDefault(customerId, id)), NOT_FOUND)
    })

    onMethods('cannot be changed by another customer', async (methods, { customerId, gateway }) => {
      const bob = await createAnotherCustomer({ gateway })
      const before = await methods.list(customerId)
      const id = before[0]?.id ?? ''
      await methods.remove(bob.id, id)
      assert.equal(await catchErrorCode(() => methods.setDefault(bob.id, id)), NOT_FOUND)
      assert.equal(await catchErrorCode(() => methods.add(bob.id, id)), 'invalid_payment_token')
      assert.equal(await methods.isInUse(bob.id, id), false)
      assert.deepEqual(await methods.list(bob.id), [])
      assert.deepEqual(idsOf(await methods.list(customerId)), idsOf(before))
    })
  })
}

const NOT_FOUND = 'payment_method_not_found'

function idsOf(methods: readonly { readonly id: string }[]): string[] {
  return methods.map(({ id }) => id)
}

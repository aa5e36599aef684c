import assert from 'node:assert/strict'
import {
  type ContractPart,
  createCapabilityTests,
  createOperationId,
} from '../../providers/contract-suite.ts'

/** Contract tests of customer balances, for gateways that implement `balance`. */
export const defineBalanceContract: ContractPart = ({ describe, it }, create) => {
  const onBalance = createCapabilityTests('balance', 'for gateways with balances', { it }, create)

  describe('a balance', () => {
    onBalance(
      'is changed once by repeated calls with the same idempotency key',
      async (balance, { customerId, currency }) => {
        assert.equal((await balance.read(customerId)).amount, 0)
        const gift = {
          amount: { amount: 700, currency },
          description: 'Welcome',
          isGift: true,
          key: createOperationId(),
        }
        const made = await balance.add(customerId, gift)
        assert.deepEqual(made.amount, gift.amount)
        assert.equal(made.isGift, true)
        assert.equal(made.description, 'Welcome')
        assert.equal((await balance.add(customerId, gift)).id, made.id)
        assert.equal((await balance.findByKey(customerId, gift.key))?.id, made.id)
        assert.equal(await balance.findByKey(customerId, createOperationId()), null)
        assert.deepEqual(await balance.read(customerId), gift.amount)
      },
    )

    onBalance('lists its entries, newest first', async (balance, { customerId, currency }) => {
      for (const amount of [700, -200]) {
        const entry = { amount: { amount, currency }, description: null, isGift: false }
        await balance.add(customerId, { ...entry, key: createOperationId() })
      }
      const [newest, oldest, ...others] = await balance.list(customerId, null)
      assert.deepEqual(others, [])
      assert.equal(newest?.amount.amount, -200)
      assert.equal(newest.balance.amount, 500)
      assert.equal(oldest?.amount.amount, 700)
      assert.equal((await balance.list(customerId, 1))[0]?.id, newest.id)
    })
  })
}

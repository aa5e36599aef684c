import assert from 'node:assert/strict'
import {
  type ContractPart,
  type ContractTestAccount,
  catchErrorCode,
  createOperationId,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'
import type { PaymentCaptures } from './contract.ts'

/** Contract tests of authorized payments, for gateways that can capture them later. */
export const defineCapturesContract: ContractPart = ({ describe, it }, create) => {
  const onCaptures = (
    name: string,
    body: (captures: PaymentCaptures, id: string, account: ContractTestAccount) => Promise<void>,
  ) =>
    it(`${name}, for gateways with authorizations`, async () => {
      const account = await openContractTestAccount(create)
      const { captures } = account.gateway
      if (captures) await body(captures, await authorize(account), account)
    })

  describe('an authorized charge', () => {
    onCaptures('reserves the amount and takes nothing', async (captures, id, account) => {
      const { customerId, currency, now } = account
      const found = (await captures.find(id, customerId)) ?? assert.fail(`There is no ${id}`)
      assert.deepEqual([found.id, found.status], [id, 'authorized'])
      assert.deepEqual(found.authorized, { amount: 1000, currency })
      assert.deepEqual(found.captured, { amount: 0, currency })
      assert.ok(found.expiresAt === null || found.expiresAt > now())
    })

    onCaptures(
      'is captured once, in part, and ignores later captures and releases',
      async (captures, id, { customerId, currency }) => {
        const part = { amount: 400, currency }
        const made = await captures.capture(id, part)
        assert.equal(made.status, 'captured')
        assert.deepEqual(made.captured, part)
        assert.deepEqual(made.authorized, { amount: 1000, currency })
        const again = await captures.capture(id, { amount: 600, currency })
        assert.deepEqual(again.captured, part)
        assert.deepEqual((await captures.release(id)).captured, part)
        assert.equal((await captures.find(id, customerId))?.status, 'captured')
      },
    )

    onCaptures('cannot be captured after it was released', async (captures, id, { currency }) => {
      assert.equal((await captures.release(id)).status, 'released')
      assert.equal((await captures.release(id)).status, 'released')
      const now = await captures.capture(id, { amount: 1000, currency })
      assert.equal(now.status, 'released')
      assert.deepEqual(now.captured, { amount: 0, currency })
    })

    onCaptures(
      'refuses to capture more than the authorized amount',
      async (captures, id, { customerId, currency }) => {
        const code = await catchErrorCode(() => captures.capture(id, { amount: 1001, currency }))
        assert.equal(code, 'provider_rejected')
        assert.equal((await captures.find(id, customerId))?.status, 'authorized')
      },
    )

    onCaptures(
      'is not found by another customer',
      async (captures, id, { gateway, customerId }) => {
        const bob = await gateway.createCustomer({
          owner: { type: 'user', id: 2 },
          details: { email: 'bob@example.com' },
          operation: createOperationId(),
        })
        assert.equal(await captures.find(id, bob.id), null)
        assert.equal(await captures.find('none-of-ours', customerId), null)
      },
    )
  })
}

async function authorize({ gateway, customerId, currency }: ContractTestAccount): Promise<string> {
  const options = { captureLater: true, idempotencyKey: 'order-1' }
  const made = await gateway.charge(customerId, { amount: 1000, currency }, options)
  const { id } = made as { readonly id: string }
  const again = await gateway.charge(customerId, { amount: 1000, currency }, options)
  assert.equal((again as { readonly id: string }).id, id)
  return id
}

import assert from 'node:assert/strict'
import {
  type ContractPart,
  type ContractTestAccount,
  catchErrorCode,
  createAnotherCustomer,
  createCapabilityTests,
  createOperationId,
} from '../../providers/contract-suite.ts'
import type { PaymentRefunds, RefundablePayment } from './contract.ts'

/** Contract tests of refunds, for gateways that implement `refunds`. */
export const defineRefundsContract: ContractPart = ({ describe, it }, create) => {
  const onRefunds = createCapabilityTests(
    'refunds',
    'if the gateway has refunds',
    { it },
    create,
    invoiced,
  )

  describe('refunds', () => {
    onRefunds(
      'refunds the whole charge once for an idempotency key',
      async (refunds, { customerId }, charge) => {
        const wanted = whole(customerId, charge)
        const made = await refunds.create(wanted)
        assert.deepEqual(made.amount, charge.amount)
        assert.equal(made.charge, charge.charge)
        assert.notEqual(made.status, 'failed')
        assert.equal((await refunds.create(wanted)).id, made.id)
        const [found, ...others] = await refunds.list(charge.charge)
        assert.equal(found?.id, made.id)
        assert.deepEqual(others, [])
        const now = await refunds.find(charge.charge, customerId)
        assert.deepEqual(now?.refunded, charge.amount)
      },
    )

    onRefunds('refunds a part and leaves the rest', async (refunds, { customerId }, charge) => {
      const amount = { ...charge.amount, amount: 400 }
      const wanted = { ...whole(customerId, charge), amount }
      if (!charge.isRefundableInPart) {
        assert.equal(await catchErrorCode(() => refunds.create(wanted)), 'refund_not_possible_yet')
        assert.deepEqual(await refunds.list(charge.charge), [])
        return
      }
      const made = await refunds.create(wanted)
      assert.deepEqual(made.amount, amount)
      assert.equal((await refunds.create(wanted)).id, made.id)
      assert.equal((await refunds.findByKey(charge.charge, wanted.key))?.id, made.id)
      assert.equal(await refunds.findByKey(charge.charge, createOperationId()), null)
      const now = await refunds.find(charge.charge, customerId)
      assert.deepEqual(now?.refunded, amount)
      const tooMuch = { ...wanted, amount: charge.amount, key: createOperationId() }
      assert.equal(await catchErrorCode(() => refunds.create(tooMuch)), 'refund_refused')
    })

    onRefunds(
      'does not find the charge of another customer',
      async (refunds, { gateway }, charge) => {
        const bob = await createAnotherCustomer({ gateway })
        assert.equal(await refunds.find(charge.charge, bob.id), null)
      },
    )

    onRefunds(
      'does not find a charge that does not exist',
      async (refunds, { customerId }, _charge) => {
        assert.equal(await refunds.find('none-of-ours', customerId), null)
      },
    )
  })
}

/** Invoices the customer and returns the charge, which is found by the invoice's id. */
async function invoiced(
  refunds: PaymentRefunds,
  { gateway, customerId, currency }: ContractTestAccount,
): Promise<RefundablePayment> {
  const item = { description: 'A T-shirt', amount: { amount: 1500, currency } }
  const { invoice } = await gateway.invoiceFor(customerId, item, {})
  const found = await refunds.find(invoice.id, customerId)
  assert.ok(found, `Nothing was charged for ${invoice.id}`)
  assert.deepEqual(found.amount, item.amount)
  assert.deepEqual(found.refunded, { amount: 0, currency })
  return found
}

function whole(customerId: string, { charge }: RefundablePayment) {
  return { customerId, charge, amount: null, reason: null, key: createOperationId() }
}

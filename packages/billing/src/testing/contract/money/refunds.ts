import assert from 'node:assert/strict'
import type { Refundable, Refunds } from '../../../gateways/contract/parts/money/refunds.ts'
import { type Account, type ContractPart, codeOf, newOperation, openAccount } from '../part.ts'

/** Money that goes back, where the provider can give it back. */
export const refundsContract: ContractPart = ({ describe, it }, create) => {
  const onRefunds = (
    name: string,
    body: (refunds: Refunds, charge: Refundable, account: Account) => Promise<void>,
  ) =>
    it(`${name}, where there are refunds`, async () => {
      const account = await openAccount(create)
      const { refunds } = account.gateway
      if (refunds) await body(refunds, await invoiced(refunds, account), account)
    })

  describe('a refund', () => {
    onRefunds('of all is made once for a key', async (refunds, charge, { customerId }) => {
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
    })

    onRefunds('of a part leaves the rest', async (refunds, charge, { customerId }) => {
      const amount = { ...charge.amount, amount: 400 }
      const wanted = { ...whole(customerId, charge), amount }
      if (!charge.isRefundableInPart) {
        assert.equal(await codeOf(() => refunds.create(wanted)), 'refund_not_possible_yet')
        assert.deepEqual(await refunds.list(charge.charge), [])
        return
      }
      const made = await refunds.create(wanted)
      assert.deepEqual(made.amount, amount)
      assert.equal((await refunds.create(wanted)).id, made.id)
      assert.equal((await refunds.findByKey(charge.charge, wanted.key))?.id, made.id)
      assert.equal(await refunds.findByKey(charge.charge, newOperation()), null)
      const now = await refunds.find(charge.charge, customerId)
      assert.deepEqual(now?.refunded, amount)
      const tooMuch = { ...wanted, amount: charge.amount, key: newOperation() }
      assert.equal(await codeOf(() => refunds.create(tooMuch)), 'refund_refused')
    })

    onRefunds("is of nobody else's charge", async (refunds, charge, { gateway }) => {
      const bob = await gateway.createCustomer({
        owner: { type: 'user', id: 2 },
        details: { email: 'bob@example.com' },
        operation: newOperation(),
      })
      assert.equal(await refunds.find(charge.charge, bob.id), null)
    })

    onRefunds('is of a charge that there is', async (refunds, _charge, { customerId }) => {
      assert.equal(await refunds.find('none-of-ours', customerId), null)
    })
  })
}

/** The charge of an invoice, found by the invoice. */
async function invoiced(
  refunds: Refunds,
  { gateway, customerId, currency }: Account,
): Promise<Refundable> {
  const item = { description: 'A T-shirt', amount: { amount: 1500, currency } }
  const { invoice } = await gateway.invoiceFor(customerId, item, {})
  const found = await refunds.find(invoice.id, customerId)
  assert.ok(found, `Nothing was charged for ${invoice.id}`)
  assert.deepEqual(found.amount, item.amount)
  assert.deepEqual(found.refunded, { amount: 0, currency })
  return found
}

function whole(customerId: string, { charge }: Refundable) {
  return { customerId, charge, amount: null, reason: null, key: newOperation() }
}

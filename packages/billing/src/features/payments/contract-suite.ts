import assert from 'node:assert/strict'
import {
  type ContractPart,
  createOperationId,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'

const filter = { pending: true, limit: null, taxOf: () => 0 }

/** Contract tests of single charges and invoices. */
export const definePaymentsContract: ContractPart = ({ describe, it }, create) => {
  describe('a charge', () => {
    it('accepts a money value, or a number in the provider’s unit', async () => {
      const { gateway, currency } = await openContractTestAccount(create)
      assert.deepEqual(gateway.toMoney({ amount: 1000, currency }), { amount: 1000, currency })
      assert.equal(gateway.toMoney(1000).currency, currency)
    })

    it('makes hasPaid() return true for its customer', async () => {
      const { gateway, customerId, currency } = await openContractTestAccount(create)
      await gateway.charge(customerId, { amount: 1000, currency }, { idempotencyKey: 'order-1' })
      assert.equal(await gateway.hasPaid(customerId), true)
    })
  })

  describe('an invoice', () => {
    const item = (currency: string) => ({
      description: 'A T-shirt',
      amount: { amount: 1500, currency },
    })

    it('is created and paid once per key', async () => {
      const { gateway, customerId, currency } = await openContractTestAccount(create)
      const options = { idempotencyKey: 'order-1' }
      const { invoice, failure } = await gateway.invoiceFor(customerId, item(currency), options)
      assert.equal(failure, null)
      const again = await gateway.invoiceFor(customerId, item(currency), options)
      assert.equal(again.invoice.id, invoice.id)
      const [found, ...others] = await gateway.listInvoices(customerId, filter)
      assert.deepEqual(others, [])
      assert.equal(found?.id, invoice.id)
      assert.equal(found.total, 1500)
      assert.equal(found.lines[0]?.description, 'A T-shirt')
      assert.equal(found.provider, gateway.name)
    })

    it('is found by its customer only', async () => {
      const { gateway, customerId, currency } = await openContractTestAccount(create)
      const { invoice } = await gateway.invoiceFor(customerId, item(currency), {})
      const found = await gateway.findInvoice(invoice.id, customerId, () => 0)
      assert.equal(found?.id, invoice.id)
      const bob = await gateway.createCustomer({
        owner: { type: 'user', id: 2 },
        details: { email: 'bob@example.com' },
        operation: createOperationId(),
      })
      assert.equal(await gateway.findInvoice(invoice.id, bob.id, () => 0), null)
      assert.equal(await gateway.payInvoice(invoice.id, bob.id), null)
      assert.equal(await gateway.findInvoice('none-of-ours', customerId, () => 0), null)
    })

    it('is not paid a second time', async () => {
      const { gateway, customerId, currency } = await openContractTestAccount(create)
      const { invoice } = await gateway.invoiceFor(customerId, item(currency), {})
      const outcome = await gateway.payInvoice(invoice.id, customerId)
      assert.equal(outcome?.failure, null)
      assert.equal((await gateway.listInvoices(customerId, filter)).length, 1)
    })

    it('is listed newest first, up to the limit', async () => {
      const { gateway, customerId, currency } = await openContractTestAccount(create)
      for (const amount of [1500, 1600, 1700]) {
        const priced = { description: 'A T-shirt', amount: { amount, currency } }
        await gateway.invoiceFor(customerId, priced, {})
      }
      const newest = await gateway.listInvoices(customerId, { ...filter, limit: 2 })
      assert.equal(newest.length, 2)
      const [first, second] = newest
      assert.ok(first && second && first.date >= second.date)
    })
  })
}

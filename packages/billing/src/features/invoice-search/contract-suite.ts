import assert from 'node:assert/strict'
import { type ContractPart, createCapabilityTests } from '../../providers/contract-suite.ts'

/** Contract tests of the search for invoices, for gateways with the part `invoiceSearch`. */
export const defineInvoiceSearchContract: ContractPart = ({ describe, it }, create) => {
  describe('the search for invoices', () => {
    const test = createCapabilityTests('invoiceSearch', 'of all customers', { it }, create)

    test('finds an invoice by its number and by its id', async (search, {
      gateway,
      customerId,
      currency,
    }) => {
      const item = { description: 'A T-shirt', amount: { amount: 1500, currency } }
      const { invoice } = await gateway.invoiceFor(customerId, item, {})
      const hit = { id: invoice.id, customerId }
      assert.deepEqual(await search.find(invoice.number), [hit])
      assert.deepEqual(await search.find(invoice.id), [hit])
    })

    test('finds nothing for an unknown id, nor for text that could change the query or the URL', async (search) => {
      for (const text of ['none-of-ours', 'in_0', '" OR status:"paid', '../customers/1']) {
        assert.deepEqual(await search.find(text), [])
      }
    })
  })
}

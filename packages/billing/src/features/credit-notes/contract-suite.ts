import assert from 'node:assert/strict'
import {
  type ContractPart,
  type ContractTestAccount,
  createAnotherCustomer,
  createCapabilityTests,
  createOperationId,
} from '../../providers/contract-suite.ts'
import type { InvoiceData } from '../invoices/invoice.ts'
import type { NewCreditNote } from './contract.ts'

/** Contract tests of credit notes, for gateways whose provider issues them. */
export const defineCreditNotesContract: ContractPart = ({ describe, it }, create) => {
  const onCreditNotes = createCapabilityTests(
    'creditNotes',
    'for gateways with credit notes',
    { it },
    create,
    (_notes, account) => invoiced(account),
  )

  describe('a credit note', () => {
    onCreditNotes(
      'is issued once for repeated calls with the same idempotency key',
      async (notes, { customerId }, invoice) => {
        const wanted = whole(customerId, invoice)
        const made = await notes.create(wanted)
        assert.equal(made.total, invoice.total)
        assert.equal(made.invoice, invoice.id)
        assert.equal(made.invoiceNumber, invoice.number)
        assert.deepEqual(made.givenBack, { refunded: 0, toBalance: 0, outside: invoice.total })
        assert.equal((await notes.create(wanted)).id, made.id)
        assert.equal((await notes.findByKey(invoice.id, wanted.key))?.id, made.id)
        assert.equal(await notes.findByKey(invoice.id, createOperationId()), null)
        const [found, ...others] = await notes.listByInvoice(invoice.id)
        assert.equal(found?.id, made.id)
        assert.deepEqual(others, [])
      },
    )

    onCreditNotes(
      'covers a part of an invoice, by amount or by lines',
      async (notes, account, invoice) => {
        const { customerId } = account
        const amount = { amount: 400, currency: invoice.currency }
        const part = await notes.create({ ...whole(customerId, invoice), of: amount, to: 'refund' })
        assert.equal(part.total, 400)
        assert.equal(part.givenBack.refunded, 400)
        const line = String((await invoiced(account)).lines[0]?.id)
        const [second] = await account.gateway.listInvoices(customerId, ALL)
        assert.ok(second)
        const credited = await notes.create({ ...whole(customerId, second), of: [{ line }] })
        assert.equal(credited.total, second.total)
        const listed = await notes.list(customerId, null)
        assert.deepEqual(new Set(listed.map(({ id }) => id)), new Set([part.id, credited.id]))
        assert.equal((await notes.list(customerId, 1)).length, 1)
      },
    )

    onCreditNotes('documents an earlier refund', async (notes, account, invoice) => {
      const { customerId, gateway } = account
      const charge = await gateway.refunds?.find(invoice.id, customerId)
      if (!gateway.refunds || !charge) return
      const amount = { amount: 300, currency: invoice.currency }
      const refund = await gateway.refunds.create({
        customerId,
        charge: charge.charge,
        amount,
        reason: null,
        key: createOperationId(),
      })
      const left = { ofInvoice: invoice.total - 300, ofRefund: 300 }
      assert.deepEqual(await notes.left(invoice.id, refund.id), left)
      const wanted = { ...whole(customerId, invoice), to: 'refund' as const, refund: refund.id }
      const made = await notes.create(wanted)
      assert.equal(made.total, 300)
      assert.deepEqual(made.refunds, [refund.id])
      assert.deepEqual(await notes.left(invoice.id, refund.id), { ...left, ofRefund: 0 })
    })

    onCreditNotes(
      'is not found by another customer',
      async (notes, { gateway, customerId }, invoice) => {
        const made = await notes.create(whole(customerId, invoice))
        assert.equal((await notes.find(made.id, customerId))?.number, made.number)
        const bob = await createAnotherCustomer({ gateway })
        assert.equal(await notes.find(made.id, bob.id), null)
        assert.equal(await notes.find('none-of-ours', customerId), null)
        assert.deepEqual(await notes.list(bob.id, null), [])
      },
    )
  })
}

const ALL = { pending: false, limit: null, taxOf: () => 0 }

async function invoiced({
  gateway,
  customerId,
  currency,
}: ContractTestAccount): Promise<InvoiceData> {
  const item = { description: 'A T-shirt', amount: { amount: 1500, currency } }
  return (await gateway.invoiceFor(customerId, item, {})).invoice
}

function whole(customerId: string, { id: invoice }: InvoiceData): NewCreditNote {
  const key = createOperationId()
  return { customerId, invoice, of: null, to: 'outside', reason: null, memo: null, key }
}

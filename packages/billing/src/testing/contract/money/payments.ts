import assert from 'node:assert/strict'
import { type Account, type ContractPart, codeOf, newOperation, openAccount } from '../part.ts'

/** Payments of subscriptions, and invoices that are taken back, where the provider has them. */
export const newestPaymentsContract: ContractPart = ({ describe, it }, create) => {
  describe('the newest payment of a subscription', () => {
    it('is there once it was charged, where the provider tells of payments', async () => {
      const { gateway, subscribe, currency, now } = await openAccount(create)
      if (!gateway.payments) return
      const { id } = await subscribe()
      const payment = await gateway.payments.findLatest(id)
      assert.ok(payment && payment.amount.amount > 0)
      assert.equal(payment.amount.currency, currency)
      assert.ok(['succeeded', 'processing'].includes(payment.status))
      assert.deepEqual([payment.confirmation, payment.declineCode], [null, null])
      assert.ok(payment.createdAt <= now())
    })

    it('is null before, and of what nobody made', async () => {
      const { gateway, subscribe } = await openAccount(create)
      if (!gateway.payments) return
      const { id } = await subscribe({ trialDays: 9 })
      assert.equal(await gateway.payments.findLatest(id), null)
      assert.equal(await gateway.payments.findLatest('none-of-ours'), null)
    })
  })

  describe('an invoice that is taken back', () => {
    it('is not paid, where invoices can be void', async () => {
      const account = await openAccount(create)
      const { invoiceActions } = account.gateway
      if (!invoiceActions) return
      const id = await paidInvoice(account)
      const { customerId } = account
      assert.equal(await codeOf(() => invoiceActions.void(id, customerId)), 'invoice_paid')
    })

    it('is nobody else’s, where invoices can be void', async () => {
      const account = await openAccount(create)
      const { gateway, customerId } = account
      if (!gateway.invoiceActions) return
      const id = await paidInvoice(account)
      const other = await gateway.createCustomer({
        owner: { type: 'user', id: 2 },
        details: { email: 'eve@example.com' },
        operation: newOperation(),
      })
      assert.equal(await gateway.invoiceActions.void(id, other.id), null)
      assert.equal(await gateway.invoiceActions.void('none-of-ours', customerId), null)
    })
  })
}

async function paidInvoice({ gateway, customerId, subscribe }: Account): Promise<string> {
  await subscribe()
  const filter = { pending: true, limit: null, taxOf: () => 0 }
  const [invoice] = await gateway.listInvoices(customerId, filter)
  assert.ok(invoice)
  return invoice.id
}

import assert from 'node:assert/strict'
import {
  type ContractPart,
  type ContractTestAccount,
  catchErrorCode,
  createOperationId,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'

/**
 * Contract tests of a subscription's newest payment and of voiding invoices, for gateways that
 * implement `payments` or `invoiceActions`.
 */
export const defineNewestPaymentsContract: ContractPart = ({ describe, it }, create) => {
  describe('the newest payment of a subscription', () => {
    it('exists once the subscription was charged, for gateways that report payments', async () => {
      const { gateway, subscribe, currency, now } = await openContractTestAccount(create)
      if (!gateway.payments) return
      const { id } = await subscribe()
      const payment = await gateway.payments.findLatest(id)
      assert.ok(payment && payment.amount.amount > 0)
      assert.equal(payment.amount.currency, currency)
      assert.ok(['succeeded', 'processing'].includes(payment.status))
      assert.deepEqual([payment.confirmation, payment.declineCode], [null, null])
      assert.ok(payment.createdAt <= now())
    })

    it('is null before the first charge, and for an unknown subscription', async () => {
      const { gateway, subscribe } = await openContractTestAccount(create)
      if (!gateway.payments) return
      const { id } = await subscribe({ trialDays: 9 })
      assert.equal(await gateway.payments.findLatest(id), null)
      assert.equal(await gateway.payments.findLatest('none-of-ours'), null)
    })
  })

  describe('voiding an invoice', () => {
    it('is refused if the invoice is paid, for gateways that can void', async () => {
      const account = await openContractTestAccount(create)
      const { invoiceActions } = account.gateway
      if (!invoiceActions) return
      const id = await paidInvoice(account)
      const { customerId } = account
      assert.equal(await catchErrorCode(() => invoiceActions.void(id, customerId)), 'invoice_paid')
    })

    it('does nothing to the invoice of another customer, for gateways that can void', async () => {
      const account = await openContractTestAccount(create)
      const { gateway, customerId } = account
      if (!gateway.invoiceActions) return
      const id = await paidInvoice(account)
      const other = await gateway.createCustomer({
        owner: { type: 'user', id: 2 },
        details: { email: 'eve@example.com' },
        operation: createOperationId(),
      })
      assert.equal(await gateway.invoiceActions.void(id, other.id), null)
      assert.equal(await gateway.invoiceActions.void('none-of-ours', customerId), null)
    })
  })
}

async function paidInvoice({
  gateway,
  customerId,
  subscribe,
}: ContractTestAccount): Promise<string> {
  await subscribe()
  const filter = { pending: true, limit: null, taxOf: () => 0 }
  const [invoice] = await gateway.listInvoices(customerId, filter)
  assert.ok(invoice)
  return invoice.id
}

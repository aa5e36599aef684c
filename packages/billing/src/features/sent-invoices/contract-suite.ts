import assert from 'node:assert/strict'
import {
  type ContractPart,
  type ContractTestAccount,
  catchErrorCode,
  createOperationId,
  openContractTestAccount,
} from '../../providers/contract-suite.ts'
import type { NewSentInvoice, SentInvoices } from './contract.ts'

/** Contract tests of sent invoices, for gateways that implement `sentInvoices`. */
export const defineSentInvoicesContract: ContractPart = ({ describe, it }, create) => {
  const onSent = (
    name: string,
    body: (sent: SentInvoices, account: ContractTestAccount) => Promise<void>,
  ) =>
    it(`${name}, if the gateway can send invoices`, async () => {
      const account = await openContractTestAccount(create)
      const { sentInvoices } = account.gateway
      if (sentInvoices) await body(sentInvoices, account)
    })

  describe('a sent invoice', () => {
    onSent(
      'is created once for an idempotency key, with its due date, and charges nothing',
      async (sent, account) => {
        const { gateway, customerId, now } = account
        const wanted = consulting(account)
        const made = await sent.send(wanted)
        assert.equal((await sent.send(wanted)).id, made.id)
        assert.deepEqual([made.paid, made.total, made.amountDue], [false, 1500, 1500])
        const days = ((made.dueAt?.getTime() ?? 0) - now().getTime()) / 86_400_000
        assert.ok(days > 13 && days < 15, `It is due in ${days} days`)
        assert.ok(made.paymentUrl && URL.canParse(made.paymentUrl))
        const filter = { pending: true, limit: null, taxOf: () => 0 }
        assert.equal((await gateway.listInvoices(customerId, filter)).length, 1)
      },
    )

    onSent(
      'is rejected if its idempotency key is reused for another amount',
      async (sent, account) => {
        const wanted = consulting(account)
        await sent.send(wanted)
        const item = { ...wanted.item, amount: { ...wanted.item.amount, amount: 1600 } }
        assert.equal(
          await catchErrorCode(() => sent.send({ ...wanted, item })),
          'provider_rejected',
        )
      },
    )

    onSent('is paid after it was marked as paid, which can be repeated', async (sent, account) => {
      const { id } = await sent.send(consulting(account))
      const { customerId } = account
      assert.equal((await sent.markPaid(id, customerId))?.invoice.paid, true)
      assert.equal((await sent.markPaid(id, customerId))?.invoice.paid, true)
    })

    onSent('cannot be marked as paid for another customer', async (sent, account) => {
      const { gateway, customerId } = account
      const { id } = await sent.send(consulting(account))
      const bob = await gateway.createCustomer({
        owner: { type: 'user', id: 2 },
        details: { email: 'bob@example.com' },
        operation: createOperationId(),
      })
      assert.equal(await sent.markPaid(id, bob.id), null)
      assert.equal(await sent.markPaid('none-of-ours', customerId), null)
      assert.equal((await gateway.findInvoice(id, customerId, () => 0))?.paid, false)
    })
  })
}

function consulting({ customerId, currency }: ContractTestAccount): NewSentInvoice {
  return {
    customerId,
    item: { description: 'Consulting', amount: { amount: 1500, currency } },
    daysUntilDue: 14,
    key: createOperationId(),
    more: {},
  }
}

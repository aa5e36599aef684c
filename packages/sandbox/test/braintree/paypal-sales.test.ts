import { describe, expect, it } from 'vitest'
import { addCustomer, codesOf, collect, type Merchant, startMerchant } from './support.ts'

const NONCE = 'fake-paypal-billing-agreement-nonce'

/** @types/braintree declares only some of these. */
interface Calls {
  submitForPartialSettlement(
    id: string,
    amount: string,
  ): Promise<{ transaction: { id: string; status: string } }>
  updateDetails(id: string, params: object): Promise<unknown>
  refund(id: string, params: object): Promise<unknown>
}

type Submit = (id: string, amount: string, params: object) => Promise<unknown>

/** Creates a customer with a PayPal account and a sale to it. */
async function sell(merchant: Merchant, submit: boolean) {
  const { token, customerId } = await addCustomer(merchant, NONCE)
  const { transaction } = await merchant.gateway.transaction.sale({
    amount: '10.00',
    paymentMethodToken: token,
    options: { submitForSettlement: submit },
  })
  return { ...transaction, token, customerId }
}

describe('a Braintree sale by PayPal', () => {
  it('is settling once it is submitted, and settled within an hour', async () => {
    const merchant = await startMerchant()
    const { gateway, clock } = merchant
    const { id, status } = await sell(merchant, true)
    expect(status).toBe('settling')
    await clock.advance({ hours: 1 })
    const settled = await gateway.transaction.find(id)
    expect(settled.statusHistory?.map((event) => [String(event.timestamp), event.status])).toEqual([
      ['2026-01-15T10:00:00Z', 'authorized'],
      ['2026-01-15T10:00:00Z', 'submitted_for_settlement'],
      ['2026-01-15T10:00:00Z', 'settling'],
      ['2026-01-15T11:00:00Z', 'settled'],
    ])
  })

  it('has the status `settling` as soon as its authorization is submitted for settlement', async () => {
    const merchant = await startMerchant()
    const { id, status } = await sell(merchant, false)
    expect(status).toBe('authorized')
    const { transaction } = await merchant.gateway.transaction.submitForSettlement(id)
    expect(transaction.status).toBe('settling')
  })

  it('gets the status `settlement_pending` after a partial settlement, and the part is settling immediately', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const { id } = await sell(merchant, false)
    const { submitForPartialSettlement } = gateway.transaction as unknown as Calls
    const part = await submitForPartialSettlement.call(gateway.transaction, id, '3.00')
    expect(part.transaction.status).toBe('settling')
    expect((await gateway.transaction.find(id)).status).toBe('settlement_pending')
    expect(codesOf(await gateway.transaction.void(part.transaction.id))).toEqual(['91504'])
  })

  it("limits the order id, which is PayPal's invoice number, to 127 characters", async () => {
    const merchant = await startMerchant()
    const { transaction } = merchant.gateway
    const { id, token } = await sell(merchant, true)
    const most = 'x'.repeat(127)
    const sale = { amount: '5.00', paymentMethodToken: token }
    const kept = await transaction.sale({ ...sale, orderId: most })
    expect(kept.transaction.orderId).toBe(most)
    expect(codesOf(await transaction.sale({ ...sale, orderId: `${most}x` }))).toEqual(['91501'])
    const submit = transaction.submitForSettlement as unknown as Submit
    const submitted = submit.call(transaction, kept.transaction.id, '5.00', { orderId: `${most}x` })
    expect(codesOf(await submitted)).toEqual(['91501'])
    const { refund } = transaction as unknown as Calls
    const refused = refund.call(transaction, id, { orderId: `${most}x` })
    expect(codesOf(await refused)).toEqual(['91501'])
  })

  it('can be voided before it is submitted, and refunded afterwards', async () => {
    const merchant = await startMerchant()
    const { gateway } = merchant
    const held = await sell(merchant, false)
    expect((await gateway.transaction.void(held.id)).transaction.status).toBe('voided')
    const { id } = await sell(merchant, true)
    expect(codesOf(await gateway.transaction.void(id))).toEqual(['91504'])
    const changed = (gateway.transaction as unknown as Calls).updateDetails(id, { amount: '5.00' })
    expect(codesOf(await changed)).toEqual(['915129'])
    const part = await gateway.transaction.refund(id, '4.00')
    expect(part.transaction).toMatchObject({ type: 'credit', amount: '4.00', status: 'settling' })
    const rest = await gateway.transaction.refund(id)
    expect(rest.transaction.amount).toBe('6.00')
    await merchant.clock.advance({ hours: 1 })
    expect((await gateway.transaction.find(part.transaction.id)).status).toBe('settled')
  })

  it('is found by a search for its status', async () => {
    const merchant = await startMerchant()
    const { id } = await sell(merchant, true)
    const find = async (status: 'settling' | 'submitted_for_settlement') => {
      const stream = merchant.gateway.transaction.search((search) => {
        search.status().is(status)
      })
      return (await collect<{ id: string }>(stream)).map((found) => found.id)
    }
    expect(await find('settling')).toEqual([id])
    expect(await find('submitted_for_settlement')).toEqual([])
  })

  it('pays for a subscription, which becomes active and renews', async () => {
    const merchant = await startMerchant()
    const { gateway, clock, sandbox } = merchant
    const { token, customerId } = await addCustomer(merchant, NONCE)
    await gateway.subscription.create({ id: 's', planId: 'monthly', paymentMethodToken: token })
    expect(sandbox.subscription('s')).toMatchObject({ status: 'Active' })
    expect(sandbox.transactions(customerId).map((row) => row.status)).toEqual(['settling'])
    await clock.advance({ months: 1 })
    expect(sandbox.subscription('s')).toMatchObject({ status: 'Active', currentBillingCycle: 2 })
  })
})

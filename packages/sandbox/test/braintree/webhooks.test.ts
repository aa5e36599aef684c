import type braintree from 'braintree'
import { describe, expect, it } from 'vitest'
import { addCustomer, listen, type Merchant, startMerchant } from './support.ts'

async function startWithReceiver() {
  const merchant = await startMerchant()
  const { url, received } = await listen(merchant)
  merchant.sandbox.registerWebhook(url)
  const customer = await addCustomer(merchant)
  const { subscription } = await merchant.gateway.subscription.create({
    id: 's',
    planId: 'monthly',
    paymentMethodToken: customer.token,
  })
  await merchant.outbox.flush()
  return { ...merchant, ...customer, url, received, subscription }
}

async function send(merchant: Pick<Merchant, 'sandbox' | 'outbox'>, kind: string, id?: string) {
  merchant.sandbox.notify(kind, id)
  await merchant.outbox.flush()
}

describe('webhook notifications of Braintree', () => {
  it('contain the subscription with its transactions, newest first', async () => {
    const { received, clock, outbox } = await startWithReceiver()
    await clock.advance({ months: 2 })
    await outbox.flush()
    const last = received.at(-1)?.notification as braintree.SubscriptionNotification
    expect(last.kind).toBe('subscription_charged_successfully')
    expect(last.subscription).toMatchObject({
      id: 's',
      status: 'Active',
      planId: 'monthly',
      currentBillingCycle: 3,
      billingPeriodStartDate: '2026-03-15',
    })
    const dates = last.subscription.transactions?.map((row) => String(row.createdAt))
    expect(dates).toEqual(['2026-03-15T00:00:00Z', '2026-02-15T00:00:00Z', '2026-01-15T10:00:00Z'])
  })

  it('are signed over the base64 payload with its line breaks, exactly as sent', async () => {
    const { outbox, gateway } = await startWithReceiver()
    const [delivery] = outbox.deliveries({ provider: 'braintree' })
    const form = new URLSearchParams(delivery?.body)
    const signature = form.get('bt_signature') ?? ''
    const payload = form.get('bt_payload') ?? ''
    expect(signature).toMatch(/^sandbox_public_key\|[0-9a-f]{40}$/)
    expect(payload).toMatch(/^([A-Za-z0-9+/=]{1,60}\n)+$/)
    await expect(gateway.webhookNotification.parse(signature, payload)).resolves.toBeDefined()
    const forged = payload.replace(/^./, (char) => (char === 'P' ? 'Q' : 'P'))
    await expect(gateway.webhookNotification.parse(signature, forged)).rejects.toMatchObject({
      type: 'invalidSignatureError',
    })
  })

  it("are repeated every hour of the sandbox's clock until they are delivered", async () => {
    const merchant = await startMerchant()
    const { outbox, clock, sandbox } = merchant
    sandbox.registerWebhook('http://127.0.0.1:9/nobody')
    sandbox.notify('check')
    await clock.advance({ hours: 2 })
    const [delivery] = outbox.deliveries()
    expect(delivery?.state).toBe('pending')
    expect(delivery?.attempts.map((attempt) => new Date(attempt.at).toISOString())).toEqual([
      '2026-01-15T10:00:00.000Z',
      '2026-01-15T11:00:00.000Z',
      '2026-01-15T12:00:00.000Z',
    ])
    await clock.advance({ days: 2 })
    expect(outbox.deliveries()[0]).toMatchObject({ state: 'failed' })
  })

  it('can be duplicated, dropped and corrupted by a test', async () => {
    const started = await startWithReceiver()
    const { outbox, received, clock } = started
    const before = received.length
    outbox.set({ duplicate: 1 })
    await send(started, 'check')
    expect(received.slice(before).map(({ kind }) => kind)).toEqual(['check', 'check'])
    outbox.set({ drop: 1 })
    await send(started, 'check')
    expect(received).toHaveLength(before + 2)
    outbox.set({ corrupt: 1 })
    await send(started, 'check')
    expect(received).toHaveLength(before + 2)
    await clock.advance({ hours: 1 })
    await outbox.flush()
    expect(received).toHaveLength(before + 3)
  })

  it('can be sent at any time about any object, with notify() of the sandbox', async () => {
    const started = await startWithReceiver()
    const { received, sandbox, customerId, token } = started
    const [transaction] = sandbox.transactions(customerId)
    const id = transaction?.id ?? ''
    await send(started, 'check')
    expect(received.at(-1)?.notification).toMatchObject({ kind: 'check', subject: { check: true } })
    await send(started, 'dispute_opened', id)
    expect(received.at(-1)?.notification).toMatchObject({
      dispute: { status: 'open', amount: '10.00', transaction: { id } },
    })
    await send(started, 'transaction_settled', id)
    expect(received.at(-1)?.notification).toMatchObject({ transaction: { id } })
    await send(started, 'subscription_went_past_due', 's')
    expect(received.at(-1)?.notification).toMatchObject({ subscription: { id: 's' } })
    await send(started, 'payment_method_revoked_by_customer', token)
    expect(received.at(-1)?.notification).toMatchObject({
      revokedPaymentMethodMetadata: { token, customerId },
    })
    expect(() => sandbox.notify('dispute_opened', 'nope')).toThrow(RangeError)
  })

  it('report settlements only if the `notifySettlement` setting is on', async () => {
    const { received, sandbox, clock, outbox } = await startWithReceiver()
    await clock.advance({ days: 1 })
    expect(received.some(({ kind }) => kind === 'transaction_settled')).toBe(false)
    sandbox.changeSettings({ notifySettlement: true })
    await clock.advance({ months: 1 })
    await clock.advance({ days: 1 })
    await outbox.flush()
    expect(received.at(-1)?.kind).toBe('transaction_settled')
  })

  it('are the same for a canceled subscription and for one whose payment method was deleted', async () => {
    const started = await startWithReceiver()
    const { gateway, outbox, received, token, sandbox } = started
    await gateway.subscription.create({ id: 't', planId: 'trial', paymentMethodToken: token })
    await gateway.subscription.cancel('s')
    await gateway.paymentMethod.delete(token)
    await outbox.flush()
    const canceled = received.filter(({ kind }) => kind === 'subscription_canceled')
    expect(
      canceled.map(
        ({ notification }) => (notification as braintree.SubscriptionNotification).subscription.id,
      ),
    ).toEqual(['s', 't'])
    expect(sandbox.subscription('t')?.status).toBe('Canceled')
  })
})

import { describe, expect, it } from 'vitest'
import { PROVIDERS, start, stripeSdk } from '../support.ts'

describe.each(PROVIDERS)('billing’s HTTP routes at $provider', ({ provider, card }) => {
  it('POST /<provider>/webhook calls the handler named after the event in camel case', async () => {
    const seen: string[] = []
    const test = await start(provider, {
      handlers: {
        handleInvoicePaymentSucceeded: (payload, { runDefault }) => {
          seen.push(payload.type)
          return runDefault()
        },
        handleSubscriptionChargedSuccessfully: (notification, { runDefault }) => {
          seen.push(notification.kind)
          return runDefault()
        },
      },
    })
    await test.user.newSubscription('main', 'monthly').create(card)
    await test.settle()
    expect(seen).toEqual([
      provider === 'stripe' ? 'invoice.payment_succeeded' : 'subscription_charged_successfully',
    ])
  })

  it('the default handler cancels a subscription whose payments failed', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').create(card)
    const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
    for (let n = 0; n < 10; n++) sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    await test.advance({ days: 75 })
    expect(await user.subscribed('main')).toBe(false)
  })

  it('the webhook path is configurable, and needs no cookie or CSRF token', async () => {
    const test = await start(provider)
    const path = `/hooks/${provider}`
    const billing = test.another({ paths: { [`${provider}Webhook`]: path } })
    expect(billing.paths).toContain(path)
    expect(billing.handles(`/${provider}/webhook`)).toBe(false)
    const reply = await billing.fetch(
      new Request(`http://app.example${path}`, { method: 'POST', body: '{}' }),
    )
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_signature' })
  })

  it('GET /user/invoice/{invoice} downloads the PDF for its owner only', async () => {
    const test = await start(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(card)
    const [invoice] = await user.invoicesIncludingPending()
    const stranger = await test.createUser()
    const get = async (as: string | number | null) => {
      const billing = test.another({
        authenticate: () => as,
        invoice: { vendor: 'Tollgate Ltd', product: 'Gold' },
      })
      return billing.fetch(new Request(`http://app.example/user/invoice/${invoice?.id}`))
    }
    const mine = await get(user.id)
    expect(mine.headers.get('content-type')).toBe('application/pdf')
    expect(mine.headers.get('content-disposition')).toContain('attachment; filename="Gold_')
    expect((await get(stranger.id)).status).toBe(404)
    expect((await get(null)).status).toBe(401)
  })
})

describe('handlers of incoming webhooks', () => {
  it('receive the JSON payload from Stripe, and a notification object from Braintree', async () => {
    const seen: unknown[] = []
    const test = await start('braintree', {
      handlers: {
        handleCustomerUpdated: (payload) => seen.push(payload.data.object.id),
        handleDisputeOpened: (notification) => seen.push(notification.dispute.amountDisputed),
      },
    })
    await test.user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
    const [sale] = test.sandbox.braintree.transactions()
    test.sandbox.braintree.notify('dispute_opened', sale?.id)
    await test.settle()
    const stripe = await stripeSdk(test)
    const { id } = await stripe.customers.create({})
    await stripe.customers.update(id, { name: 'Eve' })
    await test.settle()
    expect(seen).toEqual(['10.00', id])
  })
})

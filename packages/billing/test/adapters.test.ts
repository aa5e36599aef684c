import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import { forExpress } from '../src/adapters/express.ts'
import { forFastify } from '../src/adapters/fastify.ts'
import { forHono } from '../src/adapters/hono.ts'
import { forNext } from '../src/adapters/next.ts'
import { nodeListener } from '../src/adapters/node.ts'
import type { Billing } from '../src/index.ts'
import { start, stripeSdk } from './support.ts'

/** Serves the routes with a framework. Returns the base URL. */
type Serve = (billing: Billing) => Promise<string>

const address = (server: { address(): unknown }) =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const frameworks: Record<string, Serve> = {
  async express(billing) {
    const app = express()
    app.use(forExpress(billing).routes)
    app.use(express.json())
    app.get('/hello', (_request, response) => void response.send('hello'))
    const server = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => void server.close().closeAllConnections())
    return address(server)
  },
  async fastify(billing) {
    const app = fastify()
    app.register(forFastify(billing).routes)
    app.get('/hello', async () => 'hello')
    onTestFinished(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  async hono(billing) {
    const app = new Hono()
    app.use(forHono(billing).routes)
    app.get('/hello', (c) => c.text('hello'))
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => void server.close())
    return address(server)
  },
  async next(billing) {
    const handlers = forNext(async () => billing).handlers
    // Next calls the exported handler with a Request; a Hono server stands in for Next's.
    const app = new Hono()
    app.get('/hello', (c) => c.text('hello'))
    app.all('/*', (c) => handlers[c.req.method as keyof typeof handlers](c.req.raw))
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    await new Promise((resolve) => server.once('listening', resolve))
    onTestFinished(() => void server.close())
    return address(server)
  },
  async node(billing) {
    const listener = nodeListener(billing)
    const server = createServer((message, response) => {
      if (message.url === '/hello') response.end('hello')
      else listener(message, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close().closeAllConnections())
    return address(server)
  },
}

describe.each(Object.entries(frameworks))('billing’s routes in %s', (_name, serveIn) => {
  it('accept webhooks, and return an invoice only to its owner', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, sandbox } = test
    const secret = 'whsec_adapters'
    const billing = test.another({
      stripe: {
        secret: sandbox.stripe.apiKey,
        webhookSecret: secret,
        config: sandbox.stripe.config,
      },
      authenticate: (request) => Number(request.headers.get('x-user')) || null,
      invoice: { vendor: 'Tollgate Ltd', product: 'Gold' },
    })
    const url = await serveIn(billing)
    expect(await (await fetch(`${url}/hello`)).text()).toBe('hello')

    const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const stripe = await stripeSdk(test)
    await stripe.subscriptions.cancel(subscription.providerId)
    const body = JSON.stringify(sandbox.stripe.events('customer.subscription.deleted').at(-1))
    const signature = stripe.webhooks.generateTestHeaderString({ payload: body, secret })
    const send = (sent: string) =>
      fetch(`${url}/stripe/webhook`, {
        method: 'POST',
        body: sent,
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
      })
    expect((await send(`${body}\n`)).status).toBe(400)
    const answer = await send(body)
    expect([answer.status, await answer.json()]).toEqual([200, { received: true }])
    expect((await send(body)).status).toBe(200)
    await billing.process()
    expect(await user.subscribed('main')).toBe(false)

    const challenge = await fetch(`${url}/braintree/webhook?bt_challenge=${'0123456789abcdef0123'}`)
    expect(await challenge.text()).toMatch(/\|[0-9a-f]{40}$/)

    const [invoice] = await user.invoices()
    const read = (id: string, as?: number) =>
      fetch(`${url}/user/invoice/${id}`, { headers: as ? { 'x-user': String(as) } : {} })
    const found = await read(invoice?.id ?? '', Number(user.id))
    expect(found.headers.get('content-type')).toBe('application/pdf')
    expect(
      Buffer.from(await found.arrayBuffer())
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-')
    const head = await fetch(`${url}/user/invoice/${invoice?.id}`, {
      method: 'HEAD',
      headers: { 'x-user': String(user.id) },
    })
    expect([head.status, (await head.arrayBuffer()).byteLength]).toEqual([200, 0])
    expect(head.headers.get('content-type')).toBe('application/pdf')
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1000)
    const stranger = await test.createUser()
    expect((await read(invoice?.id ?? '')).status).toBe(401)
    expect((await read(invoice?.id ?? '', Number(stranger.id))).status).toBe(404)
    expect((await read('in_none', Number(user.id))).status).toBe(404)
  })

  it('use the paths from the options', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user } = test
    const billing = test.another({
      paths: { stripeWebhook: '/hooks/stripe', invoice: '/my/bills/{invoice}' },
      authenticate: () => user.id,
      invoice: { vendor: 'Tollgate Ltd', product: 'Gold' },
    })
    const url = await serveIn(billing)
    await user.newSubscription('main', 'monthly').create('pm_card_visa')
    const [invoice] = await user.invoices()
    expect((await fetch(`${url}/my/bills/${invoice?.id}`)).status).toBe(200)
    expect((await fetch(`${url}/user/invoice/${invoice?.id}`)).status).toBe(404)
    const post = (path: string) => fetch(`${url}${path}`, { method: 'POST', body: '{}' })
    expect(await (await post('/hooks/stripe')).json()).toMatchObject({ error: 'invalid_signature' })
    expect((await post('/stripe/webhook')).status).toBe(404)
    expect((await post('/braintree/webhook')).status).toBe(400)
  })
})

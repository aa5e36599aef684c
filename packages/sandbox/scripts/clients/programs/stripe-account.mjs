// The common start of our shops in Node: the SDK, a webhook endpoint, and a test clock.
import assert from 'node:assert/strict'
import Stripe from 'stripe'
import { fact, listen, sandboxConfig, step, until, versionOf } from './steps.mjs'

/** Connects the SDK to an empty account, whose webhooks have the SDK's API version. */
export async function openAccount(enabled_events) {
  const stripe = new Stripe(process.env.STRIPE_KEY, sandboxConfig())
  const hooks = await listen()
  fact('version', versionOf('stripe'))
  const { endpoint, speaks } = await step('webhook endpoint', async () => {
    const { lastResponse, data } = await stripe.customers.list({ limit: 1 })
    assert.deepEqual(data, [])
    const api_version = lastResponse.apiVersion
    const told = { url: hooks.url, enabled_events, api_version }
    return { endpoint: await stripe.webhookEndpoints.create(told), speaks: api_version }
  })
  fact('speaks', speaks)

  /** Waits for the webhook that satisfies `isWanted`, and verifies it with the SDK. */
  async function receive(what, isWanted) {
    const { body, headers } = await until(what, () =>
      hooks.received.find(({ body }) => isWanted(JSON.parse(body))),
    )
    const signature = headers['stripe-signature']
    const event = stripe.webhooks.constructEvent(body, signature, endpoint.secret)
    assert.equal(event.api_version, speaks)
    return event
  }
  return { stripe, hooks, receive }
}

/** Creates a test clock that is a second ahead of the sandbox's own. */
export async function createClock(stripe) {
  const clocks = stripe.testHelpers.testClocks
  const { id, frozen_time } = await clocks.create({
    frozen_time: Math.floor(Date.now() / 1000) + 1,
  })
  const isReady = async () => (await clocks.retrieve(id)).status === 'ready'
  await until('the clock', isReady)
  return {
    id,
    start: frozen_time,
    async advance(frozen_time) {
      await clocks.advance(id, { frozen_time })
      await until('the clock', isReady)
    },
  }
}

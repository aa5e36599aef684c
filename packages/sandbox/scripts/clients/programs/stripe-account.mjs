// What every shop of ours in Node begins with: the SDK, an address for webhooks, and a clock to move.
import assert from 'node:assert/strict'
import Stripe from 'stripe'
import { fact, listen, sandboxConfig, step, until, versionOf } from './steps.mjs'

/** The SDK at an account that is still empty, which tells `enabled_events` in the SDK's own version. */
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

  /** Waits for the webhook that `isWanted`, and reads it as the SDK does: it must be signed. */
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

/** A test clock that stands a second ahead of the sandbox's own. */
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

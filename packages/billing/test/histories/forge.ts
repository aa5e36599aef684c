import { expect } from 'vitest'
import { readTableState } from '../provider-truth.ts'
import { stripeSdk } from '../support.ts'
import type { World } from './world.ts'

/**
 * Sends forged webhooks that report the end of the subscription. They must be rejected without any
 * change.
 */
export async function forge(world: World): Promise<void> {
  // Webhooks are sent soon after a step, not during it: let them arrive before counting.
  await world.settle()
  const before = await readTableState(world.database, world.user.id, world.user.owner.type)
  const inbox = await countInbox(world)
  for (const request of await forgeries(world)) {
    expect((await world.billing.fetch(request)).status).toBe(400)
  }
  expect(await countInbox(world)).toBe(inbox)
  expect(await readTableState(world.database, world.user.id, world.user.owner.type)).toEqual(before)
}

async function forgeries(world: World): Promise<Request[]> {
  const { sandbox, given } = world
  const url = `https://app.example.com/${given.provider}/webhook`
  if (given.provider === 'braintree') {
    const { default: braintree } = await import('braintree')
    const { privateKey: _key, ...known } = sandbox.braintree.config
    const stranger = new braintree.BraintreeGateway({ ...known, privateKey: 'guessed' } as never)
    const id = sandbox.braintree.subscriptions().at(-1)?.id ?? 'none'
    const sample = await stranger.webhookTesting.sampleNotification(
      'subscription_canceled' as never,
      id,
    )
    return [new Request(url, { method: 'POST', body: new URLSearchParams({ ...sample }) })]
  }
  const stripe = await stripeSdk(world)
  const event = {
    id: 'evt_forged',
    type: 'customer.subscription.deleted',
    livemode: false,
    data: { object: { ...sandbox.stripe.subscriptions()[0], object: 'subscription' } },
  }
  const payload = JSON.stringify(event)
  const header = stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_guessed' })
  return ['', 't=1,v1=00', header].map(
    (signature) =>
      new Request(url, {
        method: 'POST',
        body: payload,
        headers: { 'stripe-signature': signature },
      }),
  )
}

async function countInbox({ database }: World): Promise<number> {
  const { count } = await database.kysely
    .selectFrom('billing_webhooks')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import { start } from '../../../../test/support.ts'
import type { ProviderName } from '../../../index.ts'
import type { BillingTest } from '../../../testing/index.ts'

/** Counts the HTTP requests that Node sends to both providers while `work` runs. */
export async function countProviderRequests(
  { sandbox }: Pick<BillingTest, 'sandbox'>,
  work: () => Promise<unknown>,
): Promise<number> {
  const { stripe, braintree } = sandbox
  const ports = [stripe.config.port, braintree.config.environment.port].map(String)
  let calls = 0
  const count = (message: unknown) => {
    const { request } = message as { readonly request: ClientRequest }
    const [, port = ''] = String(request.getHeader('host')).split(':')
    if (ports.includes(port)) calls += 1
  }
  const name = 'http.client.request.start'
  if (!channel(name)) throw new Error(`Node has no channel ${name}`)
  subscribe(name, count)
  try {
    await work()
  } finally {
    unsubscribe(name, count)
  }
  return calls
}

/** Creates users with a card and a subscription each, ten at a time by default. */
export async function createSubscribers(
  test: BillingTest,
  count: number,
  { together = 10 } = {},
): Promise<number[]> {
  const { database, billing, sandbox, user } = test
  const rows = await database.kysely.selectFrom('users').select('id').execute()
  const first = Math.max(...rows.map(({ id }) => Number(id))) + 1
  const ids = Array.from({ length: count }, (_, at) => first + at)
  const subscribe = async (id: number) => {
    const email = `user-${id}@example.com`
    await database.kysely
      .insertInto('users')
      .values({ id, email, name: `User ${id}` })
      .execute()
    const made = await billing.user(id)
    const token = user.provider === 'stripe' ? 'pm_card_visa' : sandbox.braintree.createNonce()
    await made.newSubscription('main', 'monthly').create(token)
  }
  for (let at = 0; at < count; at += together) {
    await Promise.all(ids.slice(at, at + together).map(subscribe))
  }
  return ids
}

export async function startWithSubscribers(provider: ProviderName, users: number) {
  const test = await start(provider, { webhooks: false })
  const ids = await createSubscribers(test, users)
  return { ...test, ids }
}

/** Changes a subscription in our database so that it differs from the provider. */
export const corruptRow = ({ database }: Pick<BillingTest, 'database'>, id: number) =>
  database.kysely
    .updateTable('subscriptions')
    .set({ provider_plan: 'something else' })
    .where('user_id', '=', id)
    .execute()

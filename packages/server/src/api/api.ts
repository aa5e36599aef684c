import type { Subscription } from '@tollgate/billing'
import type { AuthenticatedUser, AuthorizationServer } from '@tollgate/oauth'
import { forHono } from '@tollgate/oauth/hono'
import type { Hono } from 'hono'
import type { ServiceContext } from '../context.ts'
import type { AppEnv } from '../http/variables.ts'
import { type User, userJson } from '../users/user.ts'

/** Adds a small example API with protected routes, which clients can call with their tokens. */
export function addApi(app: Hono<AppEnv>, context: ServiceContext): void {
  const { auth, scopes, scope } = forHono(context.oauth)
  const isSelfRegistered = createIsSelfRegistered(context.oauth)
  type Caller = AuthenticatedUser<User>
  /**
   * The subject to show instead of the user id. `null` for callers that may know the id: the
   * person's own browser, and clients with public subjects.
   */
  const pairwiseSubject = async ({ id, clientId }: Caller) =>
    clientId === null ? null : context.oauth.clients.pairwiseSubject(clientId, id)

  const needs = scopes('profile', 'email')
  /**
   * Requires the scopes `profile` and `email` of clients that registered themselves, unless their
   * subjects are pairwise: a client that registered itself may read only data that people approved
   * through its scopes.
   */
  const identity: typeof needs = async (c, next) => {
    const caller = c.get('user')
    const isPublicSelfRegistered =
      (await isSelfRegistered(caller.clientId)) && (await pairwiseSubject(caller)) === null
    return isPublicSelfRegistered ? needs(c, next) : next()
  }

  app.get('/api/user', auth('api'), identity, async (c) => {
    const caller = c.get('user')
    const user = await caller.find()
    if (!user) return c.json({ error: 'not_found' }, 404)
    const sub = await pairwiseSubject(caller)
    if (sub === null) return c.json(userJson(user))
    // The creation time would identify a person across clients as well as the id does.
    return c.json({
      id: sub,
      ...(caller.tokenCan('email') && { email: user.email }),
      ...(caller.tokenCan('profile') && { name: user.name }),
    })
  })
  app.get('/api/orders', auth('api'), scopes('place-orders', 'check-status'), async (c) => {
    const caller = c.get('user')
    const owner = (await pairwiseSubject(caller)) ?? caller.id
    return c.json([{ id: 1, status: 'shipped', owner }])
  })
  app.get('/api/orders/status', auth('api'), scope('place-orders', 'check-status'), (c) =>
    c.json({ status: 'shipped', may_order: c.get('user').tokenCan('place-orders') }),
  )
  app.get('/api/subscription', auth('api'), async (c) => {
    const caller = c.get('user')
    // Card digits and dates would let two clients find out that they know the same person.
    if ((await isSelfRegistered(caller.clientId)) || (await pairwiseSubject(caller)) !== null) {
      const error_description =
        'Clients that registered themselves or have pairwise subjects cannot read payment details.'
      return c.json({ error: 'access_denied', error_description }, 403)
    }
    const user = await context.billing.findUser(caller.id)
    if (!user) return c.json({ error: 'not_found' }, 404)
    const name = c.req.query('name') ?? 'main'
    const [subscription, onGenericTrial] = await Promise.all([
      user.findSubscription(name),
      user.onGenericTrial(),
    ])
    const { cardBrand, cardLastFour, paypalEmail } = user
    return c.json({
      provider: user.provider,
      subscribed: subscription?.valid() ?? false,
      on_trial: subscription?.onTrial() ?? false,
      on_generic_trial: onGenericTrial,
      trial_ends_at: user.trialEndsAt?.toISOString() ?? null,
      card: cardLastFour === null ? null : { brand: cardBrand, last_four: cardLastFour },
      paypal_email: paypalEmail,
      subscription: subscription ? subscriptionJson(subscription) : null,
    })
  })
}

export function subscriptionJson(subscription: Subscription) {
  return {
    name: subscription.name,
    plan: subscription.providerPlan,
    status: subscription.providerStatus,
    quantity: subscription.quantity,
    on_trial: subscription.onTrial(),
    cancelled: subscription.cancelled(),
    on_grace_period: subscription.onGracePeriod(),
    trial_ends_at: subscription.trialEndsAt?.toISOString() ?? null,
    ends_at: subscription.endsAt?.toISOString() ?? null,
    created_at: subscription.createdAt.toISOString(),
  }
}

const MAX_KNOWN_CLIENTS = 10_000

/**
 * Returns a function that tells whether a client registered itself. People approve only the scopes
 * that a self-registered client requests, so it may not read data that other clients can read without a scope.
 * The client id `null` means cookie mode: the person's own browser.
 */
function createIsSelfRegistered({
  clients,
}: AuthorizationServer<User>): (clientId: string | null) => Promise<boolean> {
  /**
   * Results by client id. They never change, because a client cannot change how it was registered.
   */
  const known = new Map<string, boolean>()
  return async (clientId) => {
    if (clientId === null) return false
    const before = known.get(clientId)
    if (before !== undefined) return before
    const client = await clients.find(clientId)
    const isSelfRegistered = client?.settings.self_registered !== undefined
    if (known.size >= MAX_KNOWN_CLIENTS) known.clear()
    if (client) known.set(clientId, isSelfRegistered)
    return isSelfRegistered
  }
}

import type { Subscription } from '@tollgate/billing'
import { forHono } from '@tollgate/oauth/hono'
import type { Hono } from 'hono'
import type { ServiceContext } from '../context.ts'
import type { AppEnv } from '../http/variables.ts'
import { userJson } from '../users/user.ts'
import { createIsStranger } from './strangers.ts'

/** A small guarded API, so that tokens have something to open. */
export function addApi(app: Hono<AppEnv>, context: ServiceContext): void {
  const { auth, scopes, scope } = forHono(context.oauth)
  const isStranger = createIsStranger(context.oauth)
  const needs = scopes('profile', 'email')
  /** What people have approved of a client that came by itself is all that it gets. */
  const identity: typeof needs = async (c, next) =>
    (await isStranger(c.get('user').clientId)) ? needs(c, next) : next()
  const notForStrangers: typeof needs = async (c, next) => {
    if (!(await isStranger(c.get('user').clientId))) return next()
    const error_description = 'Clients that registered themselves learn nothing of what people pay'
    return c.json({ error: 'access_denied', error_description }, 403)
  }

  app.get('/api/user', auth('api'), identity, async (c) => {
    const user = await c.get('user').find()
    return user ? c.json(userJson(user)) : c.json({ error: 'not_found' }, 404)
  })
  app.get('/api/orders', auth('api'), scopes('place-orders', 'check-status'), (c) =>
    c.json([{ id: 1, status: 'shipped', owner: c.get('user').id }]),
  )
  app.get('/api/orders/status', auth('api'), scope('place-orders', 'check-status'), (c) =>
    c.json({ status: 'shipped', may_order: c.get('user').tokenCan('place-orders') }),
  )
  app.get('/api/subscription', auth('api'), notForStrangers, async (c) => {
    const user = await context.billing.findUser(c.get('user').id)
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

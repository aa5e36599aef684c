import { forHono } from '@tollgate/oauth/hono'
import type { BraintreeGateway, GatewayConfig } from 'braintree'
import type { Hono, MiddlewareHandler } from 'hono'
import { braintreeEnvironment } from '../config/braintree-environment.ts'
import type { ServiceContext } from '../context.ts'
import type { AppEnv } from '../http/variables.ts'

/** Adds the endpoint that the billing page's script calls. All other billing actions are forms. */
export function addBillingApi(app: Hono<AppEnv>, context: ServiceContext): void {
  const { auth } = forHono(context.oauth)

  /**
   * The token identifies the merchant only, so that Braintree's browser script can start. It
   * contains nothing about a customer.
   */
  app.post('/api/billing/client-token', auth('api'), requirePerson(), async (c) => {
    const gateway = await braintreeGateway(context)
    if (!gateway) return c.json({ error: 'not_found' }, 404)
    const { clientToken } = await gateway.clientToken.generate({})
    return c.json({ client_token: clientToken }, 200, { 'cache-control': 'no-store' })
  })
}

/**
 * Lets only the person's own browser through (cookie mode), and answers other callers with 403:
 * applications may not change billing. Use it after `auth('api')`.
 */
export function requirePerson(): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (c.get('user').tokenId === null) return next()
    const error_description = 'Only the signed-in person may do this, not an application.'
    return c.json({ error: 'forbidden', error_description }, 403)
  }
}

async function braintreeGateway({
  sandbox,
  config,
}: ServiceContext): Promise<BraintreeGateway | null> {
  if (!sandbox && !config.braintree) return null
  const { default: braintree } = await import('braintree')
  if (sandbox) return new braintree.BraintreeGateway(sandbox.braintree.config as GatewayConfig)
  if (!config.braintree) return null
  const { environment, ...keys } = braintreeEnvironment(config.braintree)
  const hosts = {
    sandbox: braintree.Environment.Sandbox,
    production: braintree.Environment.Production,
  }
  return new braintree.BraintreeGateway({
    ...keys,
    environment: typeof environment === 'string' ? hosts[environment] : environment,
  })
}

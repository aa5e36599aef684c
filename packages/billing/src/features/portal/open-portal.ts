import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument, NoSubscription } from '../../core/errors/errors.ts'
import { requireApplicationUrl } from '../../core/own-url.ts'
import type { UserScopeWith } from '../../core/user-scope.ts'
import { requirePageLocale } from '../../core/values/locale.ts'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { PortalFlow } from './contract.ts'

/** Options for `billingPortal()`. */
export interface PortalOptions {
  /** Path of the application to which the portal's link back leads, such as `/account`. */
  readonly returnPath: string
  /**
   * A single task that the portal opens instead of its start page: changing the payment method, or
   * cancelling or changing the subscription with the given name.
   */
  readonly flow?: 'payment_method' | { readonly cancel: string } | { readonly update: string }
  /**
   * Language of the portal, such as `de`; the closest language that the provider supports is used.
   * Default: the browser's language.
   */
  readonly locale?: string
}

/**
 * Creates a link to the billing portal for one visit. Anyone with the link can act as the customer
 * in the portal.
 */
export async function openPortal(
  context: BillingContext,
  visitor: {
    readonly owner: Owner
    readonly provider: ProviderName
    readonly customerId: string
  },
  { returnPath, flow, locale }: PortalOptions,
): Promise<{ readonly url: string }> {
  const { owner, provider, customerId } = visitor
  const returnUrl = requireApplicationUrl(context, 'returnPath', returnPath)
  const visit = {
    customerId,
    returnUrl,
    flow: await resolvePortalFlow(context, owner, flow),
    locale: requirePageLocale(locale),
  }
  return requireGatewayPart(await context.gateway(provider), 'portal').open(visit)
}

async function resolvePortalFlow(
  { subscriptions }: BillingContext,
  owner: Owner,
  flow: PortalOptions['flow'],
): Promise<PortalFlow> {
  if (flow === undefined) return null
  if (flow === 'payment_method') return { kind: flow }
  const kind = 'cancel' in flow ? 'cancel' : 'update'
  const name = 'cancel' in flow ? flow.cancel : flow.update
  if (typeof name !== 'string')
    throw new InvalidArgument('Name the subscription to cancel or update')
  const found = await subscriptions.findByName(owner, name)
  if (!found) throw new NoSubscription(`The ${owner.type} has no subscription '${name}'`)
  return { kind, subscriptionId: found.providerId }
}

export async function billingPortal(
  user: UserScopeWith<'portal'>,
  options: PortalOptions,
): Promise<{ readonly url: string }> {
  const { context, provider } = user
  const visitor = { owner: user.owner, provider, customerId: await user.requireCustomerId() }
  return openPortal(context, visitor, options)
}

import type { BillingContext } from '../context.ts'
import { InvalidArgument, NoSubscription } from '../errors.ts'
import type { PortalFlow } from '../gateways/contract/parts/pages/portal.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { ProviderName } from '../provider-name.ts'
import { requirePageLocale } from '../values/locale.ts'
import type { Owner } from '../values/owner.ts'
import { ownUrl } from './own-url.ts'

/** What a customer does in the portal, and where they go from there. */
export interface PortalOptions {
  /** Where the way back leads: a path of the application's, such as `/account`. */
  readonly returnPath: string
  /** One thing to do, in place of the portal's first page. Subscriptions are meant by their names. */
  readonly flow?: 'payment_method' | { readonly cancel: string } | { readonly update: string }
  /** The language of the pages, or the nearest that the provider has. Default: the browser's. */
  readonly locale?: string
}

/** A link for this visit alone: it lets whoever has it into the customer's account. */
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
  const returnUrl = ownUrl(context, 'returnPath', returnPath)
  const visit = {
    customerId,
    returnUrl,
    flow: await flowOf(context, owner, flow),
    locale: requirePageLocale(locale),
  }
  return requirePart(await context.gateway(provider), 'portal').open(visit)
}

async function flowOf(
  { subscriptions }: BillingContext,
  owner: Owner,
  flow: PortalOptions['flow'],
): Promise<PortalFlow> {
  if (flow === undefined) return null
  if (flow === 'payment_method') return { kind: flow }
  const kind = 'cancel' in flow ? 'cancel' : 'update'
  const name = 'cancel' in flow ? flow.cancel : flow.update
  if (typeof name !== 'string') throw new InvalidArgument('Which subscription is meant?')
  const found = await subscriptions.findByName(owner, name)
  if (!found) throw new NoSubscription(`The ${owner.type} has no subscription '${name}'`)
  return { kind, subscriptionId: found.providerId }
}

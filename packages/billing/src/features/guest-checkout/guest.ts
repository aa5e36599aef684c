import { randomUUID } from 'node:crypto'
import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument } from '../../core/errors/errors.ts'
import { requireKnownPrice, requireProvider } from '../../core/known-prices.ts'
import { requireApplicationUrl } from '../../core/own-url.ts'
import { requireText } from '../../core/values/arguments.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { requireCapability, requireGatewayPart } from '../../providers/gateway-parts.ts'
import {
  type CheckoutItem,
  type CheckoutOptions,
  parseCheckoutRequest,
} from '../checkout/checkout-request.ts'
import type { ProviderCheckout } from '../checkout/contract.ts'

/**
 * Value stored at the provider in place of the owner's key for a checkout page of a guest. Owner
 * keys contain a colon, so it cannot be mistaken for one.
 */
export const GUEST_OWNER = 'guest'

/** Options of `user.checkout()` that depend on the user's history. */
const FOR_USERS = ['promotionCode', 'trialDays', 'trialUntil', 'withoutCard', 'anchorOn']

/** Options for `billing.guestCheckout()`. */
export interface GuestCheckoutOptions
  extends Pick<
    CheckoutOptions,
    | 'successPath'
    | 'cancelPath'
    | 'coupon'
    | 'allowPromotionCodes'
    | 'collectTaxIds'
    | 'collectAddress'
    | 'locale'
    | 'metadata'
    | 'invoice'
    | 'name'
  > {
  /**
   * Purpose of the page: it starts a subscription or takes a single payment.
   * @default 'subscription'
   */
  readonly mode?: 'subscription' | 'payment'
  /**
   * Tax to charge. `automatic`: the provider calculates it from the guest's address. A list of ids:
   * the provider's tax rates for each price. `none`: no tax. Required, because the option
   * `taxPercentage` needs a user.
   */
  readonly tax: 'automatic' | 'none' | readonly string[]
  /** The provider that hosts the page. Default: the default provider. */
  readonly provider?: ProviderName
  /** Idempotency key: for a day, repeated calls with the same key return the same page. */
  readonly idempotencyKey?: string
}

/** A hosted checkout page for a guest, as returned by `billing.guestCheckout()`. */
export type GuestCheckout = Pick<ProviderCheckout, 'id' | 'url' | 'status' | 'expiresAt'>

export async function openGuestCheckout(
  context: BillingContext,
  items: string | readonly CheckoutItem[],
  { tax, provider: name, idempotencyKey, ...options }: GuestCheckoutOptions,
): Promise<GuestCheckout> {
  const provider = requireProvider(context, name ?? context.options.defaultProvider)
  requireCapability(provider, 'guestCheckout')
  if (tax !== 'automatic' && tax !== 'none' && !Array.isArray(tax)) {
    throw new InvalidArgument(
      "`tax` for a guest should be 'automatic', 'none' or an array of tax rate ids",
    )
  }
  for (const name of FOR_USERS) {
    if (Object.hasOwn(options, name))
      throw new InvalidArgument(`\`${name}\` is for users, not for guests`)
  }
  const key =
    idempotencyKey === undefined ? randomUUID() : requireText('idempotency key', idempotencyKey)
  const gateway = await context.gateway(provider.name)
  const wanted = parseCheckoutRequest(items, options, (amount) => gateway.toMoney(amount))
  const [main] = wanted.lines
  if (wanted.subscription && main && 'price' in main) requireKnownPrice(provider, main.price)
  const { cancelPath, tax: _, ...page } = wanted
  const rates = Array.isArray(tax) ? { taxRates: tax } : {}
  const { id, url, status, expiresAt } = await requireGatewayPart(gateway, 'guestCheckout').create({
    ...page,
    lines: wanted.lines.map((line) => ({ ...line, ...rates })),
    owner: GUEST_OWNER,
    tax: tax === 'automatic' ? 'automatic' : 0,
    ...(wanted.subscription ? { chosenTax: tax } : {}),
    // Our own return route works for users only.
    successUrl: requireApplicationUrl(context, 'successPath', wanted.successPath),
    cancelUrl:
      cancelPath === null ? null : requireApplicationUrl(context, 'cancelPath', cancelPath),
    key,
  })
  return { id, url, status, expiresAt }
}

import type Stripe from 'stripe'
import { requireLocale } from '../../../values/locale.ts'
import type { Address, ChangedDetails } from '../../contract/parts/money/customer-details.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import type { StripeContext } from '../sdk/client.ts'

export function stripeCustomerDetails({
  stripe,
}: StripeContext): Pick<GatewayParts, 'customerDetails' | 'languages'> {
  return {
    languages: true,
    customerDetails: {
      async set(customerId, details) {
        await stripe.customers.update(customerId, toDetails(details))
      },
    },
  }
}

/** What we call otherwise than Stripe; the rest goes there as it is. */
export function toDetails(details: ChangedDetails): Stripe.CustomerUpdateParams {
  const { address, locale, ...rest } = details
  return {
    ...(rest as Stripe.CustomerUpdateParams),
    ...(address === undefined ? {} : { address: toAddress(address) ?? '' }),
    ...(locale === undefined ? {} : { preferred_locales: [requireLocale('locale', locale)] }),
  }
}

/** Null where nothing is left of it. */
export function toAddress({ postalCode, ...rest }: Address): Stripe.AddressParam | null {
  if (postalCode === undefined && Object.keys(rest).length === 0) return null
  return { ...rest, ...(postalCode === undefined ? {} : { postal_code: postalCode }) }
}

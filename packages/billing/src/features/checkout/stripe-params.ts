import type Stripe from 'stripe'
import { findPageLocale } from '../../providers/stripe/page-locale.ts'
import { withoutReservedKeys } from '../metadata/metadata.ts'
import { buildStartParams, toDiscountParam } from '../subscribe/stripe.ts'
import { buildTaxChoiceMetadata } from '../taxes/stripe-chosen-tax.ts'
import type { CheckoutLine, NewCheckout } from './contract.ts'

type Params = Stripe.Checkout.SessionCreateParams

/** Parameters of a Stripe Checkout session that come from our options and database. */
export interface CheckoutTerms {
  /** Ids of Stripe's tax rates. */
  readonly rates: readonly string[]
  /** Currency of the account, as configured in the options. */
  readonly currency: string
}

/**
 * Returns the parameters of a Stripe Checkout session. `customerId` is `null` for a guest, for whom
 * Stripe creates the customer on the page.
 */
export function buildCheckoutParams(
  newCheckoutPage: Omit<NewCheckout, 'customerId'> & { readonly customerId: string | null },
  terms: CheckoutTerms,
): Params {
  const { owner, operation, successPath, cancelUrl, locale, lines } = newCheckoutPage
  return {
    mode: newCheckoutPage.mode,
    ...buildPayerParams(newCheckoutPage),
    client_reference_id: owner,
    success_url: withSessionId(newCheckoutPage.successUrl),
    metadata: { ...newCheckoutPage.metadata, owner, operation, success_path: successPath },
    ...(cancelUrl === null ? {} : { cancel_url: cancelUrl }),
    ...(lines.length > 0 ? { line_items: lines.map(buildLineItem) } : {}),
    ...(newCheckoutPage.discount
      ? { discounts: [buildDiscountParam(newCheckoutPage.discount)] }
      : {}),
    ...(newCheckoutPage.allowsCodes ? { allow_promotion_codes: true } : {}),
    ...(newCheckoutPage.tax === 'automatic' ? { automatic_tax: { enabled: true } } : {}),
    ...(newCheckoutPage.makesInvoice ? { invoice_creation: { enabled: true } } : {}),
    ...(newCheckoutPage.collectsTaxId ? { tax_id_collection: { enabled: true } } : {}),
    ...(newCheckoutPage.collectsAddress ? { billing_address_collection: 'required' } : {}),
    ...(locale === null ? {} : { locale: findPageLocale(locale) }),
    ...(newCheckoutPage.mode === 'setup' ? { currency: terms.currency } : {}),
    ...buildSubscriptionParams(newCheckoutPage, terms),
  }
}

/**
 * Adds `session_id`, which Stripe fills in. The braces of its placeholder must not be URL-encoded.
 */
function withSessionId(address: string): string {
  const url = new URL(address)
  url.search = `${url.search === '' ? '?' : `${url.search}&`}session_id={CHECKOUT_SESSION_ID}`
  return url.href
}

function buildLineItem(line: CheckoutLine): Stripe.Checkout.SessionCreateParams.LineItem {
  const { quantity, adjustable, taxRates = [] } = line
  return {
    ...(quantity === null ? {} : { quantity }),
    ...(taxRates.length > 0 ? { tax_rates: [...taxRates] } : {}),
    ...(adjustable
      ? {
          adjustable_quantity: {
            enabled: true,
            minimum: adjustable.min,
            maximum: adjustable.max,
          },
        }
      : {}),
    ...('price' in line
      ? { price: line.price }
      : {
          price_data: {
            currency: line.amount.currency,
            unit_amount: line.amount.amount,
            product_data: { name: line.name },
          },
        }),
  }
}

function buildDiscountParam(
  off: NonNullable<NewCheckout['discount']>,
): Stripe.Checkout.SessionCreateParams.Discount {
  return 'coupon' in off ? toDiscountParam(off.coupon) : { promotion_code: off.promotionCode }
}

/**
 * Returns the parameters for the payer. For a guest who subscribes, Stripe creates a customer even
 * without a parameter.
 */
function buildPayerParams(
  wanted: Pick<NewCheckout, 'mode' | 'tax' | 'collectsAddress' | 'collectsTaxId'> & {
    readonly customerId: string | null
  },
): Pick<Params, 'customer' | 'customer_creation' | 'customer_update'> {
  const { customerId, mode } = wanted
  if (customerId !== null) return { customer: customerId, ...buildCustomerUpdateParam(wanted) }
  return mode === 'payment' ? { customer_creation: 'always' } : {}
}

/**
 * Returns the parameters that save the address and name entered on the page to the existing
 * customer.
 */
function buildCustomerUpdateParam({
  tax,
  collectsAddress,
  collectsTaxId,
}: Pick<NewCheckout, 'tax' | 'collectsAddress' | 'collectsTaxId'>): Pick<
  Params,
  'customer_update'
> {
  const address = collectsAddress || collectsTaxId || tax === 'automatic'
  if (!address) return {}
  return { customer_update: { address: 'auto', ...(collectsTaxId ? { name: 'auto' } : {}) } }
}

function buildSubscriptionParams(
  { subscription, metadata, operation, lines, chosenTax }: Omit<NewCheckout, 'customerId'>,
  { rates }: CheckoutTerms,
): Pick<Params, 'subscription_data' | 'payment_method_collection'> {
  if (!subscription) return {}
  const { name, trialDays, trialEndsAt, withoutCard } = subscription
  const [first] = lines
  const main = lines.length > 1 && first && 'price' in first ? { main: first.price } : {}
  return {
    ...(withoutCard ? { payment_method_collection: 'if_required' } : {}),
    subscription_data: {
      metadata: {
        // Our own keys would be read as terms of the subscription.
        ...withoutReservedKeys(metadata),
        name,
        operation,
        ...main,
        ...buildTaxChoiceMetadata(chosenTax),
      },
      ...(rates.length > 0 ? { default_tax_rates: [...rates] } : {}),
      ...(trialDays === null ? {} : { trial_period_days: trialDays }),
      ...(trialEndsAt === null ? {} : { trial_end: Math.floor(trialEndsAt.getTime() / 1000) }),
      ...buildStartParams(subscription),
    },
  }
}

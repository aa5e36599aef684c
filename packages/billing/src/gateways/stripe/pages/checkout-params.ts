import type Stripe from 'stripe'
import type { CheckoutLine, NewCheckout } from '../../contract/parts/pages/checkout.ts'
import { choiceParams } from '../subscriptions/chosen-tax.ts'
import { startParams } from '../subscriptions/start.ts'
import { discount } from '../subscriptions/subscriptions.ts'
import { pageLocale } from './page-locale.ts'

type Params = Stripe.Checkout.SessionCreateParams

/** What our options and rows say beside what the page is to be. */
export interface CheckoutTerms {
  /** Ids of the rates for its tax. */
  readonly rates: readonly string[]
  /** Of the account. */
  readonly currency: string
}

export function checkoutParams(wanted: NewCheckout, terms: CheckoutTerms): Params {
  const { owner, operation, successPath, cancelUrl, locale, lines } = wanted
  return {
    mode: wanted.mode,
    customer: wanted.customerId,
    client_reference_id: owner,
    success_url: withSessionId(wanted.successUrl),
    metadata: { ...wanted.metadata, owner, operation, success_path: successPath },
    ...(cancelUrl === null ? {} : { cancel_url: cancelUrl }),
    ...(lines.length > 0 ? { line_items: lines.map(lineItem) } : {}),
    ...(wanted.discount ? { discounts: [discountOf(wanted.discount)] } : {}),
    ...(wanted.allowsCodes ? { allow_promotion_codes: true } : {}),
    ...(wanted.tax === 'automatic' ? { automatic_tax: { enabled: true } } : {}),
    ...(wanted.makesInvoice ? { invoice_creation: { enabled: true } } : {}),
    ...(wanted.collectsTaxId ? { tax_id_collection: { enabled: true } } : {}),
    ...(wanted.collectsAddress ? { billing_address_collection: 'required' } : {}),
    ...customerUpdate(wanted),
    ...(locale === null ? {} : { locale: pageLocale(locale) }),
    ...(wanted.mode === 'setup' ? { currency: terms.currency } : {}),
    ...subscriptionParams(wanted, terms),
  }
}

/** Stripe writes the id into the address; its braces have to stay as they are. */
function withSessionId(address: string): string {
  const url = new URL(address)
  url.search = `${url.search === '' ? '?' : `${url.search}&`}session_id={CHECKOUT_SESSION_ID}`
  return url.href
}

function lineItem(line: CheckoutLine): Stripe.Checkout.SessionCreateParams.LineItem {
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

function discountOf(
  off: NonNullable<NewCheckout['discount']>,
): Stripe.Checkout.SessionCreateParams.Discount {
  return 'coupon' in off ? discount(off.coupon) : { promotion_code: off.promotionCode }
}

/** What the page asks for becomes the customer's, who was made before. */
function customerUpdate({
  tax,
  collectsAddress,
  collectsTaxId,
}: NewCheckout): Pick<Params, 'customer_update'> {
  const address = collectsAddress || collectsTaxId || tax === 'automatic'
  if (!address) return {}
  return { customer_update: { address: 'auto', ...(collectsTaxId ? { name: 'auto' } : {}) } }
}

function subscriptionParams(
  { subscription, metadata, operation, lines, chosenTax }: NewCheckout,
  { rates }: CheckoutTerms,
): Pick<Params, 'subscription_data' | 'payment_method_collection'> {
  if (!subscription) return {}
  const { name, trialDays, trialEndsAt, withoutCard } = subscription
  const [first] = lines
  const main = lines.length > 1 && first && 'price' in first ? { main: first.price } : {}
  return {
    ...(withoutCard ? { payment_method_collection: 'if_required' } : {}),
    subscription_data: {
      metadata: { ...metadata, name, operation, ...main, ...choiceParams(chosenTax) },
      ...(rates.length > 0 ? { default_tax_rates: [...rates] } : {}),
      ...(trialDays === null ? {} : { trial_period_days: trialDays }),
      ...(trialEndsAt === null ? {} : { trial_end: Math.floor(trialEndsAt.getTime() / 1000) }),
      ...startParams(subscription),
    },
  }
}

import type Stripe from 'stripe'
import { readAutomaticTaxParam, rejectManualTaxRates } from '../invoices/automatic-tax.ts'
import { requireOwnPaymentMethod } from '../payments/customer.ts'
import type { SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, createMissingParamFault } from '../wire/errors.ts'
import { pickSentFields } from '../wire/fields.ts'

type Settings = Pick<
  Stripe.SubscriptionUpdateParams,
  | 'collection_method'
  | 'default_payment_method'
  | 'days_until_due'
  | 'description'
  | 'invoice_settings'
  | 'payment_settings'
  | 'trial_settings'
>

/**
 * Applies the parameters of an update that cause no billing, such as metadata, to a subscription.
 */
export function applySettings(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Settings,
): void {
  const { default_payment_method: method } = params
  if (method !== undefined) {
    const customer = work.require('customer', subscription.customer)
    subscription.default_payment_method = requireOwnPaymentMethod(work, customer, method)
  }
  Object.assign(subscription, pickSentFields(params, 'collection_method', 'description'))
  if (params.days_until_due !== undefined) {
    if (subscription.collection_method !== 'send_invoice') {
      throw createInvalidRequestFault(
        '`days_until_due` can only be set if collection method is `send_invoice`.',
        'days_until_due',
      )
    }
    subscription.days_until_due = params.days_until_due
  }
  if (subscription.collection_method === 'send_invoice' && subscription.days_until_due === null) {
    throw createMissingParamFault('days_until_due')
  }
  const payment = params.payment_settings
  if (payment) {
    subscription.payment_settings = {
      payment_method_options: null,
      payment_method_types: payment.payment_method_types || null,
      save_default_payment_method:
        payment.save_default_payment_method ??
        subscription.payment_settings?.save_default_payment_method ??
        'off',
    }
  }
  if (params.trial_settings) {
    const { billing_cycle_anchor = null, missing_payment_method = 'create_invoice' } =
      params.trial_settings.end_behavior
    subscription.trial_settings = { end_behavior: { billing_cycle_anchor, missing_payment_method } }
  }
  const invoices = params.invoice_settings
  if (invoices) {
    const changed = pickSentFields(invoices, 'description', 'footer')
    subscription.invoice_settings = { ...subscription.invoice_settings, ...changed }
  }
}

/**
 * Switches automatic tax of a subscription on or off.
 * @throws {StripeFault} If the subscription also has manual tax rates.
 */
export function applyAutomaticTax(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Pick<Stripe.SubscriptionUpdateParams, 'automatic_tax'>,
): void {
  const enabled = readAutomaticTaxParam(params)
  if (enabled !== undefined) {
    subscription.automatic_tax = buildAutomaticTaxSettings(enabled)
  }
  if (!subscription.automatic_tax.enabled) return
  rejectManualTaxRates(subscription.default_tax_rates, 'default_tax_rates')
  for (const item of work.findBy('subscription_item', 'subscription', subscription.id)) {
    rejectManualTaxRates(item.tax_rates, 'items[tax_rates]')
  }
}

/** Returns the value of the field `automatic_tax` of a subscription, schedule or phase. */
export function buildAutomaticTaxSettings(enabled: boolean): SubscriptionRow['automatic_tax'] {
  return { disabled_reason: null, enabled, liability: enabled ? { type: 'self' } : null }
}

/**
 * Converts the parameter `cancel_at` to Unix seconds. Its value is a timestamp, or names the
 * nearest or furthest end of a period.
 */
export function resolveCancelDate(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  value: NonNullable<Stripe.SubscriptionCreateParams['cancel_at']>,
): number {
  const ends = work
    .findBy('subscription_item', 'subscription', subscription.id)
    .map((item) => item.current_period_end)
  if (value === 'min_period_end') return Math.min(...ends)
  if (value === 'max_period_end') return Math.max(...ends)
  const at = Number(value)
  if (!(at > work.now))
    throw createInvalidRequestFault('`cancel_at` must be in the future.', 'cancel_at')
  return at
}

import type Stripe from 'stripe'
import { refuseManualRates, wantsAutomaticTax } from '../invoices/automatic-tax.ts'
import type { SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam } from '../wire/errors.ts'

type Settings = Pick<
  Stripe.SubscriptionUpdateParams,
  | 'collection_method'
  | 'days_until_due'
  | 'description'
  | 'invoice_settings'
  | 'payment_settings'
  | 'trial_settings'
>

/** Settings that bill nothing by themselves. */
export function applySettings(subscription: SubscriptionRow, params: Settings): void {
  if (params.collection_method !== undefined)
    subscription.collection_method = params.collection_method
  if (params.days_until_due !== undefined) {
    if (subscription.collection_method !== 'send_invoice') {
      throw invalidRequest(
        '`days_until_due` can only be set if collection method is `send_invoice`.',
        'days_until_due',
      )
    }
    subscription.days_until_due = params.days_until_due
  }
  if (subscription.collection_method === 'send_invoice' && subscription.days_until_due === null) {
    throw missingParam('days_until_due')
  }
  if (params.description !== undefined) subscription.description = params.description || null
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
    subscription.trial_settings = {
      end_behavior: {
        billing_cycle_anchor: params.trial_settings.end_behavior.billing_cycle_anchor ?? null,
        missing_payment_method:
          params.trial_settings.end_behavior.missing_payment_method ?? 'create_invoice',
      },
    }
  }
  const invoices = params.invoice_settings
  if (invoices) {
    const settings = { ...subscription.invoice_settings }
    if (invoices.description !== undefined) settings.description = invoices.description || null
    if (invoices.footer !== undefined) settings.footer = invoices.footer || null
    subscription.invoice_settings = settings
  }
}

/** Whether tax is worked out by itself from now on, and that no rates were given beside it. */
export function applyAutomaticTax(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Pick<Stripe.SubscriptionUpdateParams, 'automatic_tax'>,
): void {
  const enabled = wantsAutomaticTax(params)
  if (enabled !== undefined) {
    const liability = enabled ? { type: 'self' as const } : null
    subscription.automatic_tax = { disabled_reason: null, enabled, liability }
  }
  if (!subscription.automatic_tax.enabled) return
  refuseManualRates(subscription.default_tax_rates, 'default_tax_rates')
  for (const item of work.findBy('subscription_item', 'subscription', subscription.id)) {
    refuseManualRates(item.tax_rates, 'items[tax_rates]')
  }
}

/** A cancel_at as a date: a timestamp, or the nearest or furthest end of a period. */
export function cancelDate(
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
  if (!(at > work.now)) throw invalidRequest('`cancel_at` must be in the future.', 'cancel_at')
  return at
}

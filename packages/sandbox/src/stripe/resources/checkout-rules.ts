import type Stripe from 'stripe'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createMutuallyExclusiveFault,
} from '../wire/errors.ts'

export type CheckoutParams = Stripe.Checkout.SessionCreateParams
export type CheckoutMode = 'payment' | 'subscription' | 'setup'

/** Parameters that do not apply to a mode. Stripe rejects them instead of ignoring them. */
const INAPPLICABLE_PARAMS: Readonly<Record<CheckoutMode, ReadonlyArray<keyof CheckoutParams>>> = {
  payment: ['subscription_data', 'setup_intent_data', 'payment_method_collection'],
  subscription: ['payment_intent_data', 'setup_intent_data', 'invoice_creation'],
  setup: [
    'allow_promotion_codes',
    'discounts',
    'invoice_creation',
    'line_items',
    'payment_intent_data',
    'payment_method_collection',
    'submit_type',
    'subscription_data',
  ],
}

/** Parameters only valid for sessions embedded in the application's own page. */
const EMBEDDED_PARAMS = ['permissions', 'redirect_on_completion', 'return_url'] as const

export function checkCheckoutSession(params: CheckoutParams): CheckoutMode {
  const mode = (params.mode ?? 'payment') as CheckoutMode
  const { ui_mode: ui = 'hosted_page' } = params
  if (ui !== 'hosted_page' && ui !== 'hosted') {
    throw createInvalidRequestFault('The sandbox supports only hosted checkout pages.', 'ui_mode')
  }
  for (const name of EMBEDDED_PARAMS) {
    if (params[name] === undefined) continue
    throw createInvalidRequestFault(
      `You can not pass \`${name}\` when \`ui_mode\` is \`hosted_page\`.`,
      name,
    )
  }
  for (const name of INAPPLICABLE_PARAMS[mode]) {
    if (params[name] === undefined) continue
    throw createInvalidRequestFault(`You can not pass \`${name}\` in \`${mode}\` mode.`, name)
  }
  if (params.success_url === undefined) throw createMissingParamFault('success_url')
  checkCustomer(params, mode)
  checkDiscounts(params)
  checkMethods(params)
  return mode
}

function checkCustomer(params: CheckoutParams, mode: CheckoutMode): void {
  if (params.customer !== undefined) {
    for (const name of ['customer_email', 'customer_creation'] as const) {
      if (params[name] !== undefined)
        throw createMutuallyExclusiveFault(`customer, ${name}`, 'customer')
    }
  }
  if (params.customer_creation !== undefined && mode === 'subscription') {
    throw createInvalidRequestFault('`customer_creation` can only be used in `payment` mode.')
  }
  if (params.customer_update && params.customer === undefined) {
    throw createInvalidRequestFault(
      '`customer_update` can only be used with `customer`.',
      'customer_update',
    )
  }
}

function checkDiscounts(params: CheckoutParams): void {
  // Stripe rejects the combination even if the value is `false`.
  if (params.allow_promotion_codes !== undefined && params.discounts !== undefined) {
    throw createMutuallyExclusiveFault('allow_promotion_codes, discounts', 'allow_promotion_codes')
  }
  if ((params.discounts?.length ?? 0) > 1) {
    throw createInvalidRequestFault('You may only specify up to one discount.', 'discounts')
  }
}

function checkMethods(params: CheckoutParams): void {
  const allowed = params.allowed_payment_method_types ?? ['card']
  const isAble = (['card', 'sepa_debit', 'us_bank_account'] as const).some((type) =>
    allowed.includes(type),
  )
  if (!isAble) {
    throw createInvalidRequestFault(
      'The sandbox pays with cards and bank debits only: allow `card`, `sepa_debit` or `us_bank_account`.',
      'allowed_payment_method_types',
    )
  }
}

/**
 * Validates the trial of a new checkout session for a subscription. Checkout's rules are stricter
 * than those of the subscription API.
 */
export function checkCheckoutTrial(params: CheckoutParams, now: number): void {
  const { trial_end: end, trial_period_days: days, ...data } = params.subscription_data ?? {}
  if (end !== undefined && days !== undefined) {
    throw createMutuallyExclusiveFault(
      'subscription_data[trial_end], subscription_data[trial_period_days]',
      'subscription_data[trial_end]',
    )
  }
  if (data.billing_cycle_anchor !== undefined && (end ?? days) !== undefined) {
    throw createInvalidRequestFault(
      'You can not use a trial together with `billing_cycle_anchor`.',
      'subscription_data[billing_cycle_anchor]',
    )
  }
  if (days !== undefined && days < 1) {
    throw createInvalidRequestFault(
      'The `trial_period_days` must be at least 1.',
      'subscription_data[trial_period_days]',
    )
  }
  if (end !== undefined && end < now + 2 * 86_400) {
    throw createInvalidRequestFault(
      'The `trial_end` date has to be at least 2 days in the future.',
      'subscription_data[trial_end]',
    )
  }
}

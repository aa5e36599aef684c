import type Stripe from 'stripe'
import { invalidRequest, missingParam } from '../wire/errors.ts'

export type CheckoutParams = Stripe.Checkout.SessionCreateParams
export type CheckoutMode = 'payment' | 'subscription' | 'setup'

/** What a mode has no use for, which Stripe refuses instead of forgetting it. */
const FOREIGN: Readonly<Record<CheckoutMode, ReadonlyArray<keyof CheckoutParams>>> = {
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

/** Stripe takes these, the sandbox has nothing that would follow from them. */
const NOT_IMITATED: ReadonlyArray<keyof CheckoutParams> = [
  'branding_settings',
  'name_collection',
  'payment_method_configuration',
  'payment_method_options',
  'saved_payment_method_options',
  'shipping_address_collection',
]

/** The same for what is only a switch: off is what it is here anyway. */
const NEVER_ON = ['adaptive_pricing', 'managed_payments'] as const

/** Only for sessions that are shown inside a page of the application. */
const EMBEDDED = ['permissions', 'redirect_on_completion', 'return_url'] as const

export function checkSession(params: CheckoutParams): CheckoutMode {
  const mode = (params.mode ?? 'payment') as CheckoutMode
  const { ui_mode: ui = 'hosted_page' } = params
  if (ui !== 'hosted_page' && ui !== 'hosted') {
    throw invalidRequest('The sandbox has hosted checkout pages only.', 'ui_mode')
  }
  for (const name of EMBEDDED) {
    if (params[name] === undefined) continue
    throw invalidRequest(`You can not pass \`${name}\` when \`ui_mode\` is \`hosted_page\`.`, name)
  }
  for (const name of FOREIGN[mode]) {
    if (params[name] === undefined) continue
    throw invalidRequest(`You can not pass \`${name}\` in \`${mode}\` mode.`, name)
  }
  for (const name of NOT_IMITATED) if (params[name] !== undefined) throw notImitated(name)
  for (const name of NEVER_ON) if (params[name]?.enabled) throw notImitated(`${name}[enabled]`)
  if (params.success_url === undefined) throw missingParam('success_url')
  checkCustomer(params, mode)
  checkDiscounts(params)
  checkMethods(params)
  checkTexts(params)
  checkInvoiceData(params)
  return mode
}

function checkCustomer(params: CheckoutParams, mode: CheckoutMode): void {
  if (params.customer !== undefined) {
    for (const name of ['customer_email', 'customer_creation'] as const) {
      if (params[name] !== undefined) throw onlyOne('customer', name)
    }
  }
  if (params.customer_creation !== undefined && mode === 'subscription') {
    throw invalidRequest('`customer_creation` can only be used in `payment` mode.')
  }
  if (params.customer_update && params.customer === undefined) {
    throw invalidRequest('`customer_update` can only be used with `customer`.', 'customer_update')
  }
  if (params.customer_update?.shipping === 'auto') throw notImitated('customer_update[shipping]')
}

function checkDiscounts(params: CheckoutParams): void {
  // Even `false` beside a discount is one too many.
  if (params.allow_promotion_codes !== undefined && params.discounts !== undefined) {
    throw onlyOne('allow_promotion_codes', 'discounts')
  }
  if ((params.discounts?.length ?? 0) > 1) {
    throw invalidRequest('You may only specify up to one discount.', 'discounts')
  }
}

function checkMethods(params: CheckoutParams): void {
  const allowed = params.allowed_payment_method_types ?? ['card']
  const isAble = (['card', 'sepa_debit', 'us_bank_account'] as const).some((type) =>
    allowed.includes(type),
  )
  if (!isAble) {
    throw invalidRequest(
      'The sandbox pays with cards and bank debits only: allow `card`, `sepa_debit` or `us_bank_account`.',
      'allowed_payment_method_types',
    )
  }
  if (params.excluded_payment_method_types?.includes('card')) {
    throw notImitated('excluded_payment_method_types')
  }
}

/** The page shows what is said at its button; the other texts belong to what it does not ask. */
function checkTexts({ custom_text: text }: CheckoutParams): void {
  if (text?.shipping_address) throw notImitated('custom_text[shipping_address]')
  if (text?.terms_of_service_acceptance) {
    throw notImitated('custom_text[terms_of_service_acceptance]')
  }
}

function checkInvoiceData(params: CheckoutParams): void {
  const invoice = params.invoice_creation?.invoice_data
  const subscription = params.subscription_data?.invoice_settings
  if (invoice?.rendering_options) {
    throw notImitated('invoice_creation[invoice_data][rendering_options]')
  }
  if (invoice?.issuer?.type === 'account') {
    throw notImitated('invoice_creation[invoice_data][issuer]')
  }
  if (subscription?.issuer?.type === 'account') {
    throw notImitated('subscription_data[invoice_settings][issuer]')
  }
  if (subscription?.custom_fields) {
    throw notImitated('subscription_data[invoice_settings][custom_fields]')
  }
}

/** The trial of a subscription session; Checkout's rules are stricter than the API's. */
export function checkTrial(params: CheckoutParams, now: number): void {
  const { trial_end: end, trial_period_days: days, ...data } = params.subscription_data ?? {}
  if (end !== undefined && days !== undefined) {
    throw onlyOne('subscription_data[trial_end]', 'subscription_data[trial_period_days]')
  }
  if (data.billing_cycle_anchor !== undefined && (end ?? days) !== undefined) {
    throw invalidRequest(
      'You can not use a trial together with `billing_cycle_anchor`.',
      'subscription_data[billing_cycle_anchor]',
    )
  }
  if (days !== undefined && days < 1) {
    throw invalidRequest(
      'The `trial_period_days` must be at least 1.',
      'subscription_data[trial_period_days]',
    )
  }
  if (end !== undefined && end < now + 2 * 86_400) {
    throw invalidRequest(
      'The `trial_end` date has to be at least 2 days in the future.',
      'subscription_data[trial_end]',
    )
  }
}

export function notImitated(path: string) {
  return invalidRequest(`The sandbox does not imitate \`${path}\`.`, path)
}

function onlyOne(first: string, second: string) {
  return invalidRequest(`You may only specify one of these parameters: ${first}, ${second}.`, first)
}

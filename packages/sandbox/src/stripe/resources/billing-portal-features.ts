import type Stripe from 'stripe'
import type { PortalConfigurationRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam } from '../wire/errors.ts'
import { notImitated } from './checkout-rules.ts'

export type Features = PortalConfigurationRow['features']
type FeatureParams = NonNullable<Stripe.BillingPortal.ConfigurationUpdateParams['features']>
type ProductParams = NonNullable<FeatureParams['subscription_update']>['products']
type UpdateFeature = Features['subscription_update']

export const NO_FEATURES: Features = {
  customer_update: { allowed_updates: [], enabled: false },
  invoice_history: { enabled: false },
  payment_method_update: { enabled: false, payment_method_configuration: null },
  subscription_cancel: {
    cancellation_reason: { enabled: false, feedback_options: null, options: [] },
    enabled: false,
    mode: 'at_period_end',
    proration_behavior: 'none',
  },
  subscription_pause: { duration: { interval_options: [], type: 'indefinite' }, enabled: false },
  subscription_update: {
    billing_cycle_anchor: null,
    default_allowed_updates: [],
    enabled: false,
    products: null,
    proration_behavior: 'none',
    schedule_at_period_end: { conditions: [] },
    trial_update_behavior: 'end_trial',
  },
}

/** As a dashboard with every switch on; without products every recurring price is offered. */
export const ALL_FEATURES: Features = {
  ...NO_FEATURES,
  customer_update: { allowed_updates: ['email', 'name', 'phone', 'address'], enabled: true },
  invoice_history: { enabled: true },
  payment_method_update: { enabled: true, payment_method_configuration: null },
  subscription_cancel: { ...NO_FEATURES.subscription_cancel, enabled: true },
  subscription_update: {
    ...NO_FEATURES.subscription_update,
    default_allowed_updates: ['price', 'quantity', 'promotion_code'],
    enabled: true,
    proration_behavior: 'create_prorations',
  },
}

/** What the portal of a configuration can do, after the parameters changed some of it. */
export function readFeatures(work: UnitOfWork, before: Features, params: FeatureParams): Features {
  if (params.subscription_pause?.enabled) throw notImitated('features[subscription_pause]')
  const features: Features = {
    ...before,
    customer_update: readCustomerUpdate(before, params),
    invoice_history: { ...before.invoice_history, ...params.invoice_history },
    payment_method_update: readMethodUpdate(before, params),
    subscription_cancel: readCancel(before, params),
    subscription_update: readUpdate(work, before, params),
  }
  if (features.subscription_update.enabled && !features.payment_method_update.enabled) {
    throw invalidRequest(
      'Cannot enable subscription updates while payment method update is disabled.',
    )
  }
  return features
}

function readCustomerUpdate(before: Features, { customer_update: params }: FeatureParams) {
  const { enabled, allowed_updates: allowed } = before.customer_update
  for (const name of params?.allowed_updates || []) {
    if (name === 'shipping' || name === 'tax_id') {
      throw notImitated('features[customer_update][allowed_updates]')
    }
  }
  return {
    allowed_updates: params?.allowed_updates === '' ? [] : (params?.allowed_updates ?? allowed),
    enabled: params?.enabled ?? enabled,
  }
}

function readMethodUpdate(before: Features, { payment_method_update: params }: FeatureParams) {
  if (params?.payment_method_configuration) {
    throw notImitated('features[payment_method_update][payment_method_configuration]')
  }
  return {
    ...before.payment_method_update,
    enabled: params?.enabled ?? before.payment_method_update.enabled,
  }
}

function readCancel(before: Features, { subscription_cancel: params }: FeatureParams) {
  const known = before.subscription_cancel
  const reason = params?.cancellation_reason
  if (reason?.feedback_options) {
    throw notImitated('features[subscription_cancel][cancellation_reason][feedback_options]')
  }
  return {
    cancellation_reason: reason
      ? {
          enabled: reason.enabled ?? known.cancellation_reason.enabled,
          feedback_options: null,
          options: reason.options || [],
        }
      : known.cancellation_reason,
    enabled: params?.enabled ?? known.enabled,
    mode: params?.mode ?? known.mode,
    proration_behavior: params?.proration_behavior ?? known.proration_behavior,
  }
}

function readUpdate(
  work: UnitOfWork,
  before: Features,
  { subscription_update: params }: FeatureParams,
): UpdateFeature {
  const known = before.subscription_update
  if (!params) return known
  const conditions = params.schedule_at_period_end?.conditions
  if (conditions && conditions.length > 0) {
    throw notImitated('features[subscription_update][schedule_at_period_end][conditions]')
  }
  const allowed = params.default_allowed_updates
  const feature: UpdateFeature = {
    ...known,
    billing_cycle_anchor: params.billing_cycle_anchor ?? known.billing_cycle_anchor,
    default_allowed_updates: allowed === '' ? [] : (allowed ?? known.default_allowed_updates),
    enabled: params.enabled ?? known.enabled,
    products:
      params.products === undefined
        ? (known.products ?? null)
        : readProducts(work, params.products),
    proration_behavior: params.proration_behavior ?? known.proration_behavior,
    trial_update_behavior: params.trial_update_behavior ?? known.trial_update_behavior,
  }
  if (feature.enabled && feature.default_allowed_updates.length === 0) {
    throw missingParam('features[subscription_update][default_allowed_updates]')
  }
  return feature
}

function readProducts(
  work: UnitOfWork,
  params: ProductParams,
): NonNullable<UpdateFeature['products']> | null {
  if (!params) return null
  const path = 'features[subscription_update][products]'
  return params.map(({ product, prices, adjustable_quantity: adjustable }, at) => {
    work.require('product', product, `${path}[${at}][product]`)
    const intervals = new Set<string>()
    prices.forEach((id, index) => {
      const param = `${path}[${at}][prices][${index}]`
      const price = work.require('price', id, param)
      if (price.product !== product || !price.recurring) {
        throw invalidRequest(
          `The price ${id} is not a recurring price of the product ${product}.`,
          param,
        )
      }
      const interval = `${price.currency} ${price.recurring.interval_count} ${price.recurring.interval}`
      if (intervals.has(interval)) {
        throw invalidRequest('Each price of a product must have a unique billing interval.', param)
      }
      intervals.add(interval)
    })
    return {
      adjustable_quantity: {
        enabled: adjustable?.enabled ?? false,
        maximum: adjustable?.maximum ?? null,
        minimum: adjustable?.minimum ?? 1,
      },
      prices: [...prices],
      product,
    }
  })
}

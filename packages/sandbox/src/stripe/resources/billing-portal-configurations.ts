import type Stripe from 'stripe'
import type { StripeOperations } from '../api/operation.ts'
import {
  changeOperation,
  createOperation,
  listOperation,
  retrieveOperation,
} from '../api/resource.ts'
import { createBlankRow } from '../state/blank.ts'
import type { PortalConfigurationRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, createMissingParamFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'

type CreateParams = Stripe.BillingPortal.ConfigurationCreateParams
type UpdateParams = Stripe.BillingPortal.ConfigurationUpdateParams

export const portalConfigurationOperations: StripeOperations = {
  'BillingPortal/Configurations.create': createOperation(
    'billing_portal.configuration',
    (params, { work }) => {
      const row = newConfiguration(work, false)
      applyParams(work, row, params)
      return row
    },
  ),
  'BillingPortal/Configurations.retrieve': retrieveOperation('billing_portal.configuration'),
  'BillingPortal/Configurations.update': changeOperation(
    'billing_portal.configuration',
    (row, params, { work }) => {
      if (params.active === false && row.is_default) {
        throw createInvalidRequestFault(
          'The default configuration cannot be deactivated.',
          'active',
        )
      }
      row.active = params.active ?? row.active
      applyParams(work, row, params)
      row.updated = work.now
      work.emit('billing_portal.configuration.updated', 'billing_portal.configuration', row)
    },
  ),
  'BillingPortal/Configurations.list': listOperation('billing_portal.configuration'),
}

/** Creates the portal configuration that is used if the account has none. All features are on. */
export function ensureDefaultPortalConfiguration(work: UnitOfWork): PortalConfigurationRow {
  for (const row of work.tables['billing_portal.configuration'].values()) {
    if (row.is_default) return row
  }
  return work.insert('billing_portal.configuration', newConfiguration(work, true))
}

export function requireConfiguration(work: UnitOfWork, id: string): PortalConfigurationRow {
  const row = work.require('billing_portal.configuration', id, 'configuration')
  if (row.active) return row
  throw createInvalidRequestFault(
    `The configuration ${id} is inactive, so it cannot be used for a portal session.`,
    'configuration',
  )
}

function newConfiguration(work: UnitOfWork, isDefault: boolean): PortalConfigurationRow {
  return {
    ...createBlankRow('billing_portal.configuration'),
    id: work.newId('bpc_1'),
    active: true,
    business_profile: { headline: null, privacy_policy_url: null, terms_of_service_url: null },
    created: work.now,
    features: structuredClone(isDefault ? ALL_FEATURES : NO_FEATURES),
    is_default: isDefault,
    login_page: { enabled: false, url: null },
    metadata: {},
    updated: work.now,
  }
}

function applyParams(
  work: UnitOfWork,
  row: PortalConfigurationRow,
  params: CreateParams | UpdateParams,
): void {
  Object.assign(row, pickSentFields(params, 'default_return_url', 'name'))
  row.business_profile = {
    ...row.business_profile,
    ...pickSentFields(
      params.business_profile,
      'headline',
      'privacy_policy_url',
      'terms_of_service_url',
    ),
  }
  row.metadata = mergeMetadata(row.metadata, params.metadata)
  if (params.features) row.features = readFeatures(work, row.features, params.features)
}

type Features = PortalConfigurationRow['features']
type FeatureParams = NonNullable<Stripe.BillingPortal.ConfigurationUpdateParams['features']>
type ProductParams = NonNullable<FeatureParams['subscription_update']>['products']
type UpdateFeature = Features['subscription_update']

const NO_FEATURES: Features = {
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

/** All features enabled. Without a list of products, every recurring price is offered. */
const ALL_FEATURES: Features = {
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

/** Merges parameters into the features of a portal configuration. */
function readFeatures(work: UnitOfWork, featuresBefore: Features, params: FeatureParams): Features {
  const { customer_update: customer, subscription_cancel: cancel } = params
  const { enabled, allowed_updates: updates } = { ...featuresBefore.customer_update, ...customer }
  const features: Features = {
    ...featuresBefore,
    customer_update: { enabled, allowed_updates: updates || [] },
    invoice_history: { ...featuresBefore.invoice_history, ...params.invoice_history },
    payment_method_update: {
      ...featuresBefore.payment_method_update,
      ...pickSentFields(params.payment_method_update, 'enabled'),
    },
    subscription_cancel: {
      ...featuresBefore.subscription_cancel,
      ...pickSentFields(cancel, 'enabled', 'mode', 'proration_behavior'),
      ...readReason(featuresBefore, cancel?.cancellation_reason),
    },
    subscription_update: readUpdate(work, featuresBefore, params),
  }
  if (features.subscription_update.enabled && !features.payment_method_update.enabled) {
    throw createInvalidRequestFault(
      'Cannot enable subscription updates while payment method update is disabled.',
    )
  }
  return features
}

function readReason(
  { subscription_cancel: { cancellation_reason: known } }: Features,
  params: NonNullable<FeatureParams['subscription_cancel']>['cancellation_reason'],
): Partial<Features['subscription_cancel']> {
  if (!params) return {}
  const { enabled = known.enabled, options } = params
  return { cancellation_reason: { enabled, feedback_options: null, options: options || [] } }
}

function readUpdate(
  work: UnitOfWork,
  before: Features,
  { subscription_update: params }: FeatureParams,
): UpdateFeature {
  const known = before.subscription_update
  if (!params) return known
  const { default_allowed_updates: allowed, products } = params
  const feature: UpdateFeature = {
    ...known,
    ...pickSentFields(params, 'billing_cycle_anchor', 'enabled', 'proration_behavior'),
    ...pickSentFields(params, 'trial_update_behavior'),
    default_allowed_updates: (allowed ?? known.default_allowed_updates) || [],
    products: products === undefined ? (known.products ?? null) : readProducts(work, products),
  }
  if (feature.enabled && feature.default_allowed_updates.length === 0) {
    throw createMissingParamFault('features[subscription_update][default_allowed_updates]')
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
        throw createInvalidRequestFault(
          `The price ${id} is not a recurring price of the product ${product}.`,
          param,
        )
      }
      const interval = `${price.currency} ${price.recurring.interval_count} ${price.recurring.interval}`
      if (intervals.has(interval)) {
        throw createInvalidRequestFault(
          'Each price of a product must have a unique billing interval.',
          param,
        )
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

import type Stripe from 'stripe'
import { filterRows, listPage } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { render } from '../state/render.ts'
import type { PortalConfigurationRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { nulls } from '../wire/wire.ts'
import { ALL_FEATURES, NO_FEATURES, readFeatures } from './billing-portal-features.ts'
import { notImitated } from './checkout-rules.ts'

type CreateParams = Stripe.BillingPortal.ConfigurationCreateParams
type UpdateParams = Stripe.BillingPortal.ConfigurationUpdateParams

export const billingPortalConfigurations: Operations = {
  'BillingPortal/Configurations.create': op<CreateParams>((params, { work }) => {
    const row = newConfiguration(work, false)
    applyParams(work, row, params)
    work.insert('billing_portal.configuration', row, 'billing_portal.configuration.created')
    return render('billing_portal.configuration', row, work.tables)
  }),
  'BillingPortal/Configurations.retrieve': op((_params, call) => {
    const row = call.work.require('billing_portal.configuration', idOf(call))
    return render('billing_portal.configuration', row, call.work.tables)
  }),
  'BillingPortal/Configurations.update': op<UpdateParams>((params, call) => {
    const { work } = call
    const row = work.require('billing_portal.configuration', idOf(call))
    work.edit('billing_portal.configuration', row)
    if (params.active === false && row.is_default) {
      throw invalidRequest('The default configuration cannot be deactivated.', 'active')
    }
    row.active = params.active ?? row.active
    applyParams(work, row, params)
    row.updated = work.now
    work.emit('billing_portal.configuration.updated', 'billing_portal.configuration', row)
    return render('billing_portal.configuration', row, work.tables)
  }),
  'BillingPortal/Configurations.list': op<Stripe.BillingPortal.ConfigurationListParams>(
    (params, { work, path }) => {
      const rows = filterRows(
        work.tables['billing_portal.configuration'].newestFirst(),
        (row) =>
          (params.active === undefined || row.active === params.active) &&
          (params.is_default === undefined || row.is_default === params.is_default),
      )
      return listPage(rows, params, path, (row) =>
        render('billing_portal.configuration', row, work.tables),
      )
    },
  ),
}

/** What an account has without having made one: everything the portal can do. */
export function defaultConfiguration(work: UnitOfWork): PortalConfigurationRow {
  for (const row of work.tables['billing_portal.configuration'].values()) {
    if (row.is_default) return row
  }
  return work.insert('billing_portal.configuration', newConfiguration(work, true))
}

export function requireConfiguration(work: UnitOfWork, id: string): PortalConfigurationRow {
  const row = work.require('billing_portal.configuration', id, 'configuration')
  if (row.active) return row
  throw invalidRequest(
    `The configuration ${id} is inactive, so it cannot be used for a portal session.`,
    'configuration',
  )
}

function newConfiguration(work: UnitOfWork, isDefault: boolean): PortalConfigurationRow {
  return {
    ...nulls<Stripe.BillingPortal.Configuration>('billing_portal.configuration'),
    id: work.newId('bpc_1'),
    object: 'billing_portal.configuration',
    active: true,
    business_profile: { headline: null, privacy_policy_url: null, terms_of_service_url: null },
    created: work.now,
    features: structuredClone(isDefault ? ALL_FEATURES : NO_FEATURES),
    is_default: isDefault,
    livemode: false,
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
  if (params.login_page?.enabled) throw notImitated('login_page[enabled]')
  if (params.default_return_url !== undefined) {
    row.default_return_url = params.default_return_url || null
  }
  if (params.name !== undefined) row.name = params.name || null
  const { headline, privacy_policy_url, terms_of_service_url } = params.business_profile ?? {}
  const profile = { headline, privacy_policy_url, terms_of_service_url }
  for (const name of Object.keys(profile) as Array<keyof typeof profile>) {
    const value = profile[name]
    if (value === undefined) continue
    row.business_profile = { ...row.business_profile, [name]: value || null }
  }
  row.metadata = mergeMetadata(row.metadata, params.metadata)
  if (params.features) row.features = readFeatures(work, row.features, params.features)
}

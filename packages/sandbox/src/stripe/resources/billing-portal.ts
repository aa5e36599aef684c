import type Stripe from 'stripe'
import { listPage } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { requireCustomer } from '../payments/customer.ts'
import { render } from '../state/render.ts'
import type { PortalConfigurationRow, PortalSessionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { nulls } from '../wire/wire.ts'

export const billingPortal: Operations = {
  'BillingPortal/Sessions.create': op<Stripe.BillingPortal.SessionCreateParams>(
    (params, { work }) => {
      if (params.customer === undefined) throw missingParam('customer')
      const customer = requireCustomer(work, params.customer, 'customer')
      if (params.flow_data)
        throw invalidRequest('The sandbox portal has no deep-linked flows.', 'flow_data')
      const configuration = params.configuration
        ? work.require('billing_portal.configuration', params.configuration, 'configuration')
        : defaultConfiguration(work)
      const token = work.newId('', 40)
      const id = work.newId('bps_1')
      const session: PortalSessionRow = {
        ...nulls<Stripe.BillingPortal.Session>('billing_portal.session'),
        id,
        object: 'billing_portal.session',
        configuration: configuration.id,
        created: work.now,
        customer: customer.id,
        livemode: false,
        locale: params.locale ?? null,
        return_url: params.return_url ?? configuration.default_return_url,
        url: `${work.context.baseUrl}/pages/portal/${id}?token=${token}`,
        $: { token },
      }
      work.insert('billing_portal.session', session, 'billing_portal.session.created')
      return render('billing_portal.session', session, work.tables)
    },
  ),
  'BillingPortal/Configurations.create': op<Stripe.BillingPortal.ConfigurationCreateParams>(
    (params, { work }) => {
      const row = newConfiguration(work, false)
      row.default_return_url = params.default_return_url || null
      row.metadata = mergeMetadata({}, params.metadata)
      work.insert('billing_portal.configuration', row, 'billing_portal.configuration.created')
      return render('billing_portal.configuration', row, work.tables)
    },
  ),
  'BillingPortal/Configurations.retrieve': op((_params, call) =>
    render(
      'billing_portal.configuration',
      call.work.require('billing_portal.configuration', idOf(call)),
      call.work.tables,
    ),
  ),
  'BillingPortal/Configurations.list': op<Stripe.BillingPortal.ConfigurationListParams>(
    (params, { work, path }) =>
      listPage(work.tables['billing_portal.configuration'].newestFirst(), params, path, (row) =>
        render('billing_portal.configuration', row, work.tables),
      ),
  ),
}

function defaultConfiguration(work: UnitOfWork): PortalConfigurationRow {
  for (const row of work.tables['billing_portal.configuration'].values())
    if (row.is_default) return row
  return work.insert('billing_portal.configuration', newConfiguration(work, true))
}

function newConfiguration(work: UnitOfWork, isDefault: boolean): PortalConfigurationRow {
  return {
    ...nulls<Stripe.BillingPortal.Configuration>('billing_portal.configuration'),
    id: work.newId('bpc_1'),
    object: 'billing_portal.configuration',
    active: true,
    business_profile: { headline: null, privacy_policy_url: null, terms_of_service_url: null },
    created: work.now,
    features: {
      customer_update: { allowed_updates: ['email'], enabled: true },
      invoice_history: { enabled: true },
      payment_method_update: { enabled: true, payment_method_configuration: null },
      subscription_cancel: {
        cancellation_reason: { enabled: false, options: [], feedback_options: [] },
        enabled: true,
        mode: 'at_period_end',
        proration_behavior: 'none',
      },
      subscription_pause: { duration: { interval_options: [], type: 'fixed' }, enabled: false },
      subscription_update: {
        billing_cycle_anchor: null,
        default_allowed_updates: [],
        enabled: false,
        proration_behavior: 'none',
        schedule_at_period_end: { conditions: [] },
        trial_update_behavior: 'end_trial',
      },
    } as unknown as PortalConfigurationRow['features'],
    is_default: isDefault,
    livemode: false,
    login_page: { enabled: false, url: null },
    metadata: {},
    updated: work.now,
  }
}

import type { StripeOperations } from '../api/operation.ts'
import { createOperation } from '../api/resource.ts'
import { requireCustomer } from '../payments/customer.ts'
import { createBlankRow } from '../state/blank.ts'
import {
  ensureDefaultPortalConfiguration,
  requireConfiguration,
} from './billing-portal-configurations.ts'
import { parsePortalFlow } from './billing-portal-flows.ts'

export const portalOperations: StripeOperations = {
  'BillingPortal/Sessions.create': createOperation('billing_portal.session', (params, { work }) => {
    const customer = requireCustomer(work, params.customer, 'customer')
    const configuration = params.configuration
      ? requireConfiguration(work, params.configuration)
      : ensureDefaultPortalConfiguration(work)
    const flow = params.flow_data
      ? parsePortalFlow(work, customer, configuration, params.flow_data)
      : null
    const token = work.newId('', 40)
    const id = work.newId('bps_1')
    return {
      ...createBlankRow('billing_portal.session'),
      id,
      configuration: configuration.id,
      created: work.sandboxNow,
      customer: customer.id,
      flow,
      locale: params.locale ?? null,
      return_url: params.return_url ?? configuration.default_return_url,
      url: `${work.context.baseUrl}/pages/portal/${id}?token=${token}`,
      $: { token },
    }
  }),
}

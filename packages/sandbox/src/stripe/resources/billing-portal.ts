import type Stripe from 'stripe'
import { type Operations, op } from '../api/operation.ts'
import { requireCustomer } from '../payments/customer.ts'
import { render } from '../state/render.ts'
import type { PortalSessionRow } from '../state/rows.ts'
import { missingParam } from '../wire/errors.ts'
import { nulls } from '../wire/wire.ts'
import { defaultConfiguration, requireConfiguration } from './billing-portal-configurations.ts'
import { readFlow } from './billing-portal-flows.ts'

export const billingPortal: Operations = {
  'BillingPortal/Sessions.create': op<Stripe.BillingPortal.SessionCreateParams>(
    (params, { work }) => {
      if (params.customer === undefined) throw missingParam('customer')
      const customer = requireCustomer(work, params.customer, 'customer')
      const configuration = params.configuration
        ? requireConfiguration(work, params.configuration)
        : defaultConfiguration(work)
      const flow = params.flow_data
        ? readFlow(work, customer, configuration, params.flow_data)
        : null
      const token = work.newId('', 40)
      const id = work.newId('bps_1')
      const session: PortalSessionRow = {
        ...nulls<Stripe.BillingPortal.Session>('billing_portal.session'),
        id,
        object: 'billing_portal.session',
        configuration: configuration.id,
        created: work.sandboxNow,
        customer: customer.id,
        flow,
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
}

import { partOf } from '../basics/form-fields.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** The next invoice had an address of its own, with `subscription_…` parameters; now it is a preview. */
export const upcomingInvoices: VersionChange = {
  since: '2025-03-31',
  name: 'upcoming-invoices',
  routes: {
    'GET /v1/invoices/upcoming': 'Invoices.createPreview',
    'GET /v1/invoices/upcoming/lines': 'Invoices.listUpcomingLines',
  },
  params: {
    'Invoices.createPreview'(form) {
      for (const [name, value] of Object.entries(form)) {
        if (!name.startsWith('subscription_') || name === 'subscription_details') continue
        partOf(form, 'subscription_details')[name.slice('subscription_'.length)] ??= value
        delete form[name]
      }
    },
  },
}

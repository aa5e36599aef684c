import { isRecord } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** An invoice named its subscription and quote itself; since basil its parent does. */
export const invoiceParent: VersionChange = {
  since: '2025-03-31',
  name: 'invoice-parent',
  objects: {
    invoice(wire) {
      const parent = isRecord(wire.parent) ? wire.parent : {}
      const details = isRecord(parent.subscription_details) ? parent.subscription_details : null
      const quote = isRecord(parent.quote_details) ? parent.quote_details.quote : null
      wire.subscription = details?.subscription ?? null
      wire.subscription_details = details ? { metadata: details.metadata ?? null } : null
      if (details?.subscription_proration_date !== undefined) {
        wire.subscription_proration_date = details.subscription_proration_date
      }
      wire.quote = quote ?? null
      delete wire.parent
    },
  },
  expandable: { invoice: ['subscription', 'quote'] },
}

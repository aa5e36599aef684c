import { isRecord } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** Prices told how they add up usage; since basil meters do. Here none did. */
export const aggregateUsage: VersionChange = {
  since: '2025-03-31',
  name: 'aggregate-usage',
  objects: {
    price(wire) {
      if (isRecord(wire.recurring)) wire.recurring.aggregate_usage ??= null
    },
    plan(wire) {
      wire.aggregate_usage ??= null
    },
  },
}

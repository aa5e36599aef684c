import type { Tables } from '../../state/tables.ts'
import type { FormObject } from '../../wire/form.ts'
import { entriesOf } from '../basics/form-fields.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** A phase could last so many times its price's interval; clover takes only a duration. */
export const phaseIterations: VersionChange = {
  since: '2025-09-30',
  name: 'phase-iterations',
  params: {
    'SubscriptionSchedules.create': countIntervals,
    'SubscriptionSchedules.update': countIntervals,
  },
}

function countIntervals(form: FormObject, tables: Tables): void {
  for (const phase of entriesOf(form, 'phases')) {
    const times = Number(phase.iterations)
    const recurring = recurringOf(phase, tables)
    if (!recurring || !Number.isSafeInteger(times) || times < 1) continue
    phase.duration = {
      interval: recurring.interval,
      interval_count: String(times * recurring.interval_count),
    }
    delete phase.iterations
  }
}

function recurringOf(phase: FormObject, tables: Tables) {
  const [item] = entriesOf(phase, 'items')
  const price = item?.price ?? item?.plan
  return typeof price === 'string' ? tables.price.get(price)?.recurring : undefined
}

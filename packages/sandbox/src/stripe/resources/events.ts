import { filterByCreated, filterRows, listPage, type NumberFilter } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import { renderEvent } from '../state/events.ts'
import type { EventRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createMutuallyExclusiveFault, createNoSuchObjectFault } from '../wire/errors.ts'

const THIRTY_DAYS = 30 * 86_400

/** Operations that read events. By default, events of the last 30 days are stored. */
export const eventOperations: StripeOperations = {
  'Events.retrieve': (_params, { work, id }) => {
    const row = work.find('event', id)
    if (!row || row.created < work.now - THIRTY_DAYS) throw createNoSuchObjectFault('event', id)
    return renderEvent(work.context, row, countPendingDeliveries(work, row))
  },
  'Events.list': (params, { work, path }) => {
    if (params.type !== undefined && params.types !== undefined)
      throw createMutuallyExclusiveFault('type, types')
    const { type, types, created, delivery_success: success } = params
    const isWanted = work.tables.event
      .columnBy('type', (row) => row.type)
      .where(
        (each) =>
          (type === undefined || matches(String(each), type)) &&
          (types === undefined || types.includes(String(each))),
      )
    const rows = filterRows(
      filterByCreated(work.tables.event.newestAt(isWanted), created as NumberFilter | undefined),
      (row) =>
        row.created >= work.now - THIRTY_DAYS &&
        (success === undefined || (countPendingDeliveries(work, row) === 0) === success),
    )
    return listPage(rows, params, path, (row) =>
      renderEvent(work.context, row, countPendingDeliveries(work, row)),
    )
  },
}

/** Whether an event type matches a filter such as `invoice.*`. */
function matches(type: string, typeFilter: string): boolean {
  return typeFilter.endsWith('*') ? type.startsWith(typeFilter.slice(0, -1)) : type === typeFilter
}

function countPendingDeliveries(work: UnitOfWork, row: EventRow): number {
  if (row.endpoints === 0) return 0
  const deliveries = work.context.outbox.deliveries({ eventId: row.id })
  return deliveries.filter((delivery) => delivery.state !== 'delivered' && !delivery.duplicate)
    .length
}

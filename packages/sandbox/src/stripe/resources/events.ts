import type Stripe from 'stripe'
import { createdIn, filterRows, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { renderEvent } from '../state/events.ts'
import type { EventRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, noSuch } from '../wire/errors.ts'

const THIRTY_DAYS = 30 * 86_400

/** Events of the last 30 days. */
export const events: Operations = {
  'Events.retrieve': op((_params, call) => {
    const { work } = call
    const row = work.find('event', idOf(call))
    if (!row || row.created < work.now - THIRTY_DAYS) throw noSuch('event', idOf(call))
    return renderEvent(work.context, row, pendingOf(work, row))
  }),
  'Events.list': op<Stripe.EventListParams>((params, { work, path }) => {
    if (params.type !== undefined && params.types !== undefined) {
      throw invalidRequest('You may only specify one of these parameters: type, types.')
    }
    const { type, types, created, delivery_success: success } = params
    const isWanted = work.tables.event
      .columnBy('type', (row) => row.type)
      .where(
        (each) =>
          (type === undefined || matches(String(each), type)) &&
          (types === undefined || types.includes(String(each))),
      )
    const rows = filterRows(
      createdIn(work.tables.event.newestAt(isWanted), created as Range | undefined),
      (row) =>
        row.created >= work.now - THIRTY_DAYS &&
        (success === undefined || delivered(work, row) === success),
    )
    return listPage(rows, params, path, (row) =>
      renderEvent(work.context, row, pendingOf(work, row)),
    )
  }),
}

/** `invoice.*` stands for all of a kind. */
function matches(type: string, wanted: string): boolean {
  return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted
}

function pendingOf(work: UnitOfWork, row: EventRow): number {
  if (row.endpoints === 0) return 0
  const deliveries = work.context.outbox.deliveries({ eventId: row.id })
  return deliveries.filter((delivery) => delivery.state !== 'delivered' && !delivery.duplicate)
    .length
}

function delivered(work: UnitOfWork, row: EventRow): boolean {
  return pendingOf(work, row) === 0
}

import { isInRange } from '../api/lists.ts'
import {
  buildStripeV2List,
  createV2Fault,
  defineStripeV2Operation,
  type NodeValue,
  PAGE_PARAMS,
  readTimeV2,
  type StripeV2Operations,
} from '../api/v2.ts'
import type { ThinEventRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'

const THIRTY_DAYS = 30 * 86_400
const MAX_TYPES = 20
const SIDES = ['gt', 'gte', 'lt', 'lte'] as const
const RANGE = { o: { gt: 's', gte: 's', lt: 's', lte: 's' } } as const
const FILTERS = { created: RANGE, object_id: 's', types: { a: 's' } } as const
const address = '/v2/core/events'

type Filters = NodeValue<{ o: typeof FILTERS }>

/**
 * Operations that read the thin events of the last 30 days. Webhooks of thin events contain only
 * ids.
 */
export const thinEventOperations: StripeV2Operations = {
  [`GET ${address}`]: defineStripeV2Operation(
    { o: { ...PAGE_PARAMS, ...FILTERS } },
    (params, { work }) => {
      const isWanted = readFilters(params)
      const rows = work.tables['v2.core.event']
        .newestFirst()
        .filter((row) => isRecent(work, row) && isWanted(row))
      return buildStripeV2List(rows, params, `${address}${queryOf(params)}`, (row) => row)
    },
  ),
  [`GET ${address}/:id`]: defineStripeV2Operation({ o: {} }, (_params, { work, ids }) => {
    const event = work.find('v2.core.event', ids[0] ?? '')
    if (event && isRecent(work, event)) return event
    throw createV2Fault(404, 'not_found', `No such event: '${ids[0]}'`)
  }),
}

function isRecent(work: UnitOfWork, row: ThinEventRow): boolean {
  return Date.parse(row.created) / 1000 >= work.sandboxNow - THIRTY_DAYS
}

function readFilters({ created = {}, object_id, types }: Filters): (row: ThinEventRow) => boolean {
  if (types && types.length > MAX_TYPES) {
    throw createInvalidRequestFault(`\`types\` can have at most ${MAX_TYPES} names.`, 'types')
  }
  const range: Partial<Record<(typeof SIDES)[number], number>> = {}
  for (const side of SIDES) {
    const text = created[side]
    if (text !== undefined) range[side] = readTimeV2(text, `created[${side}]`)
  }
  return (row) =>
    (object_id === undefined || row.related_object?.id === object_id) &&
    (types === undefined || types.includes(row.type)) &&
    isInRange(Date.parse(row.created) / 1000, range)
}

/** Serializes the filters for the URLs of other pages. */
function queryOf({ created = {}, object_id, types = [] }: Filters): string {
  const query = new URLSearchParams()
  if (object_id !== undefined) query.set('object_id', object_id)
  for (const [at, type] of types.entries()) query.set(`types[${at}]`, type)
  for (const [side, time] of Object.entries(created)) query.set(`created[${side}]`, time)
  return query.size > 0 ? `?${query}` : ''
}

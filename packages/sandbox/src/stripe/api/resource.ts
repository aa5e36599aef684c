import { renderRow } from '../state/render.ts'
import type { RowKind, StripeRows } from '../state/rows.ts'
import { type GivenValue, getOwnField, mergeMetadata, pickSentFields } from '../wire/fields.ts'
import {
  filterByCreated,
  filterRows,
  type ListResponse,
  listPage,
  type NumberFilter,
} from './lists.ts'
import type { StripeApiCall, StripeOperation } from './operation.ts'
import { searchPage } from './search.ts'

/** Creates an API operation that returns the row which `run` finds or creates. */
export function customOperation<K extends RowKind, P>(
  kind: K,
  run: (params: P, call: StripeApiCall) => StripeRows[K],
): StripeOperation<P> {
  return (params, call) => renderRow(kind, run(params, call), call.work.tables)
}

/**
 * Creates an API operation that inserts the row which `build` returns, emits its `created` event
 * and returns it.
 */
export function createOperation<K extends RowKind, P>(
  kind: K,
  build: (params: P, call: StripeApiCall) => StripeRows[K],
): StripeOperation<P> {
  return customOperation(kind, (params, call) =>
    call.work.insert(kind, build(params, call), `${kind}.created`),
  )
}

export function retrieveOperation(kind: RowKind): StripeOperation<object> {
  return customOperation(kind, (_params, { work, id }) => work.requireLive(kind, id))
}

/**
 * Creates an API operation that deletes the row whose id is in the path. `run` performs the
 * deletion.
 */
export function removeOperation<K extends RowKind>(
  kind: K,
  run: (row: StripeRows[K], call: StripeApiCall) => void,
): StripeOperation<object> {
  return (_params, call) => {
    const row = call.work.requireLive(kind, call.id)
    run(row, call)
    return { id: row.id, object: kind, deleted: true }
  }
}

/**
 * Creates an API operation that finds the row whose id is in the path, changes it with `apply`, and
 * returns it.
 */
export function changeOperation<K extends RowKind, P>(
  kind: K,
  apply: (row: StripeRows[K], params: P, call: StripeApiCall) => void,
): StripeOperation<P> {
  return customOperation(kind, (params, call) => {
    const row = call.work.edit(kind, call.work.requireLive(kind, call.id))
    apply(row, params, call)
    return row
  })
}

/** Names of parameters whose type fits the field of the same name. */
type SettableNames<R, P> = {
  [N in keyof R & keyof P]: [GivenValue<P[N]>] extends [R[N]] ? N : never
}[keyof R & keyof P]

/**
 * Creates an API operation that copies the parameters in `names` to the row whose id is in the
 * path, and merges metadata. `apply` makes further changes.
 */
export function updateOperation<K extends RowKind, P>(
  kind: K,
  names: ReadonlyArray<NoInfer<SettableNames<StripeRows[K], P>>>,
  apply?: (row: StripeRows[K], params: NoInfer<P>, call: StripeApiCall) => void,
): StripeOperation<P> {
  return changeOperation<K, P>(kind, (row, params, call) => {
    Object.assign(row, pickSentFields(params as object, ...(names as never[])))
    apply?.(row, params, call)
    if ('metadata' in row) {
      row.metadata = mergeMetadata(row.metadata, (params as { metadata?: '' }).metadata)
    }
  })
}

/** List filters whose type differs from the field of the same name. */
type DifferingFilters<R, P> = Exclude<
  {
    [N in keyof P]-?: N extends keyof R
      ? NonNullable<P[N]> extends Partial<NonNullable<R[N]>>
        ? never
        : N
      : N
  }[keyof P],
  'created' | 'ending_before' | 'expand' | 'limit' | 'starting_after'
>

type FilterTests<K extends RowKind, P> = {
  readonly [N in keyof P]?: (row: StripeRows[K], wanted: NonNullable<P[N]>) => boolean
}

interface ListOptions<K extends RowKind, P> {
  /** Filters backed by an index, most selective first. */
  readonly by?: readonly string[]
  /** Tests for filters that do not simply compare the field of the same name. */
  readonly where?: FilterTests<K, P>
}

type ListArguments<K extends RowKind, P> = [DifferingFilters<StripeRows[K], P>] extends [never]
  ? [options?: ListOptions<K, P>]
  : [
      options: ListOptions<K, P> & {
        readonly where: Required<Pick<FilterTests<K, P>, DifferingFilters<StripeRows[K], P>>>
      },
    ]

/** Whether a field equals the filter, or contains all fields of a filter object. */
function matches(field: unknown, filterValue: unknown): boolean {
  if (typeof filterValue !== 'object' || filterValue === null) return field === filterValue
  return Object.entries(filterValue).every(([name, value]) => getOwnField(field, name) === value)
}

/**
 * Creates an API operation that lists rows. Each filter compares the field of the same name, except
 * for the filters in `where`.
 */
export function listOperation<K extends RowKind, P extends object>(
  kind: K,
  ...[options = {} as never]: NoInfer<ListArguments<K, P>>
): StripeOperation<P> {
  return (params, call) => listRows(kind, params, call, options)
}

/** Kinds whose deleted rows are kept, because other objects refer to them. Lists omit them. */
const DELETABLE: ReadonlySet<RowKind> = new Set(['coupon', 'customer', 'price'])

function isLive(row: object): boolean {
  return !(row as { $?: { deleted?: boolean } }).$?.deleted
}

const NO_FILTERS = new Set<string>(['limit', 'starting_after', 'ending_before', 'expand'])

export function listRows<K extends RowKind, P extends object>(
  kind: K,
  params: P,
  call: StripeApiCall,
  { by = [], where = {} }: ListOptions<K, P> = {},
): ListResponse {
  const filters = params as Readonly<Record<string, unknown>>
  const { [kind]: table } = call.work.tables
  const index = by.find((name) => filters[name] !== undefined)
  let rows: Iterable<StripeRows[K]> =
    index === undefined ? table.newestFirst() : table.newestBy(index, String(filters[index]))
  if (DELETABLE.has(kind)) rows = filterRows<StripeRows[K]>(rows, isLive)
  for (const [name, value] of Object.entries(filters)) {
    const test = where[name as keyof P]
    if (name === index || NO_FILTERS.has(name)) continue
    if (test) rows = filterRows(rows, (row) => test(row, value as never))
    else if (name === 'created') rows = filterByCreated<never>(rows as never, value as NumberFilter)
    else rows = filterRows(rows, (row) => matches(row[name as keyof StripeRows[K]], value))
  }
  return listPage(rows, params, call.path, (row) => renderRow(kind, row, call.work.tables))
}

export function searchOperation<K extends RowKind>(
  kind: K,
): StripeOperation<Parameters<typeof searchPage>[1]> {
  return (params, { work, path }) =>
    searchPage<StripeRows[K]>(work.tables[kind], params, path, {
      keep: DELETABLE.has(kind) ? isLive : () => true,
      toWire: (row) => renderRow(kind, row, work.tables),
    })
}

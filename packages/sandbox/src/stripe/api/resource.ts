import { render } from '../state/render.ts'
import type { Kind, Rows } from '../state/rows.ts'
import { type Given, given, mergeMetadata, ownField } from '../wire/fields.ts'
import { createdIn, filterRows, type ListResponse, listPage, type Range } from './lists.ts'
import type { Call, Operation } from './operation.ts'
import { searchPage } from './search.ts'

/** Creates an API operation that returns the row which `run` finds or creates. */
export function answer<K extends Kind, P>(
  kind: K,
  run: (params: P, call: Call) => Rows[K],
): Operation<P> {
  return (params, call) => render(kind, run(params, call), call.work.tables)
}

/**
 * Creates an API operation that inserts the row which `build` returns, emits its `created` event
 * and returns it.
 */
export function create<K extends Kind, P>(
  kind: K,
  build: (params: P, call: Call) => Rows[K],
): Operation<P> {
  return answer(kind, (params, call) =>
    call.work.insert(kind, build(params, call), `${kind}.created`),
  )
}

export function retrieve(kind: Kind): Operation<object> {
  return answer(kind, (_params, { work, id }) => work.requireLive(kind, id))
}

/** Creates an API operation that deletes the row named by the path. `run` performs the deletion. */
export function remove<K extends Kind>(
  kind: K,
  run: (row: Rows[K], call: Call) => void,
): Operation<object> {
  return (_params, call) => {
    const row = call.work.requireLive(kind, call.id)
    run(row, call)
    return { id: row.id, object: kind, deleted: true }
  }
}

/**
 * Creates an API operation that changes the row named by the path with `apply`, and returns the
 * row.
 */
export function change<K extends Kind, P>(
  kind: K,
  apply: (row: Rows[K], params: P, call: Call) => void,
): Operation<P> {
  return answer(kind, (params, call) => {
    const row = call.work.edit(kind, call.work.requireLive(kind, call.id))
    apply(row, params, call)
    return row
  })
}

/** Names of parameters whose type fits the field of the same name. */
type Settable<R, P> = {
  [N in keyof R & keyof P]: [Given<P[N]>] extends [R[N]] ? N : never
}[keyof R & keyof P]

/**
 * Creates an API operation that copies the named parameters to the row named by the path, and
 * merges metadata. `apply` makes further changes.
 */
export function update<K extends Kind, P>(
  kind: K,
  names: ReadonlyArray<NoInfer<Settable<Rows[K], P>>>,
  apply?: (row: Rows[K], params: NoInfer<P>, call: Call) => void,
): Operation<P> {
  return change<K, P>(kind, (row, params, call) => {
    Object.assign(row, given(params as object, ...(names as never[])))
    apply?.(row, params, call)
    if ('metadata' in row) {
      row.metadata = mergeMetadata(row.metadata, (params as { metadata?: '' }).metadata)
    }
  })
}

/** List filters whose type differs from the field of the same name. */
type Unlike<R, P> = Exclude<
  {
    [N in keyof P]-?: N extends keyof R
      ? NonNullable<P[N]> extends Partial<NonNullable<R[N]>>
        ? never
        : N
      : N
  }[keyof P],
  'created' | 'ending_before' | 'expand' | 'limit' | 'starting_after'
>

type Tests<K extends Kind, P> = {
  readonly [N in keyof P]?: (row: Rows[K], wanted: NonNullable<P[N]>) => boolean
}

interface ListOptions<K extends Kind, P> {
  /** Filters backed by an index, most selective first. */
  readonly by?: readonly string[]
  /** Tests for filters that do not simply compare the field of the same name. */
  readonly where?: Tests<K, P>
}

type ListArguments<K extends Kind, P> = [Unlike<Rows[K], P>] extends [never]
  ? [options?: ListOptions<K, P>]
  : [
      options: ListOptions<K, P> & {
        readonly where: Required<Pick<Tests<K, P>, Unlike<Rows[K], P>>>
      },
    ]

/** Whether a field equals the filter, or contains all fields of a filter object. */
function matches(field: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return field === wanted
  return Object.entries(wanted).every(([name, value]) => ownField(field, name) === value)
}

/**
 * Creates an API operation that lists rows. Each filter compares the field of the same name, except
 * for the filters in `where`.
 */
export function list<K extends Kind, P extends object>(
  kind: K,
  ...[options = {} as never]: NoInfer<ListArguments<K, P>>
): Operation<P> {
  return (params, call) => listRows(kind, params, call, options)
}

/** Kinds whose deleted rows are kept, because other objects refer to them. Lists omit them. */
const DELETABLE: ReadonlySet<Kind> = new Set(['coupon', 'customer', 'price'])

function isLive(row: object): boolean {
  return !(row as { $?: { deleted?: boolean } }).$?.deleted
}

const NO_FILTERS = new Set<string>(['limit', 'starting_after', 'ending_before', 'expand'])

export function listRows<K extends Kind, P extends object>(
  kind: K,
  params: P,
  call: Call,
  { by = [], where = {} }: ListOptions<K, P> = {},
): ListResponse {
  const filters = params as Readonly<Record<string, unknown>>
  const { [kind]: table } = call.work.tables
  const index = by.find((name) => filters[name] !== undefined)
  let rows: Iterable<Rows[K]> =
    index === undefined ? table.newestFirst() : table.newestBy(index, String(filters[index]))
  if (DELETABLE.has(kind)) rows = filterRows<Rows[K]>(rows, isLive)
  for (const [name, value] of Object.entries(filters)) {
    const test = where[name as keyof P]
    if (name === index || NO_FILTERS.has(name)) continue
    if (test) rows = filterRows(rows, (row) => test(row, value as never))
    else if (name === 'created') rows = createdIn<never>(rows as never, value as Range)
    else rows = filterRows(rows, (row) => matches(row[name as keyof Rows[K]], value))
  }
  return listPage(rows, params, call.path, (row) => render(kind, row, call.work.tables))
}

export function search<K extends Kind>(kind: K): Operation<Parameters<typeof searchPage>[1]> {
  return (params, { work, path }) =>
    searchPage<Rows[K]>(work.tables[kind], params, path, {
      keep: DELETABLE.has(kind) ? isLive : () => true,
      toWire: (row) => render(kind, row, work.tables),
    })
}

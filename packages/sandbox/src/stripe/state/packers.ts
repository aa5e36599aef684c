import { type Packed, Packer, type Packing } from '../../core/store/packer.ts'
import type { Store } from '../../core/store/store.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { EventRequest, NewEvent } from './new-event.ts'
import type { EventRow } from './rows.ts'

/** How Stripe's objects are kept short. */
export interface StripePackers {
  /** Rows as they are in the tables. */
  readonly rows: Packer<{ readonly object: string }>
  /** Objects as they are sent. */
  readonly shown: Packer<WireObject>
  readonly events: EventPacking
}

const OF_STORE = new WeakMap<Store, StripePackers>()

/** The same each time, because a store is filled from its file before anything else is made. */
export function packersOf(store: Store): StripePackers {
  const packers = OF_STORE.get(store) ?? createPackers()
  OF_STORE.set(store, packers)
  return packers
}

function createPackers(): StripePackers {
  const shown = new Packer<WireObject>((object) => object.object)
  return { rows: new Packer((row) => row.object), shown, events: new EventPacking(shown) }
}

/** It begins with the time, which is read most. What was before is JSON within JSON: as a text it would be longer. */
type PackedEvent = readonly [
  created: number,
  id: string,
  type: string,
  object: Packed,
  previous: unknown,
  request: EventRow['request'],
  endpoints: number,
  at?: number,
]

/** Events with the object they are about packed. */
export class EventPacking implements Packing<EventRow> {
  readonly #shown: Packer<WireObject>

  constructor(shown: Packer<WireObject>) {
    this.#shown = shown
  }

  newText(
    id: string,
    created: number,
    event: NewEvent,
    request: EventRequest | null,
    endpoints: number,
    at: number | null = null,
  ): string {
    const by = request ? { id: request.id, idempotency_key: request.idempotencyKey } : NOBODY
    const { type, data, previous } = event
    return toText(JSON.stringify([created, id, type, data]), previous, by, endpoints, at)
  }

  toText(row: EventRow): string {
    const data = this.#shown.pack(JSON.parse(row.data) as WireObject)
    const { id, type, created, previous, request, endpoints, at = null } = row
    return toText(JSON.stringify([created, id, type, data]), previous, request, endpoints, at)
  }

  createdOf(event: EventRow | string): number {
    return typeof event === 'string' ? Number.parseInt(event.slice(1, 20), 10) : event.created
  }

  fromText(text: string): EventRow {
    const [created, id, type, data, previous, request, endpoints, at] = JSON.parse(
      text,
    ) as PackedEvent
    const shown = this.#shown
    return {
      id,
      object: 'event',
      type,
      created,
      // Whoever looks through a list of events needs the objects of a few.
      get data() {
        return JSON.stringify(shown.unpack(data))
      },
      previous: previous === null ? null : JSON.stringify(previous),
      request,
      endpoints,
      ...(at === undefined ? {} : { at }),
    }
  }
}

/** A packed event, of which the start and the object before are texts already. */
function toText(
  start: string,
  previous: string | null,
  request: EventRow['request'],
  endpoints: number,
  at: number | null,
): string {
  const end = at === null ? '' : `,${at}`
  return `${start.slice(0, -1)},${previous},${JSON.stringify(request)},${endpoints}${end}]`
}

/** Time caused it. */
const NOBODY = { id: null, idempotency_key: null }

import { type Packed, Packer, type Packing } from '../../core/store/packer.ts'
import type { Store } from '../../core/store/store.ts'
import type { WireObject } from '../wire/wire-object.ts'
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

/** What happened at once is packed together. It begins with the time, which is read most. */
type PackedEvents = readonly [
  created: number,
  at: number | null,
  request: EventRow['request'],
  objects: readonly Packed[],
  events: readonly Packed[],
]

/** What an event says beside its object, which it names by its place. */
interface Telling extends Pick<EventRow, 'id' | 'type' | 'endpoints' | 'previous'> {
  readonly object: number
}

/** Events with the objects they are about packed. */
export class EventPacking implements Packing<EventRow> {
  readonly #shown: Packer<WireObject>
  readonly #tellings = new Packer<Telling>(({ type }) => type)
  /** Whoever reads an event reads its neighbours next. */
  #read: { text: string; events: PackedEvents } | null = null

  constructor(shown: Packer<WireObject>) {
    this.#shown = shown
  }

  toText(row: EventRow): string {
    return this.together([row])
  }

  /** One text for events of one time that have the same cause. */
  together(rows: readonly EventRow[]): string {
    const [{ created, at = null, request }] = rows as [EventRow]
    const objects: Packed[] = []
    let last: WireObject | null = null
    const events = rows.map((row) => {
      const { data, previous } = row
      // The same is told as several events, one right after the other.
      if (data !== last) objects.push(this.#shown.pack(data))
      last = data
      const { id, type, endpoints } = row
      return this.#tellings.pack({ id, type, object: objects.length - 1, previous, endpoints })
    })
    const packed: PackedEvents = [created, at, request, objects, events]
    return JSON.stringify(packed)
  }

  createdOf(event: EventRow | string): number {
    return typeof event === 'string' ? Number.parseInt(event.slice(1, 20), 10) : event.created
  }

  fromText(text: string, key: string): EventRow {
    if (this.#read?.text !== text) {
      this.#read = { text, events: JSON.parse(text) as PackedEvents }
    }
    const [created, at, request, objects, events] = this.#read.events
    for (const packed of events) {
      const { id, type, object, previous, endpoints } = this.#tellings.unpack(packed)
      if (id !== key) continue
      const shown = this.#shown
      return {
        id,
        object: 'event',
        type,
        created,
        // Whoever looks through a list of events needs the objects of a few.
        get data() {
          return shown.unpack(objects[object] as Packed)
        },
        previous,
        request,
        endpoints,
        ...(at === null ? {} : { at }),
      }
    }
    throw new TypeError(`There is no event ${key} among those it was packed with`)
  }
}

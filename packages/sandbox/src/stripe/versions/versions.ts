import type { Tables } from '../state/tables.ts'
import { API_VERSION, NODES, ROUTES } from '../wire/contract.generated.ts'
import type { WireObject } from '../wire/wire-object.ts'
import { CHANGES, WHOLE_SINCE } from './changes.ts'
import { Shape } from './shape.ts'

/** How a call is answered that names a version. */
export interface Spoken {
  /** The version it is answered in. */
  readonly version: string
  /** Null for what is sent as it is, which is never looked through. */
  readonly shape: Shape | null
  /** What the caller should know; null when all is as they asked. */
  readonly warning: string | null
}

const PINNED: Spoken = { version: API_VERSION, shape: null, warning: null }
/** So many versions are complained of in the log. */
const COMPLAINTS = 100

/** Every version a call may name, and how it is spoken. */
export class Versions {
  readonly #tables: Tables
  readonly #log: (line: string) => void
  /** By how many changes are taken back. */
  readonly #shapes = new Map<number, Shape>()
  readonly #complained = new Set<string>()

  constructor(
    tables: Tables,
    log: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
  ) {
    this.#tables = tables
    this.#log = log
  }

  /** Never refuses: what nobody knows is answered in the pinned version, with a warning. */
  find(asked: string): Spoken {
    if (asked === API_VERSION) return PINNED
    const date = /^(\d{4}-\d{2}-\d{2})(?:[.;][\w.;= -]*)?$/.exec(asked)?.[1]
    if (date === undefined || date > API_VERSION.slice(0, 10)) {
      return this.#warn(asked, { ...PINNED, warning: `${API_VERSION} is spoken instead` })
    }
    const spoken = { version: asked, shape: this.#shapeAt(date), warning: null }
    if (!RELEASED.has(asked)) {
      const warning = `not a release of Stripe's; answered as on its date`
      return this.#warn(asked, { ...spoken, warning })
    }
    if (date >= WHOLE_SINCE) return spoken
    const warning = `older than ${WHOLE_SINCE}; not every change since is taken back`
    return this.#warn(asked, { ...spoken, warning })
  }

  /** An event as an endpoint of that version gets it; the given one is changed. */
  tellEvent(event: WireObject, version: string): WireObject {
    const { shape, version: spoken } = this.find(version)
    shape?.takeBackEvent(event)
    event.api_version = spoken
    return event
  }

  #shapeAt(date: string): Shape | null {
    const changes = CHANGES.filter(({ since }) => since > date)
    if (changes.length === 0) return null
    let shape = this.#shapes.get(changes.length)
    if (!shape) {
      shape = new Shape(changes, this.#tables)
      this.#shapes.set(changes.length, shape)
    }
    return shape
  }

  #warn(asked: string, spoken: Spoken): Spoken {
    // What a header may hold, a terminal need not.
    const named = /^[\w.;=, -]{1,80}$/.test(asked) ? asked : 'The version'
    const warning = `Stripe-Version ${named}: ${spoken.warning}`
    if (!this.#complained.has(asked) && this.#complained.size < COMPLAINTS) {
      this.#complained.add(asked)
      this.#log(`tollgate-sandbox: ${warning}`)
    }
    return { ...spoken, warning }
  }
}

/** Stripe's versions, as the contract lists them for webhook endpoints. */
const RELEASED: ReadonlySet<string> = new Set(releasedVersions())

export function isReleased(version: string): boolean {
  return RELEASED.has(version)
}

function releasedVersions(): readonly string[] {
  const route = ROUTES.find(([, , operation]) => operation === 'WebhookEndpoints.create')
  const params = NODES[route?.[3] ?? -1] as { o: Record<string, number> } | undefined
  const versions = NODES[params?.o.api_version ?? -1] as { e: readonly string[] } | undefined
  if (!versions) throw new Error('The contract lists no versions')
  return versions.e
}

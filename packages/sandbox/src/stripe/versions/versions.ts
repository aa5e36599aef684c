import type { StripeTables } from '../state/tables.ts'
import { API_VERSION } from '../wire/contract.generated.ts'
import { listAllowedValues } from '../wire/contract.ts'
import type { WireObject } from '../wire/wire-object.ts'
import { OLDEST_COMPLETE_VERSION, VERSION_CHANGES } from './changes.ts'
import { VersionConverter } from './shape.ts'

/** How the sandbox answers a call that names an API version. */
export interface ResolvedVersion {
  /** API version of the response. */
  readonly version: string
  /** Converter for requests and responses. `null` for the current version. */
  readonly shape: VersionConverter | null
  /** Warning for the caller, such as that the API version is unknown. `null` if there is none. */
  readonly warning: string | null
}

const PINNED: ResolvedVersion = { version: API_VERSION, shape: null, warning: null }
/** Maximum number of versions to log a warning about. */
const MAX_WARNINGS = 100

/** Resolves the API versions that calls name in the header `Stripe-Version`. */
export class ApiVersions {
  readonly #tables: StripeTables
  readonly #log: (line: string) => void
  /** Converters for older API versions, by the number of changes that they revert. */
  readonly #shapes = new Map<number, VersionConverter>()
  readonly #complained = new Set<string>()

  constructor(
    tables: StripeTables,
    log: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
  ) {
    this.#tables = tables
    this.#log = log
  }

  /**
   * Returns how to answer a call that names this API version. Never fails: an unknown version is
   * answered in the current version, with a warning.
   */
  find(asked: string): ResolvedVersion {
    if (asked === API_VERSION) return PINNED
    const date = /^(\d{4}-\d{2}-\d{2})(?:[.;][\w.;= -]*)?$/.exec(asked)?.[1]
    if (date === undefined || date > API_VERSION.slice(0, 10)) {
      return this.#warn(asked, {
        ...PINNED,
        warning: `unknown version; ${API_VERSION} is used instead`,
      })
    }
    const spoken = { version: asked, shape: this.#shapeAt(date), warning: null }
    if (!RELEASED.has(asked)) {
      const warning = `not a release of Stripe's; answered as on its date`
      return this.#warn(asked, { ...spoken, warning })
    }
    if (date >= OLDEST_COMPLETE_VERSION) return spoken
    const warning = `older than ${OLDEST_COMPLETE_VERSION}; not every change since then is reverted`
    return this.#warn(asked, { ...spoken, warning })
  }

  /** Converts an event, in place, to the API version of an endpoint, and returns the event. */
  convertEvent(event: WireObject, version: string): WireObject {
    const { shape, version: spoken } = this.find(version)
    shape?.downgradeEvent(event)
    event.api_version = spoken
    return event
  }

  #shapeAt(date: string): VersionConverter | null {
    const changes = VERSION_CHANGES.filter(({ since }) => since > date)
    if (changes.length === 0) return null
    let shape = this.#shapes.get(changes.length)
    if (!shape) {
      shape = new VersionConverter(changes, this.#tables)
      this.#shapes.set(changes.length, shape)
    }
    return shape
  }

  #warn(asked: string, usedVersion: ResolvedVersion): ResolvedVersion {
    // Header values may contain characters that must not reach a terminal.
    const named = /^[\w.;=, -]{1,80}$/.test(asked) ? asked : 'The version'
    const warning = `Stripe-Version ${named}: ${usedVersion.warning}`
    if (!this.#complained.has(asked) && this.#complained.size < MAX_WARNINGS) {
      this.#complained.add(asked)
      this.#log(`tollgate-sandbox: ${warning}`)
    }
    return { ...usedVersion, warning }
  }
}

/** Stripe's API versions, as the contract lists them for webhook endpoints. */
const RELEASED: ReadonlySet<string> = new Set(
  listAllowedValues('WebhookEndpoints.create', 'api_version'),
)

export function isReleased(version: string): boolean {
  return RELEASED.has(version)
}

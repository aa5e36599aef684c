/**
 * How a meter counts. `sum` adds amounts, `count` adds one per call, and `gauge` is a level that
 * goes up and down, such as seats in use.
 */
export type MeterKind = 'sum' | 'count' | 'gauge'

/**
 * How a meter treats use that exceeds the quota. `refuse` rejects it. `bill` admits and counts it.
 * `cap` reserves only the remaining units for a reservation, and rejects all other use.
 */
export type OverQuota = 'refuse' | 'cap' | 'bill'

/** Options of `meter()`. */
export interface MeterOptions {
  /** How the meter counts. @default 'sum' */
  readonly kind?: MeterKind
  /** Name of one unit for pages, such as `tokens`. */
  readonly unit?: string
  /** Handling of use that exceeds the quota. @default 'refuse' */
  readonly over?: OverQuota
  /**
   * Handling of use while the database cannot be reached: `refuse` answers with 503; `{ allow }`
   * admits at most that many units per subject and process during an outage, and counts them
   * afterwards even if that exceeds the quota. See the option `journal` of `createGate()`.
   * @default 'refuse'
   */
  readonly onOutage?: 'refuse' | { readonly allow: number }
}

/** Something that is counted per subject. Created by `meter()`. */
export interface Meter {
  /** How the meter counts. */
  readonly kind: MeterKind
  /** Name of one unit. `null` if it has none. */
  readonly unit: string | null
  /** Handling of use that exceeds the quota. */
  readonly over: OverQuota
  /** Number of units that each process may admit per subject during an outage of the database. */
  readonly allowedInOutage: number
}

const KINDS: readonly MeterKind[] = ['sum', 'count', 'gauge']
const OVER: readonly OverQuota[] = ['refuse', 'cap', 'bill']

/**
 * Defines a meter: something that a gate counts per subject, such as calls, tokens or seats.
 * @throws TypeError if an option is invalid
 * @example
 * const meters = { calls: meter({ kind: 'count' }), tokens: meter({ unit: 'tokens' }), seats: meter({ kind: 'gauge' }) }
 */
export function meter(options: MeterOptions = {}): Meter {
  const { kind = 'sum', unit = null, over = 'refuse', onOutage = 'refuse' } = options
  requireOneOf('kind', kind, KINDS)
  requireOneOf('over', over, OVER)
  const allowed = onOutage === 'refuse' ? 0 : onOutage.allow
  if (!Number.isSafeInteger(allowed) || allowed < 0) {
    throw new TypeError(
      `onOutage: ${JSON.stringify(onOutage)} is not possible. Give 'refuse', or { allow: 100 } with a whole number.`,
    )
  }
  return { kind, unit, over, allowedInOutage: allowed }
}

function requireOneOf(name: string, value: unknown, allowed: readonly string[]): void {
  if (allowed.includes(value as string)) return
  throw new TypeError(
    `${name}: ${JSON.stringify(value)} is not possible. Give one of ${allowed.join(', ')}.`,
  )
}

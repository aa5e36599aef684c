import { KINDS } from '../wire/contract.generated.ts'
import type { RowKind, StripeRows } from './rows.ts'

type NullKeys<T> = {
  [K in keyof T]-?: undefined extends T[K] ? never : null extends T[K] ? K : never
}[keyof T]

/**
 * Fields every object of a kind starts with: its name, test mode, and `null` in all nullable
 * fields.
 */
type Blank<K extends RowKind> = { [F in NullKeys<StripeRows[K]>]: null } & {
  object: K
} & (StripeRows[K] extends {
    livemode: boolean
  }
    ? { livemode: false }
    : unknown)

const BLANKS = new Map<RowKind, object>()

/**
 * Returns the fields that every new object of a kind has in common. Used as `{
 * ...createBlankRow('coupon'), id, … }`.
 */
export function createBlankRow<K extends RowKind>(kind: K): Blank<K> {
  let known = BLANKS.get(kind)
  if (!known) {
    const { nulls = [], livemode } = KINDS[kind] ?? {}
    const fields = {
      object: kind,
      ...Object.fromEntries(nulls.map((name) => [name, null])),
      livemode,
    }
    // Parsed from JSON, because V8 stores a parsed object and its copies in the fast representation.
    known = JSON.parse(JSON.stringify(fields)) as object
    BLANKS.set(kind, known)
  }
  return known as Blank<K>
}

import type Stripe from 'stripe'
import { KINDS } from './contract.generated.ts'

/**
 * An SDK type as it is on the wire and in our tables: references are ids, decimals are strings.
 * The compiler then proves that what we build has every required field of the SDK's types. A field may be set; what it
 * holds is replaced and never changed in place, so that what was told of a row shares it instead of copying it.
 */
export type Wire<T> = T extends object ? { [K in keyof T]: Held<Reference<T[K]>> } : Held<T>

type Held<T> = T extends Stripe.Decimal
  ? string
  : T extends string
    ? T
    : T extends ReadonlyArray<infer U>
      ? ReadonlyArray<Held<Reference<U>>>
      : T extends object
        ? { readonly [K in keyof T]: Held<Reference<T[K]>> }
        : T

type Reference<T> = string extends T ? Exclude<T, { id: string }> : T

type NullKeys<T> = {
  [K in keyof T]-?: undefined extends T[K] ? never : null extends T[K] ? K : never
}[keyof T]

/** The fields of a kind that must be present but may be null, all null. */
export type Nulls<T> = { [K in NullKeys<T>]: null }

const TEMPLATES = new Map<string, object>()

/** Start of a new object: `{ ...nulls<Stripe.Coupon>('coupon'), id, … }`. */
export function nulls<T>(kind: string): Nulls<Wire<T>> {
  let template = TEMPLATES.get(kind)
  if (!template) {
    // Parsed, because V8 then keeps it, and every copy of it, as a fast object.
    const fields = (KINDS[kind]?.nulls ?? []).map((field) => `${JSON.stringify(field)}:null`)
    template = JSON.parse(`{${fields.join()}}`) as object
    TEMPLATES.set(kind, template)
  }
  return template as Nulls<Wire<T>>
}

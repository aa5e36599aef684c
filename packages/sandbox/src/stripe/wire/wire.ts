import type Stripe from 'stripe'

/**
 * An SDK type as sent on the wire and stored in tables: references are ids, decimals are strings.
 * The compiler thus checks that new objects have every required field of the SDK's types. Fields
 * may be set, but their values are replaced and never changed in place, so that events can share
 * them instead of copying.
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

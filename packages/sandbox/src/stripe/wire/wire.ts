import type Stripe from 'stripe'

/**
 * An object type of Stripe's SDK, as the API sends it and the tables store it: references are ids,
 * and decimals are strings. The compiler thus checks that new objects have every required field.
 * Fields may be set, but nested values are replaced and never changed in place, so that events can
 * share them instead of copying.
 */
export type WireFormat<T> = T extends object
  ? { [K in keyof T]: WireValue<Reference<T[K]>> }
  : WireValue<T>

type WireValue<T> = T extends Stripe.Decimal
  ? string
  : T extends string
    ? T
    : T extends ReadonlyArray<infer U>
      ? ReadonlyArray<WireValue<Reference<U>>>
      : T extends object
        ? { readonly [K in keyof T]: WireValue<Reference<T[K]>> }
        : T

type Reference<T> = string extends T ? Exclude<T, { id: string }> : T

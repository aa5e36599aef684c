/**
 * A Stripe object as the API returns it: with `snake_case` fields, times in Unix seconds, and ids
 * as references.
 */
export interface WireObject {
  /** Id of the object, such as `cus_…` or `in_…`. A preview has an id that cannot be retrieved. */
  id: string
  /** Kind of the object, such as `customer` or `invoice`. */
  object: string
  [field: string]: unknown
}

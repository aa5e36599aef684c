/**
 * A Stripe object as the API returns it: `snake_case` fields, times in Unix seconds, references as
 * ids.
 */
export interface WireObject {
  /** Id such as `cus_…` or `in_…`. Previews have an id that cannot be retrieved. */
  id: string
  /** Kind of the object, such as `customer` or `invoice`. */
  object: string
  [field: string]: unknown
}

/** A Stripe object as it is sent: `snake_case`, instants in seconds, references as ids. */
export interface WireObject {
  /** `cus_…`, `in_…`; a preview has one that cannot be retrieved. */
  id: string
  /** Its kind: `customer`, `invoice` … */
  object: string
  [field: string]: unknown
}

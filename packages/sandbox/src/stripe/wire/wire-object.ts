/** An object as it is sent. */
export interface WireObject {
  id: string
  object: string
  [field: string]: unknown
}

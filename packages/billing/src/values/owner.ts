/** Who is billed: a row of one of the application's tables. */
export interface Owner {
  /** `user`, or what the option `owners` calls them, such as `team`. */
  readonly type: string
  /** Of the row. */
  readonly id: string | number
}

/** The type of those whom the option `users` is about. */
export const USER = 'user'

export function userWith(id: string | number): Owner {
  return { type: USER, id }
}

export function isUser({ type }: Owner): boolean {
  return type === USER
}

/** How objects at a provider say whose they are: `team:7`. A type has no colon in it. */
export function ownerKey({ type, id }: Owner): string {
  return `${type}:${id}`
}

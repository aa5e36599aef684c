/** The owner of a customer and its subscriptions: a row of one of the application's tables. */
export interface Owner {
  /** `user`, or a key of the option `owners`, such as `team`. */
  readonly type: string
  /** Primary key of the owner's row. */
  readonly id: string | number
}

/** The owner type of users, whose table is the option `users`. */
export const USER_OWNER_TYPE = 'user'

export function userOwner(id: string | number): Owner {
  return { type: USER_OWNER_TYPE, id }
}

export function isUser({ type }: Owner): boolean {
  return type === USER_OWNER_TYPE
}

/**
 * Formats an owner as stored in objects at a provider: `team:7`. The result is unique, because a
 * type contains no colon.
 */
export function formatOwnerKey({ type, id }: Owner): string {
  return `${type}:${id}`
}

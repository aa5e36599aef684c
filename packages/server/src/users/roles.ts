/**
 * The roles of operators, from the least to the most powerful. Each role includes the permissions
 * of the roles before it.
 */
export const ROLES = ['viewer', 'support', 'admin', 'owner'] as const

/** A role of an operator; docs/reference/admin.md lists its permissions. */
export type Role = (typeof ROLES)[number]

/** Returns the role of this name. `null` for any other text, so that an unknown role has no power. */
export function parseRole(text: string | null | undefined): Role | null {
  return ROLES.find((role) => role === text) ?? null
}

/** Whether the role includes the permissions of `required`. `null` has no permissions. */
export function hasRole(role: Role | null, required: Role): boolean {
  return role !== null && ROLES.indexOf(role) >= ROLES.indexOf(required)
}

/**
 * Whether an operator with `role` may act on an account with the role `other`: only if that role is
 * lower, except that owners may also act on owners.
 */
export function outranks(role: Role, other: Role | null): boolean {
  if (other === null || role === 'owner') return true
  return ROLES.indexOf(role) > ROLES.indexOf(other)
}

import { formatOwner, parseOwner } from '../admin/operations/owners.ts'
import type { OpenOperations } from './open-operations.ts'
import * as option from './options.ts'
import { requireAccount } from './person.ts'
import { UsageError } from './usage-error.ts'

/** Command argument: the id or e-mail address of a user. Left out if `--owner` is used. */
export const USER_ARGUMENT = {
  name: 'user',
  description: 'the id or the e-mail address',
  unless: 'owner',
}

/** The option that names an owner of any type. */
export const OWNER_OPTION = option.text(
  '<owner>',
  'instead of the user: an owner of any type, such as team:7',
)

/** An owner in billing, for the input of operations and for sentences. */
export interface NamedOwner {
  /** The owner as operations accept it, such as `42` or `team:7`. */
  readonly owner: string
  /** The owner in a sentence, such as `ada@example.com (42)` or `team:7`. */
  readonly label: string
}

/**
 * Finds the owner that an argument or `--owner` names. A person of the service is found by id or
 * e-mail address. Other owners, and all owners of an application, are unknown here: an operation
 * reports a wrong id.
 * @throws UsageError
 */
export async function requireOwner(
  { users, found }: Pick<OpenOperations, 'users' | 'found'>,
  { user, owner }: { readonly user: string; readonly owner: string | null },
): Promise<NamedOwner> {
  const named = owner === null ? { type: 'user', id: user } : parseOwner(owner)
  if (named.type === '' || named.id === '') {
    throw new UsageError(
      `--owner expects a type and an id, such as team:7, not ${JSON.stringify(owner)}`,
    )
  }
  if (named.type !== 'user' || found === 'application') {
    return { owner: formatOwner(named), label: owner ?? user }
  }
  const { id, email } = await requireAccount(users, [named.id])
  return { owner: id, label: `${email} (${id})` }
}

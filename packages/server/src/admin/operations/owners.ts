import type { BillableOwner, Owner } from '@tollgate/billing'
import { z } from 'zod'
import type { SeatOwner } from '../../plans/seats.ts'
import { TEAM } from '../../storage/found-tables.ts'
import type { AuditSubject } from '../audit/described.ts'
import { type OperationContext, readBilling } from '../operation.ts'
import { AdminProblem } from '../problems.ts'
import { requireAccount, requireTarget } from './users.ts'

const USER = 'user'

/** An owner in billing as operations receive it: a user, a team, or a row of another table. */
export interface OwnerRef extends Owner {
  readonly id: string
}

/** Parses an owner: the id of a user such as `42`, or a type and an id such as `team:7`. */
export function parseOwner(text: string): OwnerRef {
  const colon = text.indexOf(':')
  return colon < 0
    ? { type: USER, id: text }
    : { type: text.slice(0, colon), id: text.slice(colon + 1) }
}

/** Formats an owner as operations accept it, and as the audit log names it. */
export function formatOwner({ type, id }: Owner): string {
  const isPlain = type === USER && !String(id).includes(':')
  return isPlain ? String(id) : `${type}:${id}`
}

/**
 * The owner whose subscriptions, invoices and payments an operation is about. The same field in
 * every operation of billing.
 */
export const owner = z
  .string()
  .regex(
    /^((user:)?[1-9]\d{0,14}|team:[\w-]{1,64})$/,
    'Expected the id of a user, such as 42, or of a team, such as team:0mjuohs00065235c5f6b93214.',
  )
  .transform(parseOwner)
  .describe('Id of a user, such as 42, or of a team, such as team:0mjuohs00065235c5f6b93214')

/** An owner of any type in an application that uses the libraries. */
export const anyOwner = z
  .string()
  .regex(/^([^:]{1,255}|[^:]{1,50}:.{1,255})$/, 'Expected a type and an id, such as team:7.')
  .transform(parseOwner)

/** Members of a response that name the owner. */
export const ownerShape = {
  user_id: z
    .string()
    .nullable()
    .describe('`null` if the owner is not a user but, for example, a team'),
  owner_type: z.string(),
  owner_id: z.string().describe('Id of the user or team'),
}

/** Returns the members of a response that name the owner. */
export function ownerJson({ type, id }: Owner) {
  return {
    user_id: type === USER ? String(id) : null,
    owner_type: type,
    owner_id: String(id),
  }
}

/** Returns the subject of the audit entry of an operation on an owner itself. */
export function describeOwner(target: Owner): AuditSubject {
  return { kind: target.type, id: String(target.id), owner: formatOwner(target) }
}

/**
 * Finds an owner in billing, for an operation that only reads.
 * @throws AdminProblem `not-found`
 */
export async function requireBillable(
  target: OwnerRef,
  context: OperationContext,
): Promise<BillableOwner> {
  if (target.type === USER) await requireAccount(target.id, context)
  return (await context.billing.provider()).owner(target.type, target.id)
}

/**
 * Finds an owner in billing, for an operation that reads only Tollgate's tables, and sends no
 * request to a provider.
 */
export async function requireStoredOwner(
  target: OwnerRef,
  context: OperationContext,
): Promise<BillableOwner> {
  if (target.type === USER) await requireAccount(target.id, context)
  return (await readBilling(context)).owner(target.type, target.id)
}

/**
 * Checks that the actor may act on an owner. For people, `requireTarget()` decides. Operators cannot
 * act on a team that they are a member of.
 * @throws AdminProblem
 */
export async function requireOwnerTarget(
  target: OwnerRef,
  context: OperationContext,
): Promise<void> {
  if (target.type === USER) {
    await requireTarget(target.id, context)
    return
  }
  const { actor, teams } = context
  if (target.type !== TEAM || actor.kind !== 'operator') return
  if ((await teams.findMembership(target.id, actor.id)) === null) return
  throw new AdminProblem('conflict', 'You cannot do this to a team that you are a member of.')
}

/**
 * Finds an owner in billing, for an operation that changes something. Checks with
 * `requireOwnerTarget()` that the actor may act on the owner.
 */
export async function requireBillableTarget(
  target: OwnerRef,
  context: OperationContext,
): Promise<BillableOwner> {
  await requireOwnerTarget(target, context)
  return (await context.billing.provider()).owner(target.type, target.id)
}

/**
 * Returns the owner whose seats are counted: the account of a person, or a team with its number of
 * members.
 */
export async function requireSeatOwner(
  target: OwnerRef,
  context: OperationContext,
): Promise<SeatOwner> {
  return target.type === TEAM
    ? { members: await context.teams.countMembers(target.id) }
    : requireAccount(target.id, context)
}

import { createHash } from 'node:crypto'
import type { Database } from '@tollgate/database'
import type { BillingContext, ResumeOperation } from './context.ts'
import type { LockedOwner } from './locked-owner.ts'
import type { StoredOperation } from './storage/operations.ts'
import { isUser, type Owner } from './values/owner.ts'

/**
 * Runs `work` while holding the owner's lock: operations and events of one owner never run
 * concurrently, across all processes.
 */
export function withOwnerLock<R>(
  context: BillingContext,
  owner: Owner,
  work: (locked: LockedOwner) => Promise<R>,
): Promise<R> {
  const done = context.locks.hold(formatOwnerLockName(owner), (lock) =>
    work({
      owner,
      lock,
      gateway: context.gateway,
      async change(name, ask) {
        const gateway = await context.gateway(name)
        await lock.check()
        return ask(gateway)
      },
    }),
  )
  return done.finally(context.events.committed)
}

/** Two owners whose locks are held, and whose rows are written together. */
export interface LockedOwners {
  readonly from: LockedOwner
  readonly to: LockedOwner
  /**
   * Runs `write` in a transaction.
   * @throws Busy if one of the locks was lost meanwhile.
   */
  write<R>(write: (tx: Database) => Promise<R>): Promise<R>
}

/**
 * Runs `work` while holding the locks of two owners. Takes the locks in the order of their names,
 * so that two callers with the same pair of owners cannot deadlock.
 */
export function withOwnerLocks<R>(
  context: BillingContext,
  { from, to }: { readonly from: Owner; readonly to: Owner },
  work: (locked: LockedOwners) => Promise<R>,
): Promise<R> {
  const isOrdered = formatOwnerLockName(from) < formatOwnerLockName(to)
  const [first, second] = isOrdered ? [from, to] : [to, from]
  return withOwnerLock(context, first, (outer) =>
    withOwnerLock(context, second, (inner) =>
      work({
        from: isOrdered ? outer : inner,
        to: isOrdered ? inner : outer,
        write: (write) =>
          outer.lock.write(async (tx) => {
            await inner.lock.join(tx)
            return write(tx)
          }),
      }),
    ),
  )
}

/**
 * Length of the column `name`. A text id alone can be as long as this, so longer names are hashed.
 */
const MAX_NAME_LENGTH = 255

/**
 * Returns the name of an owner's lock: `user:id`, `owner:type:id`, or a hash if that is too long.
 * It is unique, because a type contains no colon.
 */
export function formatOwnerLockName(owner: Owner): string {
  const name = isUser(owner) ? `user:${owner.id}` : `owner:${owner.type}:${owner.id}`
  if (name.length <= MAX_NAME_LENGTH) return name
  return `long:${createHash('sha256').update(name).digest('hex')}`
}

/**
 * Finishes the owner's operations that killed processes left behind, as far as the provider carried
 * them out. The records of operations that never reached the provider are kept: when the caller
 * requests them again, they use the same idempotency keys. Returns all operations that were found.
 */
export async function resumeInterrupted(
  context: BillingContext,
  locked: LockedOwner,
): Promise<readonly StoredOperation[]> {
  const begun = await context.operations.listByOwner(locked.owner)
  for (const operation of begun)
    await findResume(context, operation.kind)?.(context, locked, operation)
  return begun
}

/**
 * Returns the function that finishes operations of this kind. `null` if there is none, or if only a
 * newer version knows the kind: then the operation stays on record for a process of that version.
 */
function findResume({ resumes }: BillingContext, kind: string): ResumeOperation | null {
  return Object.hasOwn(resumes, kind) ? (resumes[kind] ?? null) : null
}

import { randomBytes } from 'node:crypto'
import type { AuditEntry, Clock } from '@tollgate/oauth'
import { deletePersonalData } from '../../storage/personal-data.ts'
import { auditPersonalTable, auditTable, type ServiceDatabase } from '../../storage/tables.ts'
import type { Caller } from './caller.ts'
import type { AuditDescription } from './described.ts'
import { createSeals, sha256, toSealedContent, type UnsealedAuditEntry } from './entry.ts'

export { sha256 } from './entry.ts'

/**
 * The outcome of an operation. `started` without a later entry means that the outcome is unknown.
 */
export type AuditOutcome = 'done' | 'started' | 'failed' | 'refused'

/** An entry to write to the audit log. */
export interface NewAuditEntry {
  readonly caller: Caller
  readonly operation: string
  readonly outcome: AuditOutcome
  readonly described: AuditDescription
  /**
   * In an entry with the outcome of an operation at a provider: id of the entry with the intent.
   */
  readonly intentId?: string | null
  /** Why the operation failed or was refused. */
  readonly reason?: string
}

/** The message of every line of the audit log in the log of the service. */
export const AUDIT_MESSAGE = 'audit'

/** Writes the audit log. Writers never wait for each other: a worker numbers and chains entries. */
export interface AuditLog {
  /** Adds an entry, in the unit of work that the caller runs in. Returns its id. */
  add(entry: NewAuditEntry): Promise<string>
  /** Deletes the personal data of a person from all entries. The chain stays valid. */
  forget(userId: string): Promise<void>
}

export function createAuditLog(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
  /** Secrets of the service. The first one seals new entries. */
  readonly secrets: readonly string[]
}): AuditLog {
  const { clock, database } = options
  const seals = createSeals(options.secrets)
  return {
    async add(entry) {
      const personal = collectPersonalData(entry.caller, entry.described)
      const written = writtenEntry(entry, clock.now(), personal.map(hashPersonalData).sort())
      const { id } = written
      const row = auditTable.toRow({
        ...written,
        seal: seals.sealContent(written),
        number: null,
        chainedAt: null,
        hash: null,
      })
      return database.transaction(async (tx) => {
        await tx.kysely.insertInto('audit_entries').values(row).execute()
        for (const each of personal) {
          const stored = auditPersonalTable.toRow({ entryId: id, ...each })
          await tx.kysely.insertInto('audit_personal').values(stored).execute()
        }
        return id
      })
    },
    forget: (userId) => deletePersonalData(database, userId),
  }
}

/** Creates the members of a new entry, as they are sealed and stored. */
function writtenEntry(
  { caller, operation, outcome, described, intentId = null, reason }: NewAuditEntry,
  at: Date,
  commitments: readonly string[],
): UnsealedAuditEntry {
  const { actor, door, requestId } = caller
  const { subject, details = {} } = described
  return {
    id: newId(at),
    at,
    actorKind: actor.kind,
    actorId: toStorableText(actor.id),
    door,
    operation,
    outcome,
    subjectKind: subject?.kind ?? null,
    subjectId: subject ? toStorableText(subject.id) : null,
    ownerId: subject?.owner ?? (subject?.kind === 'user' ? subject.id : null),
    // As it is read again, without members that JSON leaves out.
    details: JSON.parse(JSON.stringify(reason === undefined ? details : { ...details, reason })),
    intentId,
    requestId,
    commitments,
  }
}

/**
 * Shortens a text to the length of its column, and replaces characters that some databases cannot
 * store.
 */
function toStorableText(text: string): string {
  return text.slice(0, 191).toWellFormed().replaceAll('\0', '\ufffd')
}

let entriesSoFar = 0

/** Returns the prefix that the ids of all entries from this millisecond have in common. */
export function createIdPrefix(at: Date): string {
  return Math.max(at.getTime(), 0).toString(36).padStart(9, '0')
}

/** Creates an id that sorts by time, and within a process by the order of calls. */
function newId(at: Date): string {
  const time = createIdPrefix(at)
  entriesSoFar = (entriesSoFar + 1) % 36 ** 4
  const order = entriesSoFar.toString(36).padStart(4, '0')
  return `${time}${order}${randomBytes(8).toString('hex')}`
}

/** The personal data in one entry about one person. */
export interface PersonalData {
  readonly person: string
  readonly salt: string
  readonly content: string
}

function collectPersonalData(
  { actor, address }: Caller,
  described: AuditDescription,
): PersonalData[] {
  const ofActor = {
    ...(actor.kind === 'operator' && { email: actor.email }),
    ...(address !== null && { address }),
  }
  const actorPerson = actor.kind === 'operator' ? actor.id : ''
  const { subject, personal = {} } = described
  const subjectPerson = subject?.owner ?? (subject?.kind === 'user' ? subject.id : '')
  const all = new Map<string, object>([[actorPerson, { actor: ofActor }]])
  if (Object.keys(personal).length > 0) {
    all.set(subjectPerson, { ...all.get(subjectPerson), subject: personal })
  }
  return [...all]
    .filter(([, content]) => JSON.stringify(content) !== '{"actor":{}}')
    .map(([person, content]) => ({
      person,
      salt: randomBytes(16).toString('base64url'),
      content: JSON.stringify(content),
    }))
}

/**
 * Writes the audit log to a logger, and passes each entry to `emit`. Used with the database of an
 * application that uses the libraries, which has no table for the log. Entries contain no personal
 * data, because it could not be removed later.
 */
export function createLoggerAudit(options: {
  readonly logger: { info(fields: object, message: string): void }
  readonly clock: Clock
  readonly emit?: (entry: AuditEntry) => void
}): AuditLog {
  const { logger, clock, emit } = options
  return {
    async add(entry) {
      const written = writtenEntry(entry, clock.now(), [])
      const { commitments: _, ...audit } = toSealedContent(written)
      logger.info({ audit }, AUDIT_MESSAGE)
      emit?.(toEvent(written, entry))
      return written.id
    },
    async forget() {},
  }
}

function toEvent(entry: UnsealedAuditEntry, { caller, outcome }: NewAuditEntry): AuditEntry {
  const { id, at, operation, subjectKind, subjectId, details } = entry
  return {
    ...{ id, at, operation, outcome },
    actor: { kind: caller.actor.kind, id: caller.actor.id },
    subject:
      subjectKind === null || subjectId === null ? null : { kind: subjectKind, id: subjectId },
    ownerId: entry.ownerId,
    details: { ...details },
    intentId: entry.intentId,
  }
}

/** Hashes the personal data of a person. The hash reveals nothing once the salt is deleted. */
export function hashPersonalData({ person, salt, content }: PersonalData): string {
  return sha256(JSON.stringify([person, salt, content]))
}

import { createHash, randomBytes } from 'node:crypto'
import type { Database } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { auditPersonalTable, auditTable, type ServiceTables } from '../../storage/tables.ts'
import type { Caller } from './caller.ts'
import type { Described } from './described.ts'

/** What became of an operation. `started` without a later entry means that the outcome is unknown. */
export type AuditOutcome = 'done' | 'started' | 'failed' | 'refused'

/** An entry to be written. */
export interface NewAuditEntry {
  readonly caller: Caller
  readonly operation: string
  readonly outcome: AuditOutcome
  readonly described: Described
  /** Id of the entry with the intent, for the outcome of an act at a provider. */
  readonly intentId?: string | null
  /** Why the operation failed or was refused. */
  readonly reason?: string
}

/** Writes the audit log. Writers never wait for each other: a worker numbers and chains entries. */
export interface AuditLog {
  /** Adds an entry, in the unit of work that the caller runs in. Returns its id. */
  add(entry: NewAuditEntry): Promise<string>
  /** Deletes the personal data of a person from all entries. The chain stays valid. */
  forget(userId: string): Promise<void>
}

export function createAuditLog(options: {
  readonly database: Database
  readonly clock: Clock
}): AuditLog {
  const { clock } = options
  const database = options.database as unknown as Database<ServiceTables>
  return {
    async add({ caller, operation, outcome, described, intentId = null, reason }) {
      const { actor, door, requestId } = caller
      const { subject, details = {} } = described
      const personal = personalOf(caller, described)
      const at = clock.now()
      const id = newId(at)
      const row = auditTable.toRow({
        id,
        at,
        actorKind: actor.kind,
        actorId: actor.id.slice(0, 191),
        door,
        operation,
        outcome,
        subjectKind: subject?.kind ?? null,
        subjectId: subject?.id.slice(0, 191) ?? null,
        ownerId: subject?.owner ?? (subject?.kind === 'user' ? subject.id : null),
        details: reason === undefined ? details : { ...details, reason },
        intentId,
        requestId,
        commitments: personal.map(commitmentTo).sort(),
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
    async forget(userId) {
      await database.kysely.deleteFrom('audit_personal').where('person', '=', userId).execute()
    },
  }
}

let entriesSoFar = 0

/** Creates an id that sorts by time, and within a process by the order of calls. */
function newId(at: Date): string {
  const time = at.getTime().toString(36).padStart(9, '0')
  entriesSoFar = (entriesSoFar + 1) % 36 ** 4
  const order = entriesSoFar.toString(36).padStart(4, '0')
  return `${time}${order}${randomBytes(8).toString('hex')}`
}

/** Personal data of one person in one entry. */
export interface PersonalData {
  readonly person: string
  readonly salt: string
  readonly content: string
}

function personalOf({ actor, address }: Caller, described: Described): PersonalData[] {
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

/** Hashes the personal data of a person. Reveals nothing once the salt is deleted. */
export function commitmentTo({ person, salt, content }: PersonalData): string {
  return sha256(JSON.stringify([person, salt, content]))
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

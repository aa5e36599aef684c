import { z } from 'zod'
import { formatIsoDate } from '../audit/entry.ts'
import {
  type EntryWithPersonalData,
  listEntries,
  readEntriesWithPersonalData,
} from '../audit/reader.ts'
import { type Operation, operation } from '../operation.ts'
import { instant, nameSchema, pagedFields, pageShape, readPage, userId } from './fields.ts'
import { requireAccount } from './users.ts'

const eventShape = z.strictObject({
  id: z.string(),
  at: instant,
  operation: z.string(),
  outcome: z.string().describe('`done`, `started`, `failed` or `refused`'),
  actor: z.strictObject({
    kind: z.string(),
    id: z.string().nullable(),
    email: z.string().nullable().describe('`null` if it was deleted, or the actor has none'),
  }),
  subject: z.strictObject({ kind: z.string(), id: z.string().nullable() }).nullable(),
  intent_id: z
    .string()
    .nullable()
    .describe('For an outcome: id of the `started` entry that it belongs to'),
})
nameSchema('TimelineEvent', eventShape)

export type EventJson = z.output<typeof eventShape>

function eventJson({ entry, personal }: EntryWithPersonalData): EventJson {
  const { id, at, operation, outcome, actorKind, actorId, subjectKind: kind } = entry
  return {
    id,
    at: formatIsoDate(at),
    operation,
    outcome,
    actor: { kind: actorKind, id: actorId, email: personal.actor.email ?? null },
    subject: kind === null ? null : { kind, id: entry.subjectId },
    intent_id: entry.intentId,
  }
}

/**
 * Operations that list what was done to a person's account, for operators who may not read the
 * whole audit log.
 */
export const timelineOperations: readonly Operation[] = [
  operation({
    name: 'users.listTimeline',
    summary: 'List the audit log entries about a person and the objects they own, newest first',
    description: 'An excerpt of the audit log, without network addresses and details.',
    route: ['GET', '/users/{id}/timeline'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ id: userId, ...pagedFields }),
    output: pageShape(eventShape),
    async run({ id, ...page }, context) {
      await requireAccount(id, context)
      const { database } = context
      return readPage(page, `timeline ${id}`, context.cursors, {
        async read(before: string | null, limit) {
          const { entries } = await listEntries(database, { owner: id }, { limit, before })
          return (await readEntriesWithPersonalData(database, entries)).map(eventJson)
        },
        positionOf: ({ id }) => id,
      })
    },
  }),
]

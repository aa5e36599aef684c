import { z } from 'zod'
import type { ServiceDatabase } from '../../storage/tables.ts'
import type { PublishedAuditEntry } from '../audit/chain.ts'
import { formatIsoDate } from '../audit/entry.ts'
import {
  type AuditFilter,
  addPreviousHashes,
  type EntryPersonalData,
  type EntrySlice,
  type EntryWithPersonalData,
  findEntry,
  listChained,
  listEntries,
  readEntriesWithPersonalData,
} from '../audit/reader.ts'
import { readLink, verifyAudit } from '../audit/verify.ts'
import { JsonLinesResult } from '../lines.ts'
import { type Operation, operation } from '../operation.ts'
import { notFound } from '../problems.ts'
import { givenInstant, instant, nameSchema, pagedFields, pageShape } from './fields.ts'
import { formatOwner, owner } from './owners.ts'

const ROLE = 'admin'

const id = z.string().min(1).max(64)
const actorKind = z.enum(['operator', 'client', 'command'])
const outcome = z.enum(['done', 'started', 'failed', 'refused'])
const number = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER)
const hash = z.string().regex(/^[\w-]{43}$/, 'Expected a hash of 43 characters.')

const filters = {
  actor_kind: actorKind.optional().describe('With `actor_id`: only entries by this actor'),
  actor_id: z.string().min(1).max(191).optional(),
  operation: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('Name of the operation, such as `users.disable`'),
  subject_kind: z
    .string()
    .min(1)
    .max(20)
    .optional()
    .describe('With `subject_id`: only entries about this object'),
  subject_id: z.string().min(1).max(191).optional(),
  owner: owner
    .optional()
    .describe(
      'Only entries about this person or team, such as 42 or team:7, and the objects they own',
    ),
  outcome: outcome.optional(),
  from: givenInstant.optional().describe('Only entries from this time on'),
  to: givenInstant.optional().describe('Only entries before this time'),
}

type Filters = z.output<z.ZodObject<typeof filters>>

/** Requires a kind to be given together with an id and vice versa, because the index needs both. */
function requirePairs(auditFilters: Filters, context: z.RefinementCtx): void {
  for (const name of ['actor', 'subject'] as const) {
    const [kind, id] = [`${name}_kind`, `${name}_id`] as const
    if ((auditFilters[kind] === undefined) === (auditFilters[id] === undefined)) continue
    const path = auditFilters[kind] === undefined ? kind : id
    context.addIssue({ code: 'custom', path: [path], message: `Send ${kind} and ${id} together.` })
  }
}

function toAuditFilter(given: Filters): AuditFilter {
  const { operation, owner, outcome, from, to } = given
  const pairOf = (kind?: string, id?: string) =>
    kind === undefined || id === undefined ? undefined : { kind, id }
  return {
    actor: pairOf(given.actor_kind, given.actor_id),
    subject: pairOf(given.subject_kind, given.subject_id),
    operation,
    owner: owner && formatOwner(owner),
    outcome,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  }
}

const subjectShape = z.strictObject({ kind: z.string(), id: z.string().nullable() }).nullable()
const details = z
  .record(z.string(), z.unknown())
  .describe('Details of the operation, without personal data')

const entryShape = z.strictObject({
  id,
  at: instant,
  actor: z.strictObject({
    kind: z.string(),
    id: z.string().nullable().describe('User id, client id, or the name given to a command'),
    email: z.string().nullable().describe('`null` if it was deleted, or the actor has none'),
    address: z.string().nullable().describe('Network address. `null` if it was deleted'),
  }),
  door: z.string().describe('`page`, `api` or `command`'),
  operation: z.string(),
  outcome: z.string(),
  subject: subjectShape,
  owner: z
    .string()
    .nullable()
    .describe('The person or team that owns the subject, such as 42 or team:7'),
  details,
  personal: z.record(z.string(), z.string()).describe('Personal data, until it is deleted'),
  intent_id: z
    .string()
    .nullable()
    .describe('For an outcome: id of the `started` entry that it belongs to'),
  request_id: z.string().nullable(),
  number: z
    .number()
    .int()
    .nullable()
    .describe('Position in the hash chain. `null` until the entry is chained'),
  chained_at: instant.nullable(),
  hash: z.string().nullable(),
})
nameSchema('AuditEntry', entryShape)

function entryJson({
  entry,
  personal: { actor, subject },
}: EntryWithPersonalData): z.output<typeof entryShape> {
  const { subjectKind: kind } = entry
  return {
    id: entry.id,
    at: formatIsoDate(entry.at),
    actor: {
      kind: entry.actorKind,
      id: entry.actorId,
      email: actor.email ?? null,
      address: actor.address ?? null,
    },
    door: entry.door,
    operation: entry.operation,
    outcome: entry.outcome,
    subject: kind === null ? null : { kind, id: entry.subjectId },
    owner: entry.ownerId,
    details: entry.details,
    personal: subject,
    intent_id: entry.intentId,
    request_id: entry.requestId,
    number: entry.number,
    chained_at: entry.chainedAt && formatIsoDate(entry.chainedAt),
    hash: entry.hash,
  }
}

const lineShape = z.strictObject({
  id,
  at: instant,
  actor: z.strictObject({ kind: z.string(), id: z.string().nullable() }),
  door: z.string(),
  operation: z.string(),
  outcome: z.string(),
  subject: subjectShape,
  owner: z.string().nullable(),
  details,
  intent_id: z.string().nullable(),
  request_id: z.string().nullable(),
  commitments: z.array(z.string()).describe('Salted hashes of the personal data'),
  number: z.number().int(),
  chained_at: instant,
  previous_hash: z.string().nullable(),
  hash: z.string().describe('SHA-256 of the canonical JSON without `hash` and `personal`'),
  personal: z
    .strictObject({
      actor: z.record(z.string(), z.string()),
      subject: z.record(z.string(), z.string()),
    })
    .optional()
    .describe('Personal data. Only with `personal=true`'),
})
nameSchema('AuditLine', lineShape)

const linkShape = z.strictObject({ number: z.number().int(), hash: z.string() })

const EXPORT_PAGE = 500

/** Reads the chained entries that match, page by page. */
async function* exportPages(
  database: ServiceDatabase,
  filter: AuditFilter,
  withPersonalData: boolean,
): AsyncGenerator<readonly (PublishedAuditEntry & { personal?: EntryPersonalData })[]> {
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  let number: number | null = null
  let after: string | null = null
  for (;;) {
    const { entries, next }: EntrySlice = isFiltered
      ? await listEntries(database, filter, { limit: EXPORT_PAGE, after, onlyChained: true })
      : await readChain(database, number)
    const lines = await addPreviousHashes(database, entries)
    if (withPersonalData) {
      const found = await readEntriesWithPersonalData(database, entries)
      const byId = new Map(found.map(({ entry, personal }) => [entry.id, personal]))
      yield lines.map((line) => {
        const personal = byId.get(line.id)
        return personal ? { ...line, personal } : line
      })
    } else yield lines
    if (next === null) return
    after = next
    number = Number(entries.at(-1)?.number) + 1
  }
}

/** Reads the next page of the whole chain. */
async function readChain(database: ServiceDatabase, from: number | null): Promise<EntrySlice> {
  const entries = await listChained(database, { from, limit: EXPORT_PAGE })
  return { entries, next: entries.length < EXPORT_PAGE ? null : (entries.at(-1)?.id ?? null) }
}

const isTrue = z.enum(['true', 'false']).default('false')

export const auditOperations: readonly Operation[] = [
  operation({
    name: 'audit.list',
    summary: 'List the entries of the audit log, newest first',
    description:
      'New entries are numbered and chained after a few seconds. Until then `number`, `chained_at` and `hash` are null. With several filters, a page can contain fewer entries than `limit`, or none, even if more follow: continue until `next` is null.',
    route: ['GET', '/audit/entries'],
    role: ROLE,
    effect: 'read',
    input: z.strictObject({ ...pagedFields, ...filters }).superRefine(requirePairs),
    output: pageShape(entryShape),
    async run({ after, limit, ...given }, context) {
      const { database } = context
      const list = `audit ${JSON.stringify(given)}`
      const { cursors } = context
      const before = after === undefined ? null : String(cursors.decode(list, after))
      const { entries, next } = await listEntries(database, toAuditFilter(given), { limit, before })
      return {
        data: (await readEntriesWithPersonalData(database, entries)).map(entryJson),
        next: next === null ? null : cursors.encode(list, next),
      }
    },
  }),
  operation({
    name: 'audit.get',
    summary: 'Show an audit log entry',
    route: ['GET', '/audit/entries/{id}'],
    role: ROLE,
    effect: 'read',
    input: z.strictObject({ id }),
    output: entryShape,
    async run({ id }, context) {
      const { database } = context
      const entry = await findEntry(database, id)
      const [found] = await readEntriesWithPersonalData(database, entry ? [entry] : [])
      if (!found) throw notFound('audit log entry', id)
      return entryJson(found)
    },
  }),
  operation({
    name: 'audit.head',
    summary: 'Show the newest chained entry, to store it outside the service',
    description:
      'Store the number and the hash outside the service. Sent to `/audit/verification` later, they reveal a truncated log.',
    route: ['GET', '/audit/head'],
    role: ROLE,
    effect: 'read',
    input: z.strictObject({}),
    output: z.strictObject({
      head: z.strictObject({ ...linkShape.shape, chained_at: instant }).nullable(),
    }),
    async run(_input, { database }) {
      const head = await readLink(database)
      if (!head) return { head: null }
      const { chainedAt, ...link } = head
      return { head: { ...link, chained_at: formatIsoDate(chainedAt) } }
    },
  }),
  operation({
    name: 'audit.verify',
    summary: 'Verify that the audit log has not been altered',
    description:
      'Checks up to `limit` entries, from the beginning or after the entry `from_number` with `from_hash`. If `complete` is false, continue from `last`. With `known_number` and `known_hash`, the chain must contain this entry, which reveals a truncated log.',
    route: ['GET', '/audit/verification'],
    role: ROLE,
    effect: 'read',
    input: z
      .strictObject({
        from_number: number
          .optional()
          .describe(
            'Number of an entry up to which the chain has been verified; the check continues after it',
          ),
        from_hash: hash.optional(),
        known_number: number.optional().describe('Number of an entry that the chain must contain'),
        known_hash: hash.optional(),
        limit: z.coerce.number().int().min(1).max(100_000).default(20_000),
      })
      .superRefine((given, context) => {
        for (const name of ['from', 'known'] as const) {
          const isPair =
            (given[`${name}_number`] === undefined) === (given[`${name}_hash`] === undefined)
          if (isPair) continue
          const message = `Send ${name}_number and ${name}_hash together.`
          context.addIssue({ code: 'custom', path: [`${name}_hash`], message })
        }
      }),
    output: z.strictObject({
      intact: z.boolean().describe('Whether no break was found'),
      complete: z.boolean().describe('Whether the end of the chain was reached'),
      break: z
        .strictObject({
          kind: z.enum([
            'missing',
            'not-chained',
            'changed',
            'forged',
            'personal-data',
            'other-hash',
          ]),
          number: z.number().int(),
          entry_id: z.string().nullable(),
        })
        .nullable()
        .describe('The first position at which the chain is broken'),
      checked: z.number().int().describe('Number of entries that were checked'),
      last: linkShape
        .nullable()
        .describe('The last verified entry, from which the next check can continue'),
      unknown_seals: z
        .number()
        .int()
        .describe(
          'Number of entries whose origin cannot be checked, because the secret that sealed them is no longer set',
        ),
      waiting: z.number().int().describe('Number of entries that are not chained yet'),
    }),
    async run({ limit, ...given }, { database, config }) {
      const linkOf = (number?: number, hash?: string) =>
        number === undefined || hash === undefined ? null : { number, hash }
      const { firstBreak, checked, last, isComplete, unknownSeals, waiting } = await verifyAudit({
        database,
        secrets: config.secrets,
        from: linkOf(given.from_number, given.from_hash),
        known: linkOf(given.known_number, given.known_hash),
        limit,
      })
      return {
        intact: firstBreak === null,
        complete: isComplete,
        break: firstBreak && {
          kind: firstBreak.kind,
          number: firstBreak.number,
          entry_id: firstBreak.entryId,
        },
        checked,
        last,
        unknown_seals: unknownSeals,
        waiting,
      }
    },
  }),
  operation({
    name: 'audit.export',
    summary: 'Export chained entries as JSON lines',
    description:
      'Entries are in chain order, or in time order if a filter is set. Each line can be verified on its own. If the export fails, the connection breaks before the end of the response.',
    route: ['GET', '/audit/export'],
    role: ROLE,
    effect: 'read',
    input: z
      .strictObject({
        ...filters,
        personal: isTrue.describe('Whether to include the personal data that has not been deleted'),
      })
      .superRefine(requirePairs),
    output: z.instanceof(JsonLinesResult),
    line: lineShape,
    async run({ personal, ...given }, context) {
      return new JsonLinesResult(
        exportPages(context.database, toAuditFilter(given), personal === 'true'),
      )
    },
  }),
]

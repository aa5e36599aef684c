import type { JsonLinesResult } from '../../admin/lines.ts'
import { type Commands, command } from '../command.ts'
import { formatCount } from '../count.ts'
import { type OpenOperations, withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'

const withConfig =
  'An application has no audit log: its entries are written to the `logger` that the module exports, else to standard error'
const ONLY_READS = { onlyReads: true }
/** Number of entries that are checked in one part. */
const PART = 20_000
const LARGEST_PAGE = 100

const filters = {
  actor: option.text('<kind:id>', 'only entries by this actor, such as operator:7 or command:root'),
  operation: option.text('<name>', 'only entries of this operation, such as users.disable'),
  subject: option.text('<kind:id>', 'only entries about this object, such as client:abc'),
  owner: option.text(
    '<owner>',
    'only entries about this person or team (42, team:7) and the objects they own',
  ),
  outcome: option.choice(
    ['done', 'started', 'failed', 'refused'],
    '<name>',
    'only entries with this outcome: done, started, failed or refused',
  ),
  from: option.date('<date>', 'only entries from this time on'),
  to: option.date('<date>', 'only entries before this time'),
}

interface Filters {
  readonly actor: string | null
  readonly operation: string | null
  readonly subject: string | null
  readonly owner: string | null
  readonly outcome: string | null
  readonly from: Date | null
  readonly to: Date | null
}

/** Converts the filters to the input of the operations. */
function toOperationInput({ actor, operation, subject, owner, outcome, from, to }: Filters) {
  const given = {
    ...parsePairFlag('--actor', actor, (kind, id) => ({ actor_kind: kind, actor_id: id })),
    ...parsePairFlag('--subject', subject, (kind, id) => ({ subject_kind: kind, subject_id: id })),
    operation,
    owner,
    outcome,
    from: from?.toISOString(),
    to: to?.toISOString(),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null))
}

function parsePairFlag<Pair>(
  flag: string,
  text: string | null,
  pair: (kind: string, id: string) => Pair,
) {
  if (text === null) return {}
  const [, kind, id] = /^(\w+):(.+)$/.exec(text) ?? []
  if (kind !== undefined && id !== undefined) return pair(kind, id)
  throw new UsageError(`${flag} expects a kind and an id, such as operator:7, not ${text}`)
}

interface EntryJson {
  readonly id: string
  readonly at: string
  readonly number: number | null
  readonly actor: { readonly kind: string; readonly id: string; readonly email: string | null }
  readonly operation: string
  readonly outcome: string
  readonly subject: { readonly kind: string; readonly id: string } | null
}

interface VerificationJson {
  readonly intact: boolean
  readonly complete: boolean
  readonly break: {
    readonly kind: keyof typeof BREAKS
    readonly number: number
    readonly entry_id: string | null
  } | null
  readonly checked: number
  readonly last: { readonly number: number; readonly hash: string } | null
  readonly unknown_seals: number
  readonly waiting: number
}

const BREAKS = {
  missing: 'there is no entry with this number: it was removed, or the log was truncated',
  'not-chained': 'the entry was not given this number by the service',
  changed: 'the entry, its number or the entry before it was changed',
  forged: 'the entry was not written by the service',
  'personal-data': 'the personal data of the entry was changed',
  'other-hash': 'the hash differs from the one given in --from or --known',
} as const

export const auditCommands: Commands = {
  'audit list': command({
    summary: 'list the entries of the audit log, newest first',
    withConfig,
    options: {
      ...filters,
      limit: option.count('<number>', 'number of entries (default 25)', LARGEST_PAGE),
      after: option.text(
        '<cursor>',
        'continue after the previous page, with the cursor that it printed',
      ),
    },
    run({ options: { limit, after, ...given } }, context) {
      const input = {
        ...toOperationInput(given),
        ...(limit !== null && { limit }),
        ...(after !== null && { after }),
      }
      return withOperations(context, ONLY_READS, async ({ perform }) => {
        const page = await perform<{ data: EntryJson[]; next: string | null }>('audit.list', input)
        if (page.next !== null) context.hint(`There are more entries: add --after ${page.next}`)
        const headers = ['NUMBER', 'TIME', 'ACTOR', 'OPERATION', 'OUTCOME', 'SUBJECT']
        const rows = page.data.map(({ at, number, actor, operation, outcome, subject }) => [
          number === null ? '-' : String(number),
          at,
          actor.email ?? `${actor.kind}:${actor.id}`,
          operation,
          outcome,
          subject === null ? '' : `${subject.kind}:${subject.id}`,
        ])
        return {
          json: page.data,
          text: formatTable(headers, rows, 'There are no matching entries'),
        }
      })
    },
  }),
  'audit verify': command({
    summary: 'verify that the audit log has not been altered',
    withConfig,
    options: {
      from: option.text(
        '<number:hash>',
        'continue after this entry, up to which the log has been verified',
      ),
      known: option.text(
        '<number:hash>',
        'an entry that the log must contain; reveals a truncated log',
      ),
    },
    run({ options: { from, known } }, context) {
      const start = parseLinkFlag('--from', from)
      const noted = parseLinkFlag('--known', known)
      return withOperations(context, ONLY_READS, async ({ perform }) => {
        const result = await verifyAll(perform, start, noted)
        const { break: broken, last, checked } = result
        const place = last === null ? '' : ` The last verified entry is ${last.number}:${last.hash}`
        const text =
          broken === null
            ? `${formatCount(checked, 'entry is', 'entries are')} unaltered.${place}`
            : `The audit log is broken at ${broken.number}: ${BREAKS[broken.kind]}.${place}`
        return {
          json: result,
          text: [text, ...listVerificationRemarks(result)].join('\n'),
          exitCode: broken ? 1 : 0,
        }
      })
    },
  }),
  'audit export': command({
    summary: 'print the chained entries of the audit log as JSON lines',
    withConfig,
    options: {
      ...filters,
      personal: option.flag('include the personal data that has not been deleted'),
    },
    run({ options: { personal, ...given } }, context) {
      const input = { ...toOperationInput(given), personal: String(personal) }
      return withOperations(context, ONLY_READS, async ({ perform }) => {
        const { pages } = await perform<JsonLinesResult>('audit.export', input)
        for await (const page of pages) {
          context.print(page.map((line) => `${JSON.stringify(line)}\n`).join(''))
        }
        return null
      })
    },
  }),
}

type LinkInput = { readonly number: number; readonly hash: string } | null

function parseLinkFlag(flag: string, text: string | null): LinkInput {
  if (text === null) return null
  const [, number, hash] = /^([1-9]\d{0,14}):([\w-]{43})$/.exec(text) ?? []
  if (number !== undefined && hash !== undefined) return { number: Number(number), hash }
  throw new UsageError(`${flag} expects <number>:<hash>, as this command prints it`)
}

/** Verifies the log part by part, so that no single request takes long. */
async function verifyAll(
  perform: OpenOperations['perform'],
  start: LinkInput,
  known: LinkInput,
): Promise<VerificationJson> {
  let from = start
  let checked = 0
  let unknownSeals = 0
  for (;;) {
    const part = await perform<VerificationJson>('audit.verify', {
      limit: PART,
      ...(from && { from_number: from.number, from_hash: from.hash }),
      ...(known && { known_number: known.number, known_hash: known.hash }),
    })
    checked += part.checked
    unknownSeals += part.unknown_seals
    if (!part.intact || part.complete) {
      return { ...part, checked, unknown_seals: unknownSeals, last: part.last ?? from }
    }
    from = part.last
  }
}

function listVerificationRemarks({ unknown_seals: unknown, waiting }: VerificationJson): string[] {
  return [
    ...(unknown > 0
      ? [
          `${formatCount(unknown, 'entry was', 'entries were')} sealed with a secret that is no longer set.`,
        ]
      : []),
    ...(waiting > 0 ? [`${formatCount(waiting, 'entry is', 'entries are')} not chained yet.`] : []),
  ]
}

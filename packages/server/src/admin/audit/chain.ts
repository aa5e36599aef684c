import { ClockNotTrusted } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import type { ServiceDatabase } from '../../storage/tables.ts'
import {
  type ChainedAuditEntry,
  createSeals,
  hashChainedEntry,
  readEntry,
  toChainedEntry,
} from './entry.ts'

/** A chained entry with its hash, as receivers of the stream get it. */
export interface PublishedAuditEntry extends ChainedAuditEntry {
  readonly hash: string
}

export interface AuditChainOptions {
  readonly database: ServiceDatabase
  readonly clock: Clock
  readonly logger: { error(fields: object, message: string): void }
  /** Secrets of the service, to recognise entries that the service did not write. */
  readonly secrets: readonly string[]
  /**
   * Seconds between checks for new entries. `null` disables the checks.
   * @default 5
   */
  readonly everySeconds?: number | null
  /** Records entries for their receivers, in the transaction that chains them. */
  publish?(entries: readonly PublishedAuditEntry[]): Promise<void>
  /**
   * Called with the entries after their transaction was committed. Not called if the process
   * crashes in between.
   */
  chained?(entries: readonly PublishedAuditEntry[]): void
}

/**
 * Numbers and chains the entries of the audit log, so that the requests that write them need not
 * wait.
 */
export interface AuditChain {
  /** Chains all entries that are not chained yet. Returns their number. */
  process(): Promise<number>
  /** Stops chaining entries after the current batch. */
  close(): Promise<void>
}

/**
 * Seconds between checks for new entries, and thus the usual maximum delay until an entry is
 * chained.
 */
export const CHAINED_EVERY = 5
const BATCH = 200

/**
 * Creates the worker that chains entries. Every process runs one, and a lock lets only one of them
 * work at a time. Each batch is one transaction, so a process that is killed leaves nothing half
 * done.
 */
export function createAuditChain(options: AuditChainOptions): AuditChain {
  const { clock, logger, everySeconds = CHAINED_EVERY, publish, chained, database } = options
  const seals = createSeals(options.secrets)
  let running: Promise<number> | null = null
  let isClosed = false

  const waiting = (limit: number, on = database) =>
    on.kysely
      .selectFrom('audit_entries')
      .where('number', 'is', null)
      // Keeps every database on the index of the numbers, whatever it guesses about nulls.
      .orderBy('number')
      .orderBy('id')
      .limit(limit)

  async function chainBatch(on: ServiceDatabase): Promise<PublishedAuditEntry[]> {
    let { number, hash } = (await readHead(on)) ?? { number: 0, hash: null }
    if (!Number.isSafeInteger(number)) {
      throw new Error(`The newest audit log entry has a forged number: ${number}`)
    }
    const rows = await waiting(BATCH, on).selectAll().execute()
    const entries: PublishedAuditEntry[] = []
    for (const row of rows) {
      number += 1
      const entry = { ...readEntry(row), number, chainedAt: clock.now() }
      const placed = toChainedEntry(entry, hash)
      hash = hashChainedEntry(placed)
      const isOurs = seals.checkContent(entry) === 'valid'
      // With its wrong seal, the verification names it.
      if (!isOurs) logger.error({ entry: entry.id }, 'The seal of an audit entry is not valid')
      await on.kysely
        .updateTable('audit_entries')
        .set({
          number,
          chained_at: entry.chainedAt.getTime(),
          hash,
          ...(isOurs && { seal: seals.sealHash(hash) }),
        })
        .where('id', '=', entry.id)
        .execute()
      entries.push({ ...placed, hash })
    }
    await publish?.(entries)
    return entries
  }

  async function drain(): Promise<number> {
    await clock.check?.()
    let count = 0
    while (!isClosed) {
      // Without the lock, because usually nothing waits.
      if ((await waiting(1).select('id').execute()).length === 0) break
      const entries = await database.unitOfWork(() =>
        database.exclusively('audit-chain', (on) => chainBatch(on)),
      )
      chained?.(entries)
      count += entries.length
    }
    return count
  }

  async function process(): Promise<number> {
    // A run that began before the caller's entry was written may not see it.
    await running?.catch(() => 0)
    running ??= drain().finally(() => {
      running = null
    })
    return running
  }

  const timer =
    everySeconds === null
      ? null
      : setInterval(() => {
          process().catch((error) => {
            // The clock reports the reason itself; another process chains the entries.
            if (error instanceof ClockNotTrusted) return
            logger.error({ err: error }, 'Chaining the audit log failed and will be retried')
          })
        }, everySeconds * 1000)
  timer?.unref()

  return {
    process,
    async close() {
      isClosed = true
      if (timer) clearInterval(timer)
      await running?.catch(() => 0)
    },
  }
}

/** Reads the newest chained entry. `null` if there is none yet. */
export async function readHead(
  database: ServiceDatabase,
): Promise<{ number: number; hash: string | null; chained_at: number | null } | null> {
  const [head] = await database.kysely
    .selectFrom('audit_entries')
    .select(['number', 'hash', 'chained_at'])
    .where('number', 'is not', null)
    .orderBy('number', 'desc')
    .limit(1)
    .execute()
  return head ? { ...head, number: Number(head.number) } : null
}

import { randomBytes } from 'node:crypto'
import { isMailRejected } from '@tollgate/billing'
import { ClockNotTrusted, isUnavailable } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import type { AccountMailKind } from '../mail/account-mail.ts'
import { accountMailTable, deleteInBatches, type ServiceDatabase } from '../storage/tables.ts'

export type AccountMail = ReturnType<typeof accountMailTable.fromRow>

export interface NewAccountMail {
  readonly kind: AccountMailKind
  readonly userId: number | null
  readonly address: string
  readonly locale: string
  readonly details?: AccountMail['details']
}

/**
 * The queue of mail about accounts. A mail is added in the transaction of the change that causes
 * it, and sent afterwards by one of the processes.
 */
export interface Outbox {
  add(mail: NewAccountMail): Promise<void>
  /** Sends the mail that is due. */
  process(): Promise<void>
  purge(): Promise<number>
  /** Waits for the mail that is being sent, and sends no more. */
  close(): Promise<void>
}

export interface OutboxOptions {
  readonly database: ServiceDatabase
  readonly clock: Clock
  readonly logger: { error(fields: object, message: string): void }
  /**
   * Sends one mail. Returns `false` if there is nothing to send, for example because the address
   * has no account. `null` if this process sends no mail.
   */
  readonly send: ((mail: AccountMail) => Promise<boolean>) | null
  /** Seconds between checks for due mail. `null` for no checks. */
  readonly everySeconds: number | null
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
const BATCH = 20
/**
 * Time for which a mail belongs to the process that sends it, longer than the longest attempt. If
 * the process is killed, another one sends the mail after that.
 */
const LEASE_MS = 5 * 60_000
/** Time after which a mail that could not be sent is given up. */
const GIVEN_UP_AFTER = DAY
/** Time for which mail is kept that was sent or given up. */
const KEPT_MS = 7 * DAY

export function createOutbox(options: OutboxOptions): Outbox {
  const { clock, logger, send, everySeconds, database } = options
  const newMail = accountMailTable.omit('id')
  const dueAt = database.statement<{ at: number }, ReturnType<typeof accountMailTable.toRow>>(
    (db, param) =>
      db
        .selectFrom('account_mails')
        .selectAll()
        .where('state', '=', 'pending')
        .where('due_at', '<=', param('at'))
        .orderBy('due_at')
        .orderBy('id')
        .limit(BATCH),
  )

  /** Changes a mail unless another process has claimed or finished it since it was read. */
  async function change(mail: AccountMail, values: Record<string, unknown>): Promise<boolean> {
    const { numUpdatedRows } = await database.kysely
      .updateTable('account_mails')
      .set(values)
      .where('id', '=', mail.id)
      .where('state', '=', 'pending')
      .where('attempts', '=', mail.attempts)
      .where('due_at', '=', mail.dueAt.getTime())
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  async function attempt(found: AccountMail): Promise<void> {
    const mail = {
      ...found,
      attempts: found.attempts + 1,
      dueAt: new Date(clock.now().getTime() + LEASE_MS),
    }
    const claim = { attempts: mail.attempts, due_at: mail.dueAt.getTime() }
    if (!(await change(found, claim))) return
    try {
      const isSent = await send?.(mail)
      if (isSent) {
        await change(mail, { state: 'done', finished_at: clock.now().getTime(), last_error: null })
      } else {
        // Nothing remains of a request for an address without an account.
        await database.kysely.deleteFrom('account_mails').where('id', '=', mail.id).execute()
      }
    } catch (error) {
      const now = clock.now().getTime()
      const isOver = isMailRejected(error) || now - mail.createdAt.getTime() > GIVEN_UP_AFTER
      const text = String(error).slice(0, 1000)
      const when = isOver ? { state: 'dead', finished_at: now } : { due_at: now + backOff(mail) }
      logger.error(
        { err: error, mail: mail.id, kind: mail.kind, attempt: mail.attempts },
        isOver ? 'Mail about an account was given up' : 'Mail about an account will be retried',
      )
      await change(mail, { last_error: text, ...when })
    }
  }

  async function drain(): Promise<void> {
    for (;;) {
      again = false
      const rows = stopped ? [] : (await dueAt({ at: clock.now().getTime() })).rows
      if (rows.length === 0 && !again) break
      await Promise.all(rows.map((row) => attempt(accountMailTable.fromRow(row))))
    }
    // In the same step as the last check, so that no caller waits for a run that has ended.
    running = null
  }

  let running: Promise<void> | null = null
  let again = false
  let stopped = false

  function process(): Promise<void> {
    if (send === null || stopped) return Promise.resolve()
    again = true
    running ??= drain().catch((error) => {
      running = null
      throw error
    })
    return running
  }

  const kick = () => {
    process().catch((error) => {
      // An outage and a wrong clock are reported elsewhere; the mail stays in the outbox.
      if (isUnavailable(error) || error instanceof ClockNotTrusted) return
      logger.error({ err: error }, 'The outbox could not be read')
    })
  }
  const timer =
    everySeconds === null || send === null ? null : setInterval(kick, everySeconds * 1000)
  timer?.unref()

  return {
    async add({ details = {}, ...mail }) {
      const now = clock.now()
      const row = newMail.toRow({
        ...mail,
        details,
        messageId: `account-${randomBytes(12).toString('base64url')}`,
        ...{ state: 'pending', attempts: 0, lastError: null },
        ...{ dueAt: now, createdAt: now, finishedAt: null },
      })
      await database.kysely
        .insertInto('account_mails')
        .values(row as never)
        .execute()
      if (everySeconds !== null) database.afterCommit(kick)
    },
    process,
    async purge() {
      const before = (clock.settled?.() ?? clock.now()).getTime() - KEPT_MS
      return deleteInBatches(database, {
        table: 'account_mails',
        key: 'id',
        where: (eb) => eb.and([eb('state', '<>', 'pending'), eb('due_at', '<', before)]),
      })
    },
    async close() {
      stopped = true
      if (timer) clearInterval(timer)
      await running?.catch(() => undefined)
    },
  }
}

/** Milliseconds until the next attempt: 5, 20, 80 seconds and so on, up to an hour. */
function backOff({ attempts }: AccountMail): number {
  return Math.min(HOUR, 5000 * 4 ** (attempts - 1))
}

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
  /** Waits for the mail that is being sent, for a limited time, and sends no more. */
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
  readonly limits?: Partial<OutboxLimits>
}

/** Time limits of the outbox, in milliseconds. */
export interface OutboxLimits {
  /**
   * Time limit for an attempt to send a mail, shorter than the lease. A mail that takes longer is
   * sent again.
   * @default four minutes
   */
  readonly send: number
  /**
   * Time for which `close()` waits for the mail that is being sent. Another process sends the rest
   * after the lease.
   * @default ten seconds
   */
  readonly close: number
}

const LIMITS: OutboxLimits = { send: 4 * 60_000, close: 10_000 }

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Mails that a process sends at once. */
const AT_ONCE = 20
/**
 * Time for which a mail belongs to the process that sends it, longer than `OutboxLimits.send`. If
 * the process is killed, another one sends the mail after that.
 */
const LEASE_MS = 5 * 60_000
/** Time after which a mail that could not be sent is given up. */
const GIVEN_UP_AFTER = DAY
/** Time for which mail is kept that was sent or given up. */
const KEPT_MS = 7 * DAY

export function createOutbox(options: OutboxOptions): Outbox {
  const { clock, logger, send, everySeconds, database } = options
  const limits = { ...LIMITS, ...options.limits }
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
        .limit(AT_ONCE),
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

  /** Takes a mail for an attempt. `null` if another process was faster. */
  async function claim(found: AccountMail): Promise<AccountMail | null> {
    const mail = {
      ...found,
      attempts: found.attempts + 1,
      dueAt: new Date(clock.now().getTime() + LEASE_MS),
    }
    const claimed = { attempts: mail.attempts, due_at: mail.dueAt.getTime() }
    return (await change(found, claimed)) ? mail : null
  }

  async function attempt(mail: AccountMail): Promise<void> {
    try {
      const isSent = await within(limits.send, send?.(mail))
      if (isSent) {
        await change(mail, { state: 'done', finished_at: clock.now().getTime(), last_error: null })
      } else {
        // Nothing remains of a request for an address without an account.
        await database.kysely.deleteFrom('account_mails').where('id', '=', mail.id).execute()
      }
    } catch (error) {
      const now = clock.now().getTime()
      const isOver = isMailRejected(error) || now - mail.createdAt.getTime() > GIVEN_UP_AFTER
      const text = String(error).replace(TOKEN, '…').slice(0, 1000)
      const when = isOver ? { state: 'dead', finished_at: now } : { due_at: now + backOff(mail) }
      logger.error(
        { err: error, mail: mail.id, kind: mail.kind, attempt: mail.attempts },
        isOver ? 'Mail about an account was given up' : 'Mail about an account will be retried',
      )
      await change(mail, { last_error: text, ...when })
    }
  }

  const inFlight = new Set<Promise<void>>()
  let wake = () => {}

  function begin(mail: AccountMail): void {
    // If its outcome cannot be stored, the mail is sent again after the lease.
    const task = attempt(mail)
      .catch(report)
      .finally(() => {
        inFlight.delete(task)
        again = true
        wake()
      })
    inFlight.add(task)
  }

  /** Sends what is due, and what becomes due meanwhile. A slow mail does not delay the others. */
  async function drain(): Promise<void> {
    for (;;) {
      again = false
      const free = stopped ? 0 : AT_ONCE - inFlight.size
      const rows = free === 0 ? [] : (await dueAt({ at: clock.now().getTime() })).rows
      const found = rows.slice(0, free).map((row) => accountMailTable.fromRow(row))
      for (const mail of await Promise.all(found.map(claim))) if (mail) begin(mail)
      if (found.length > 0 || again) continue
      if (inFlight.size === 0) break
      await new Promise<void>((resolve) => {
        wake = resolve
      })
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
    wake()
    running ??= drain().catch((error) => {
      running = null
      throw error
    })
    return running
  }

  function report(error: unknown): void {
    // An outage and a wrong clock are reported elsewhere; the mail stays in the outbox.
    if (isUnavailable(error) || error instanceof ClockNotTrusted) return
    logger.error({ err: error }, 'The outbox could not be processed')
  }

  const kick = () => void process().catch(report)
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
      // After the response, whose time must not depend on what the worker finds (threat Q11).
      if (everySeconds !== null) database.afterCommit(() => setImmediate(kick))
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
      wake()
      const rest = Promise.allSettled([running, ...inFlight])
      await within(limits.close, rest).catch(() => undefined)
    },
  }
}

/**
 * Everything that may be the token of a link. A function of the setting `mail.send` may repeat the
 * text of the mail in its error, which operators see.
 */
const TOKEN = /[\w.-]*[\w-]{40,}/g

/** Milliseconds until the next attempt: 5, 20, 80 seconds and so on, up to an hour. */
function backOff({ attempts }: AccountMail): number {
  return Math.min(HOUR, 5000 * 4 ** (attempts - 1))
}

/** Rejects if the work takes longer. The work itself continues. */
function within<T>(milliseconds: number, work: Promise<T> | undefined): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const problem = `Not finished within ${milliseconds / 1000} seconds`
    const timer = setTimeout(() => reject(new Error(problem)), milliseconds)
    timer.unref()
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

import { getPublicClientId } from '../../clients/client.ts'
import type { ServerContext } from '../../context.ts'
import { signJwt } from '../../keys/signing-key.ts'
import type { Client, PendingLogout } from '../../storage/records.ts'
import { chooseIdTokenAlgorithm } from './id-token.ts'
import type { OpenIdSettings } from './settings.ts'
import { chooseSubjectForClient } from './subject.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** Lifetime of a logout token. Back-Channel Logout §2.4 recommends at most two minutes. */
const TOKEN_SECONDS = 120
/** Largest accepted response in bytes. Its content is not used. */
const MAX_RESPONSE_BYTES = 64 * 1024
const BATCH_SIZE = 100
/**
 * Time in milliseconds for one client in one delivery. A request in progress is not interrupted.
 */
const MAX_TIME_PER_CLIENT = 5000
const FIRST_RETRY_DELAY = 30_000
const MAX_RETRY_DELAY = 3600 * 1000

/**
 * Sends all due logout tokens (OpenID Connect Back-Channel Logout 1.0): to different clients in
 * parallel, to the same client one after the other. If a client cannot be reached, all of its
 * logouts are postponed. Returns the number of logout tokens sent.
 */
export async function deliverLogouts(parts: LogoutDelivery): Promise<number> {
  const { context, signal, inProgress } = parts
  const slow = new Set<string>()
  let total = 0
  for (;;) {
    const others = [...inProgress, ...slow]
    const due = await context.storage.logouts.listDue(context.clock.now(), BATCH_SIZE, others)
    const clients = [...new Set(due.map(({ clientId }) => clientId))]
    const sent = await Promise.all(
      clients.map((clientId) => {
        const waiting = due.filter((each) => each.clientId === clientId)
        return sendExclusively(clientId, waiting, { ...parts, slow })
      }),
    )
    total += sent.reduce((sum, each) => sum + each, 0)
    // Repeats until nothing is due, because a concurrent delivery may have skipped a client that
    // this one is working on.
    if (due.length === 0 || signal.aborted) return total
  }
}

export interface LogoutDelivery {
  readonly settings: OpenIdSettings
  readonly context: ServerContext
  readonly signal: AbortSignal
  /** Ids of the clients that this process is currently sending logout tokens to. */
  readonly inProgress: Set<string>
}

interface Parts extends LogoutDelivery {
  /** Clients whose time is used up. The rest of their logouts wait for the next delivery. */
  readonly slow: Set<string>
}

async function sendExclusively(
  clientId: string,
  waiting: readonly PendingLogout[],
  parts: Parts,
): Promise<number> {
  const { inProgress } = parts
  if (inProgress.has(clientId)) return 0
  inProgress.add(clientId)
  try {
    return await sendToClient(clientId, waiting, parts)
  } finally {
    inProgress.delete(clientId)
  }
}

/** Sends the logouts of one client. Returns how many it accepted. */
async function sendToClient(
  clientId: string,
  waiting: readonly PendingLogout[],
  parts: Parts,
): Promise<number> {
  const { context, signal, slow } = parts
  const { logouts } = context.storage
  const client = await context.clients.find(clientId)
  const address = client?.settings.backchannel_logout_uri
  const enough = performance.now() + MAX_TIME_PER_CLIENT
  let taken = 0
  for (const pending of waiting) {
    if (performance.now() > enough) {
      slow.add(clientId)
      return taken
    }
    if (!client || address === undefined) {
      await logouts.remove(pending.id)
      continue
    }
    const next = nextAttempt(pending, context.clock.now())
    if (signal.aborted || !(await logouts.claim(pending, next))) continue
    const problem = await sendLogoutToken(client, address, pending, parts)
    if (problem !== null) {
      if (!signal.aborted) await postpone(client, pending, next, problem, context)
      return taken
    }
    await logouts.remove(pending.id)
    taken += 1
  }
  return taken
}

/**
 * Postpones all logouts of the client until `next`. Deletes this one if its last attempt has
 * failed.
 */
async function postpone(
  client: Client,
  pending: PendingLogout,
  next: Date,
  problem: string,
  { storage: { logouts }, logger }: ServerContext,
): Promise<void> {
  await logouts.postpone(client.id, next)
  const message = `The client ${client.id} could not be notified of a logout (${problem})`
  if (next < pending.expiresAt) {
    logger.warn?.(`${message}. It will be retried.`)
    return
  }
  logger.error(`${message}. This was the last attempt.`)
  await logouts.remove(pending.id)
}

/** Doubles the wait with each attempt, from 30 seconds up to one hour. */
function nextAttempt({ attempts }: PendingLogout, now: Date): Date {
  return new Date(now.getTime() + Math.min(FIRST_RETRY_DELAY * 2 ** attempts, MAX_RETRY_DELAY))
}

/**
 * Sends one logout token. Returns `null` if the client accepted it (§2.8), otherwise the problem.
 */
async function sendLogoutToken(
  client: Client,
  address: string,
  pending: PendingLogout,
  { settings, context, signal }: LogoutDelivery,
): Promise<string | null> {
  try {
    const token = await createLogoutToken(client, pending, settings, context)
    const form = new URLSearchParams({ logout_token: token }).toString()
    const { status } = await context.outgoing.send(new URL(address), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form,
      maxBytes: MAX_RESPONSE_BYTES,
      signal,
      allowPlainHttp: true,
    })
    return status >= 200 && status < 300 ? null : `it responded with ${status}`
  } catch (error) {
    return error instanceof Error ? error.message : 'it could not be reached'
  }
}

/**
 * Creates a logout token (§2.4). Each attempt needs a new token, because logout tokens are
 * short-lived. The `jti` stays the same.
 */
async function createLogoutToken(
  client: Client,
  { id, userId, sid }: PendingLogout,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<string> {
  const now = Math.floor(context.clock.now().getTime() / 1000)
  return signJwt(
    context.keys.current(chooseIdTokenAlgorithm(client, settings, context)),
    'logout+jwt',
    {
      iss: context.issuer,
      sub: chooseSubjectForClient(client, userId, settings),
      aud: getPublicClientId(client),
      iat: now,
      exp: now + TOKEN_SECONDS,
      jti: id,
      sid,
      events: { [EVENT]: {} },
    },
  )
}

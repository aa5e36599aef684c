import { clientIdOf } from '../../clients/client.ts'
import type { ServerContext } from '../../context.ts'
import { signJwt } from '../../keys/signing-key.ts'
import type { Client, PendingLogout } from '../../storage/records.ts'
import { algorithmFor } from './id-token.ts'
import type { OpenIdSettings } from './settings.ts'
import { subjectFor } from './subject.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** Back-Channel Logout §2.4 asks for two minutes at most. */
const TOKEN_SECONDS = 120
/** In bytes: nobody reads it. */
const LARGEST_RESPONSE = 64 * 1024
const AT_ONCE = 100
/** Of one client in one delivery, in milliseconds; a request under way is waited for. */
const PATIENCE = 5000
const FIRST_WAIT = 30_000
const LONGEST_WAIT = 3600 * 1000

/**
 * OpenID Connect Back-Channel Logout 1.0: tells the clients that are due, all at once, each one after the other.
 * A client that cannot be reached is left alone for a while, with all that waits for it. One that is slow holds up
 * nobody: while it is told, whoever comes next looks past it.
 */
export async function deliverLogouts(parts: DeliveryParts): Promise<number> {
  const { context, signal, underWay } = parts
  const slow = new Set<string>()
  let total = 0
  for (;;) {
    const others = [...underWay, ...slow]
    const due = await context.storage.logouts.listDue(context.clock.now(), AT_ONCE, others)
    const clients = [...new Set(due.map(({ clientId }) => clientId))]
    const sent = await Promise.all(
      clients.map((clientId) => {
        const waiting = due.filter((each) => each.clientId === clientId)
        return tellAlone(clientId, waiting, { ...parts, slow })
      }),
    )
    total += sent.reduce((sum, each) => sum + each, 0)
    // Until nothing is: more may have come for a client that others looked past.
    if (due.length === 0 || signal.aborted) return total
  }
}

export interface DeliveryParts {
  readonly settings: OpenIdSettings
  readonly context: ServerContext
  readonly signal: AbortSignal
  /** The clients that are told at this moment, by this process. */
  readonly underWay: Set<string>
}

interface Parts extends DeliveryParts {
  /** Those whose time is over: the rest of what waits for them is for the next delivery. */
  readonly slow: Set<string>
}

async function tellAlone(
  clientId: string,
  waiting: readonly PendingLogout[],
  parts: Parts,
): Promise<number> {
  const { underWay } = parts
  if (underWay.has(clientId)) return 0
  underWay.add(clientId)
  try {
    return await tell(clientId, waiting, parts)
  } finally {
    underWay.delete(clientId)
  }
}

/** How many of them the client has taken. */
async function tell(
  clientId: string,
  waiting: readonly PendingLogout[],
  parts: Parts,
): Promise<number> {
  const { context, signal, slow } = parts
  const { logouts } = context.storage
  const client = await context.clients.find(clientId)
  const address = client?.settings.backchannel_logout_uri
  const enough = performance.now() + PATIENCE
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
    const problem = await send(client, address, pending, parts)
    if (problem !== null) {
      if (!signal.aborted) await giveBack(client, pending, next, problem, context)
      return taken
    }
    await logouts.remove(pending.id)
    taken += 1
  }
  return taken
}

/** It is due again at `next` already; what else waits for this client does not come before. */
async function giveBack(
  client: Client,
  pending: PendingLogout,
  next: Date,
  problem: string,
  { storage: { logouts }, logger }: ServerContext,
): Promise<void> {
  await logouts.putOff(client.id, next)
  const told = `The client ${client.id} could not be told that somebody has signed out (${problem})`
  if (next < pending.expiresAt) {
    logger.warn?.(`${told}. It is tried again.`)
    return
  }
  logger.error(`${told}. It was the last attempt.`)
  await logouts.remove(pending.id)
}

/** Twice as long each time: 30 seconds, a minute, two, up to an hour. */
function nextAttempt({ attempts }: PendingLogout, now: Date): Date {
  return new Date(now.getTime() + Math.min(FIRST_WAIT * 2 ** attempts, LONGEST_WAIT))
}

/** Null when the client has taken it (§2.8), else what was wrong. */
async function send(
  client: Client,
  address: string,
  pending: PendingLogout,
  { settings, context, signal }: DeliveryParts,
): Promise<string | null> {
  try {
    const token = await createLogoutToken(client, pending, settings, context)
    const form = new URLSearchParams({ logout_token: token }).toString()
    const { status } = await context.outgoing.send(new URL(address), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: form,
      largest: LARGEST_RESPONSE,
      signal,
      plainWhereOpened: true,
    })
    return status >= 200 && status < 300 ? null : `it answered with ${status}`
  } catch (error) {
    return error instanceof Error ? error.message : 'it could not be reached'
  }
}

/** §2.4. Made anew for each attempt, because it is short-lived; its `jti` stays the same. */
async function createLogoutToken(
  client: Client,
  { id, userId, sid }: PendingLogout,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<string> {
  const now = Math.floor(context.clock.now().getTime() / 1000)
  return signJwt(context.keys.current(algorithmFor(client, settings, context)), 'logout+jwt', {
    iss: context.issuer,
    sub: subjectFor(client, userId, settings),
    aud: clientIdOf(client),
    iat: now,
    exp: now + TOKEN_SECONDS,
    jti: id,
    sid,
    events: { [EVENT]: {} },
  })
}

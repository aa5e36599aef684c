import { findLaterDate } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import type { NewRevocation, SessionSelector, Token, TokenSelector } from '../storage/records.ts'

/**
 * Revokes access and refresh tokens, immediately in this process and within a second in all others.
 * Returns the revoked tokens.
 */
export async function revokeTokens(
  selector: TokenSelector,
  context: ServerContext,
): Promise<Token[]> {
  const at = context.options.clock.now()
  const revoked = await context.storage.tokens.revoke(selector, at)
  for (const token of revoked) {
    context.feed.note({ kind: 'token', subject: token.id, at, until: token.liveUntil })
    context.events.emit('AccessTokenRevoked', { tokenId: token.id })
  }
  return revoked
}

/**
 * Revokes a single token by id. Announces it to all processes again if it was revoked before or its
 * row is gone, because a failover may have lost the announcement or the row.
 */
export async function revokeToken(
  id: string,
  context: ServerContext,
  alive: { readonly until?: Date } = {},
): Promise<void> {
  const revoked = await revokeTokens({ id }, context)
  if (revoked.length > 0) return
  const at = context.options.clock.now()
  const token = await context.storage.tokens.find(id)
  const until = token ? lastExpiry(token) : (alive.until ?? longestLifetime(at, context))
  await storeNotice({ kind: 'token', subject: id, at, until }, context)
}

/**
 * Returns when the tokens of a row expire. `liveUntil` of a revoked row is the time of its
 * revocation.
 */
function lastExpiry({ liveUntil, expiresAt, refreshExpiresAt }: Token): Date {
  return findLaterDate(liveUntil, findLaterDate(expiresAt, refreshExpiresAt ?? expiresAt))
}

function longestLifetime(now: Date, { options }: ServerContext): Date {
  return findLaterDate(options.accessTokensExpireAt(now), options.personalAccessTokensExpireAt(now))
}

/** Withdraws a user's consent for a client, and revokes all tokens issued because of it. */
export async function revokeConsent(
  userId: string,
  clientId: string,
  context: ServerContext,
): Promise<void> {
  await context.storage.consents.remove(userId, clientId)
  await revokeTokens({ userId, clientId }, context)
}

/**
 * Ends all tokens, sessions and cookies of a user. For deleted, disabled or compromised accounts
 * and after a change of password.
 */
export async function revokeUser(userId: string, context: ServerContext): Promise<void> {
  await storeNotice({ kind: 'user', subject: userId, ...computeNoticePeriod(context) }, context)
  await revokeTokens({ userId }, context)
  await notifySessionEnd({ userId }, context)
}

/**
 * Ends a session of the application: its cookies of cookie mode become invalid and its clients are
 * notified.
 */
export async function endHashedSession(sessionId: string, context: ServerContext): Promise<void> {
  await storeNotice(
    { kind: 'session', subject: sessionId, ...computeNoticePeriod(context) },
    context,
  )
  await notifySessionEnd({ sessionId }, context)
}

/**
 * Returns the period for which the end of a sign-in is announced: as long as cookies of cookie mode
 * live.
 */
function computeNoticePeriod({ options }: ServerContext): Pick<NewRevocation, 'at' | 'until'> {
  const at = options.clock.now()
  return { at, until: new Date(at.getTime() + options.cookieSeconds * 1000) }
}

/** Stores the entry before this process uses it, so that a crash cannot lose it. */
async function storeNotice(notice: NewRevocation, context: ServerContext): Promise<void> {
  await context.storage.revocations.append(notice)
  context.feed.note(notice)
}

export async function notifySessionEnd(
  selector: SessionSelector,
  context: ServerContext,
): Promise<void> {
  for (const feature of context.features.sessionEnders) {
    await feature.endSessions?.(selector, context)
  }
}

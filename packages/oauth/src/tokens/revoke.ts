import { later } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import type { SessionSelector, Token, TokenSelector } from '../storage/records.ts'
import { hashSessionId } from '../users/users.ts'

/** Ends access and refresh tokens here at once and on every other process within a second. */
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
 * One token that somebody names. Told to every process again if it has ended before, or if its row is
 * gone: the first news, or the row, may have been lost with a failover.
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
  const until = token ? lastLife(token) : (alive.until ?? longestLife(at, context))
  const notice = { kind: 'token', subject: id, at, until } as const
  await context.storage.revocations.append(notice)
  context.feed.note(notice)
}

/** Its row says only until when the news of its end had to be kept. */
function lastLife({ liveUntil, expiresAt, refreshExpiresAt }: Token): Date {
  return later(liveUntil, later(expiresAt, refreshExpiresAt ?? expiresAt))
}

function longestLife(now: Date, { options }: ServerContext): Date {
  return later(options.accessTokensExpireAt(now), options.personalAccessTokensExpireAt(now))
}

/** A withdrawn approval takes along what was issued on it; the client has to ask again. */
export async function revokeConsent(
  userId: string,
  clientId: string,
  context: ServerContext,
): Promise<void> {
  await context.storage.consents.remove(userId, clientId)
  await revokeTokens({ userId, clientId }, context)
}

/** For deleted, disabled or compromised accounts and changed passwords: tokens and cookies end. */
export async function revokeUser(userId: string, context: ServerContext): Promise<void> {
  const at = context.options.clock.now()
  const until = new Date(at.getTime() + context.options.cookieSeconds * 1000)
  const notice = { kind: 'user', subject: userId, at, until } as const
  await context.storage.revocations.append(notice)
  context.feed.note(notice)
  await revokeTokens({ userId }, context)
  await tellOfEnd({ userId }, context)
}

/** Signing out: the cookie of cookie mode dies with the session, and clients are told. */
export function endSession(sessionId: string, context: ServerContext): Promise<void> {
  return endHashedSession(hashSessionId(sessionId), context)
}

export async function endHashedSession(sessionId: string, context: ServerContext): Promise<void> {
  const at = context.options.clock.now()
  const until = new Date(at.getTime() + context.options.cookieSeconds * 1000)
  const notice = { kind: 'session', subject: sessionId, at, until } as const
  await context.storage.revocations.append(notice)
  context.feed.note(notice)
  await tellOfEnd({ sessionId }, context)
}

export async function tellOfEnd(selector: SessionSelector, context: ServerContext): Promise<void> {
  for (const feature of context.features.sessionEnders) {
    await feature.endSessions?.(selector, context)
  }
}

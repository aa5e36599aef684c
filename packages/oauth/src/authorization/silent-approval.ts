import { isStranger } from '../clients/self-registered.ts'
import type { Client, Consent } from '../storage/records.ts'

export interface ApprovalQuestion {
  readonly client: Client
  readonly redirectTo: string
  readonly scopes: readonly string[]
  /** Whether it is for another API than the server's own. */
  readonly elsewhere: boolean
  readonly consent: Consent | null
  /** Scopes that people may leave out: what they have left out before is not asked for again. */
  readonly optional: ReadonlySet<string>
  /** Whether the client wants the screen in any case (`prompt=consent`). */
  readonly askAgain: boolean
}

/**
 * Whether a request may be answered without showing the approval screen. A public client proves
 * nothing about itself, so anybody could come in its name (RFC 6819 §5.2.3.2): it is always
 * asked about, except the application's own on an https address that only it can receive. So is one
 * that has registered itself, until somebody here has looked at it. An approval is remembered for the
 * server's own API: what somebody lets an application do here says nothing of another.
 */
export function mayApproveSilently(question: ApprovalQuestion): boolean {
  const { client, consent, scopes } = question
  if (question.askAgain || isStranger(client)) return false
  const proven = client.confidential
  if (client.firstParty) return proven || question.redirectTo.startsWith('https://')
  if (!proven || consent === null || question.elsewhere) return false
  const declined = declinedBefore(question)
  return scopes.every((name) => consent.scopes.includes(name) || declined.includes(name))
}

/** What somebody has left out before, and may still leave out: neither asked for again nor given. */
export function declinedBefore({
  scopes,
  consent,
  optional,
}: Pick<ApprovalQuestion, 'scopes' | 'consent' | 'optional'>): string[] {
  if (!consent?.declined) return []
  const { scopes: approved, declined } = consent
  return scopes.filter(
    (name) => optional.has(name) && declined.includes(name) && !approved.includes(name),
  )
}

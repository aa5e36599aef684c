import { isUnverifiedSelfRegistered } from '../clients/self-registered.ts'
import type { Client, Consent } from '../storage/records.ts'

export interface ApprovalQuestion {
  readonly client: Client
  readonly redirectTo: string
  readonly scopes: readonly string[]
  /** Whether the request is for another API than the server's own. */
  readonly elsewhere: boolean
  readonly consent: Consent | null
  /** Scopes that people may decline. Those declined before are not shown again. */
  readonly optional: ReadonlySet<string>
  /** Whether the client demands the approval screen (`prompt=consent`). */
  readonly askAgain: boolean
}

/**
 * Whether a request may be answered without showing the approval screen. People are always asked
 * about a public client, because anyone can use its name (RFC 6819 §5.2.3.2); the exception is a
 * first-party client at an https address that only it can receive. They are always asked about a
 * client that registered itself, until it is verified. An approval counts for the server's own API
 * only.
 */
export function mayApproveSilently(question: ApprovalQuestion): boolean {
  const { client, consent, scopes } = question
  if (question.askAgain || isUnverifiedSelfRegistered(client)) return false
  const proven = client.confidential
  if (client.firstParty) return proven || question.redirectTo.startsWith('https://')
  if (!proven || consent === null || question.elsewhere) return false
  const declined = declinedBefore(question)
  return scopes.every((name) => consent.scopes.includes(name) || declined.includes(name))
}

/**
 * Scopes that the person declined before and may still decline. They are neither shown again nor
 * granted.
 */
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

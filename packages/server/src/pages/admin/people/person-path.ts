import { BILLING_DONE } from '../billing/done.ts'

/**
 * Results of forms on the page of a person: the values of `?done=…` in the URL to which a form
 * redirects.
 */
export const PERSON_DONE = [
  'signed-out',
  'factors-reset',
  'disabled',
  'enabled',
  'waiting',
  'role-changed',
  'session-ended',
  'application-revoked',
  'token-revoked',
  'unlinked',
  ...BILLING_DONE,
] as const

export type CompletedAction = (typeof PERSON_DONE)[number]

/** The address of a person's page. */
export function pathOf(id: string, done?: CompletedAction): string {
  const path = `/admin/people/${encodeURIComponent(id)}`
  return done ? `${path}?done=${done}` : path
}

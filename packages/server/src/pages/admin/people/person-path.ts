/** Results of forms, as `?done=…` names them after the redirect. */
export const DONE = [
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
  'synced',
  'resumed',
  'cancelled',
  'ended',
  'trial-extended',
  'coupon-applied',
  'discounts-removed',
  'change-planned',
  'planned-change-cancelled',
  'paused',
  'unpaused',
  'tax-id-added',
  'tax-id-removed',
  'tax-exempt-set',
  'address-set',
  'comped',
  'comp-ended',
  'credited',
  'refunded',
  'credit-note-issued',
  'invoice-voided',
] as const

export type CompletedAction = (typeof DONE)[number]

/** The address of a person's page. */
export function pathOf(id: string, done?: CompletedAction): string {
  const path = `/admin/people/${encodeURIComponent(id)}`
  return done ? `${path}?done=${done}` : path
}

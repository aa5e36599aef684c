import { ENGLISH, type PageText } from '../../../messages/messages.ts'

/** Results of forms, as `?done=…` names them after the redirect. */
const DONE = [
  'subscribed',
  'swapped',
  'change-planned',
  'plan-kept',
  'quantity-changed',
  'cancelled',
  'ended',
  'code-used',
  'resumed',
  'unpaused',
  'paid',
  'card-added',
  'card-changed',
  'card-deleted',
  'address-changed',
  'tax-id-added',
  'tax-id-removed',
  'confirmed',
  'refused',
  'clock-moved',
  'charge-armed',
] as const

export type CompletedBillingAction = (typeof DONE)[number]

/** Results that are shown as a failure. */
const BAD: ReadonlySet<CompletedBillingAction> = new Set(['refused'])

export function findFormNotice(
  text: string | undefined,
  t: PageText = ENGLISH,
): { readonly text: string; readonly tone: 'good' | 'bad' } | null {
  const done = DONE.find((name) => name === text)
  if (done === undefined) return null
  return { text: t(`notice.${done}`), tone: BAD.has(done) ? 'bad' : 'good' }
}

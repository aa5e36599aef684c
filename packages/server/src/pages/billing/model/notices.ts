/** What has just been done, as the address after a form says it. */
export const NOTICES = {
  subscribed: 'You are subscribed.',
  swapped: 'Your plan was changed.',
  'plan-kept': 'You keep your plan.',
  'quantity-changed': 'The quantity was changed. The difference is on your next invoice.',
  cancelled: 'Your subscription is cancelled.',
  ended: 'Your subscription has ended.',
  'code-used': 'The code counts from your next bill on.',
  resumed: 'Your cancellation was taken back.',
  paid: 'Your payment went through.',
  'card-added': 'Your card was added.',
  'card-changed': 'Your card was changed.',
  'card-deleted': 'It was deleted.',
  confirmed: 'Your payment is confirmed.',
  refused: 'The payment was not confirmed, so nothing was charged.',
  'clock-moved': 'The sandbox’s clock was moved.',
  'charge-armed': 'Your next charge will be declined.',
} as const

export type Done = keyof typeof NOTICES

/** What nobody is glad of. */
const BAD: ReadonlySet<Done> = new Set(['refused'])

export function noticeOf(
  done: string | undefined,
): { readonly text: string; readonly tone: 'good' | 'bad' } | null {
  if (done === undefined || !Object.hasOwn(NOTICES, done)) return null
  return { text: NOTICES[done as Done], tone: BAD.has(done as Done) ? 'bad' : 'good' }
}

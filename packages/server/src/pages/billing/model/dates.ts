import type { ServiceContext } from '../../../context.ts'

const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})

/** `3 March 2027`. */
export function formatDay(date: Date): string {
  return DAY.format(date)
}

/** Billing lives by the sandbox's clock in a demo. */
export function billingNow({ sandbox, clock }: Pick<ServiceContext, 'sandbox' | 'clock'>): Date {
  return (sandbox?.clock ?? clock).now()
}

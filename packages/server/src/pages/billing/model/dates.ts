import type { ServiceContext } from '../../../context.ts'

export { formatDay } from '../../../dates.ts'

/** Billing lives by the sandbox's clock in a demo. */
export function billingNow({ sandbox, clock }: Pick<ServiceContext, 'sandbox' | 'clock'>): Date {
  return (sandbox?.clock ?? clock).now()
}

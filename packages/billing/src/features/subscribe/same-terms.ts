import type { BillingContext } from '../../core/context.ts'
import type { DifferentTerm } from '../../core/errors/different-term.ts'
import { AlreadySubscribed } from '../../core/errors/errors.ts'
import type { RunningSubscription } from '../../core/find-running.ts'
import { requireProvider } from '../../core/known-prices.ts'
import { listDifferingTerms, type RequestedTerms } from './differing-terms.ts'

/** Lists the terms of the running subscription that differ from the requested terms. */
export async function findDifferingTerms(
  context: BillingContext,
  { record, found }: RunningSubscription,
  requestedTerms: RequestedTerms,
): Promise<DifferentTerm[]> {
  const { options } = context
  const { can } = requireProvider(context, record.provider)
  const agreed = await (await context.gateway(record.provider)).findTerms(found)
  const now = options.clock.now()
  return listDifferingTerms(requestedTerms, { record, agreed, now, tax: options.tax, can })
}

/** Throws AlreadySubscribed unless the running subscription has exactly the requested terms. */
export async function requireSameTerms(
  context: BillingContext,
  running: RunningSubscription,
  requestedTerms: RequestedTerms,
): Promise<void> {
  const terms = await findDifferingTerms(context, running, requestedTerms)
  if (terms.length === 0) return
  const each = terms.map(
    ({ term, inForce, wanted, use }) => `${term} is ${inForce}, asked for ${wanted} (use ${use})`,
  )
  throw new AlreadySubscribed(
    `There is a subscription '${requestedTerms.wanted.name}' already, with other terms: ${each.join('; ')}`,
    { terms },
  )
}

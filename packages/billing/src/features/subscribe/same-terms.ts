import type { BillingContext } from '../../core/context.ts'
import type { DifferentTerm } from '../../core/errors/different-term.ts'
import { AlreadySubscribed } from '../../core/errors/errors.ts'
import type { Running } from '../../core/find-running.ts'
import { requireProvider } from '../../core/known-prices.ts'
import { type AskedTerms, differingTerms } from './differing-terms.ts'

/** Lists how the subscription with this name differs from the requested terms. */
export async function findDifferences(
  context: BillingContext,
  { record, found }: Running,
  asked: AskedTerms,
): Promise<DifferentTerm[]> {
  const { options } = context
  const { can } = requireProvider(context, record.provider)
  const agreed = await (await context.gateway(record.provider)).findTerms(found)
  const now = options.clock.now()
  return differingTerms(asked, { record, agreed, now, tax: options.tax, can })
}

/**
 * Throws AlreadySubscribed unless the subscription with this name has exactly the requested terms.
 */
export async function requireSameTerms(
  context: BillingContext,
  running: Running,
  asked: AskedTerms,
): Promise<void> {
  const terms = await findDifferences(context, running, asked)
  if (terms.length === 0) return
  const each = terms.map(
    ({ term, inForce, wanted, use }) => `${term} is ${inForce}, asked for ${wanted} (use ${use})`,
  )
  throw new AlreadySubscribed(
    `There is a subscription '${asked.wanted.name}' already, with other terms: ${each.join('; ')}`,
    { terms },
  )
}

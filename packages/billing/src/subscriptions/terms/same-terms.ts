import type { Running } from '../../consistency/find-running.ts'
import type { BillingContext } from '../../context.ts'
import type { DifferentTerm } from '../../different-term.ts'
import { AlreadySubscribed } from '../../errors.ts'
import { requireProvider } from '../known-plans.ts'
import { type AskedTerms, differingTerms } from './differing-terms.ts'

/** What the subscription under a name has otherwise than it is asked for. */
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

/** Throws AlreadySubscribed unless the subscription under the name has just the terms that are asked for. */
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

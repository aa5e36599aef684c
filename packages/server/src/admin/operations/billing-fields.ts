import type { BillableOwner, Money, ProviderName } from '@tollgate/billing'
import { z } from 'zod'
import { PROVIDER_NAMES } from '../../users/account-billing.ts'
import type { OperationContext } from '../operation.ts'
import { AdminProblem, notFound } from '../problems.ts'
import { nameSchema } from './fields.ts'

/** Amounts beyond this are refused before a provider is asked: no provider charges as much. */
const LARGEST_AMOUNT = 999_999_999_999

/** Money in a response. */
export const moneyShape = z
  .strictObject({ amount: z.number().int(), currency: z.string() })
  .describe('An amount in the smallest unit of the currency, such as cents')
nameSchema('Money', moneyShape)

/** An amount of money in a request, which must be positive. */
export const positiveMoney = z
  .strictObject({
    amount: z.number().int().positive().max(LARGEST_AMOUNT),
    currency: z
      .string()
      .regex(/^[a-z]{3}$/, 'Expected a currency code of three lowercase letters, such as usd.'),
  })
  .describe('An amount in the smallest unit of the currency, such as cents')

const PROVIDERS = Object.keys(PROVIDER_NAMES) as [ProviderName, ...ProviderName[]]

export const providerName = z.enum(PROVIDERS)

/** Returns the JSON of an amount, with only the members that the API shows. */
export function toMoneyJson({ amount, currency }: Money): z.output<typeof moneyShape> {
  return { amount, currency }
}

/**
 * Returns the idempotency key for the billing library. `execute()` has already checked that the
 * request has one.
 */
export function requireRepeatKey({ repeatKey }: OperationContext): string {
  if (repeatKey !== null) return repeatKey
  throw new AdminProblem('precondition-required', 'Send an Idempotency-Key.')
}

/** Finds a subscription of this owner. A subscription of another owner is reported as missing. */
export async function requireSubscription(billable: BillableOwner, id: number) {
  const found = (await billable.subscriptions()).find((each) => each.id === id)
  if (!found) throw notFound('subscription', String(id))
  return found
}

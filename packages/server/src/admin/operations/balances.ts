import {
  type BillableOwner,
  type Capability,
  isBillingError,
  type Money,
  type Owner,
} from '@tollgate/billing'
import { z } from 'zod'
import type { AuditDescription } from '../audit/described.ts'
import { type Operation, type OperationContext, operation } from '../operation.ts'
import { AdminProblem } from '../problems.ts'
import { moneyShape, positiveMoney, requireRepeatKey, toMoneyJson } from './billing-fields.ts'
import { instant, nameSchema } from './fields.ts'
import {
  describeOwner,
  type OwnerRef,
  owner,
  requireBillable,
  requireBillableTarget,
} from './owners.ts'
import { addressShape, taxExemptShape, toAddressJson } from './taxes.ts'

const entryShape = z.strictObject({
  entry: z.string().describe("The provider's id of the entry"),
  amount: moneyShape.describe('Positive for a credit, negative for a debit'),
  balance: moneyShape.describe('Balance after this entry'),
})
nameSchema('BalanceEntry', entryShape)

const newEntry = {
  owner,
  amount: positiveMoney,
  description: z.string().min(1).max(255).optional().describe('Text on the invoice'),
}

function describeEntry(
  input: { readonly owner: Owner; readonly description?: string | undefined },
  result: object | null,
): AuditDescription {
  const { owner, description, ...details } = input
  const made = result && 'entry' in result ? { entry: result.entry } : {}
  return {
    subject: describeOwner(owner),
    details: { ...details, ...made },
    ...(description === undefined ? {} : { personal: { description } }),
  }
}

/** Features of billing that not every provider has, each with the capability that it needs. */
const SUPPORT = {
  balance: 'balance',
  tax_ids: 'taxIds',
  tax_exempt: 'taxExemptions',
  address: 'customerDetails',
  credit_notes: 'creditNotes',
} as const satisfies Record<string, Capability>

const SUPPORTED = Object.keys(SUPPORT) as [keyof typeof SUPPORT, ...(keyof typeof SUPPORT)[]]

/** Reads the balance. `null` if the provider does not support balances. */
async function readBalance(user: BillableOwner): Promise<Money | null> {
  try {
    return await user.balance()
  } catch (error) {
    if (isBillingError(error, 'unsupported')) return null
    throw error
  }
}

/**
 * Finds the customer whose balance changes.
 * @throws AdminProblem if the owner is not a customer, the provider does not support balances, or
 * the balance has another currency
 */
async function requireBalance(
  { owner, amount }: { readonly owner: OwnerRef; readonly amount: Money },
  context: OperationContext,
): Promise<BillableOwner> {
  const user = await requireBillableTarget(owner, context)
  if (user.providerId === null) {
    throw new AdminProblem(
      'conflict',
      'The person or team is not a customer of a payment provider yet.',
    )
  }
  const balance = await readBalance(user)
  if (balance === null) {
    const problem = `${user.provider} does not support customer balances. Refund a charge instead.`
    throw new AdminProblem('conflict', problem)
  }
  if (balance.currency === amount.currency) return user
  const problem = `This balance is in ${balance.currency}, not in ${amount.currency}.`
  throw new AdminProblem('invalid-input', problem, { fields: { 'amount.currency': [problem] } })
}

/** Operations on an owner's customer object and balance at the payment provider. */
export const balanceOperations: readonly Operation[] = [
  operation({
    name: 'billing.getCustomer',
    summary: 'Show the customer of a person or team at the payment provider, and its balance',
    route: ['GET', '/users/{owner}/customer'],
    role: 'viewer',
    effect: 'read',
    input: z.strictObject({ owner }),
    output: z.strictObject({
      provider: z.string().nullable(),
      customer: z
        .string()
        .nullable()
        .describe(
          "The provider's id of the customer. `null` if the person or team is not a customer",
        ),
      balance: moneyShape
        .nullable()
        .describe(
          'Positive for credit. `null` without a customer, or if the provider does not support customer balances',
        ),
      free_until: instant.nullable().describe('End of the free access given by `billing.comp`'),
      tax_exempt: taxExemptShape
        .nullable()
        .describe('`null` if the provider has no tax exemptions, or there is no customer'),
      address: addressShape.nullable().describe('Address on invoices. `null` if there is none'),
      supports: z.array(z.enum(SUPPORTED)).describe('What the provider can do'),
    }),
    async run({ owner }, context) {
      const user = await requireBillable(owner, context)
      const isCustomer = user.providerId !== null
      const [balance, taxExempt, address] = await Promise.all([
        isCustomer ? readBalance(user) : null,
        isCustomer && user.can('taxExemptions') ? user.taxExempt() : null,
        isCustomer ? user.billingAddress() : null,
      ])
      return {
        provider: isCustomer ? user.provider : null,
        customer: user.providerId,
        balance: balance && toMoneyJson(balance),
        free_until: user.trialEndsAt?.toISOString() ?? null,
        tax_exempt: taxExempt,
        address: toAddressJson(address),
        supports: SUPPORTED.filter((name) => user.can(SUPPORT[name])),
      }
    },
  }),
  operation({
    name: 'billing.credit',
    summary: 'Give a person or team credit, which is applied to the next invoices',
    description:
      'Fails with `conflict` if the provider does not support customer balances. `billing.debit` takes back credit that is not used yet.',
    route: ['POST', '/users/{owner}/credit'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    needsKey: true,
    input: z.strictObject({
      ...newEntry,
      gift: z
        .boolean()
        .default(true)
        .describe('Whether the credit is a gift, that is, no payment is behind it'),
    }),
    output: entryShape,
    describe: describeEntry,
    async run({ owner, amount, description, gift }, context) {
      const user = await requireBalance({ owner, amount }, context)
      const idempotencyKey = requireRepeatKey(context)
      const made = await user.creditBalance(amount, description, { gift, idempotencyKey })
      return {
        entry: made.id,
        amount: toMoneyJson(made.amount),
        balance: toMoneyJson(made.balance),
      }
    },
  }),
  operation({
    name: 'billing.debit',
    summary: 'Debit the balance of a person or team; the amount is collected with the next invoice',
    description: 'Fails with `conflict` if the provider does not support customer balances.',
    route: ['POST', '/users/{owner}/debit'],
    role: 'support',
    effect: 'change',
    commits: 'in-steps',
    needsKey: true,
    input: z.strictObject(newEntry),
    output: entryShape,
    describe: describeEntry,
    async run({ owner, amount, description }, context) {
      const user = await requireBalance({ owner, amount }, context)
      const idempotencyKey = requireRepeatKey(context)
      const made = await user.debitBalance(amount, description, { idempotencyKey })
      return {
        entry: made.id,
        amount: toMoneyJson(made.amount),
        balance: toMoneyJson(made.balance),
      }
    },
  }),
]

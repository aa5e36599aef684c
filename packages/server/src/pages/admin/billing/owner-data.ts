import type { Context } from 'hono'
import type { CreditNoteJson } from '../../../admin/operations/credit-notes.ts'
import type { DisputeJson } from '../../../admin/operations/disputes.ts'
import type { InvoiceDetailJson, InvoiceJson } from '../../../admin/operations/invoices.ts'
import type { QuotaJson } from '../../../admin/operations/quotas.ts'
import type { SubscriptionJson, UsageJson } from '../../../admin/operations/subscriptions.ts'
import type { AddressJson, TaxIdJson } from '../../../admin/operations/taxes.ts'
import { AdminProblem, notFound } from '../../../admin/problems.ts'
import type { AppEnv } from '../../../http/variables.ts'
import { runOperation } from '../parts.tsx'

export type { InvoiceDetailJson, InvoiceJson, SubscriptionJson }

/** The output of `billing.getCustomer`. */
export interface CustomerJson {
  readonly provider: string | null
  readonly customer: string | null
  readonly balance: { readonly amount: number; readonly currency: string } | null
  readonly free_until: string | null
  readonly tax_exempt: 'none' | 'exempt' | 'reverse' | null
  readonly address: AddressJson | null
  readonly supports: readonly string[]
}

/** The person or team whose billing a page shows. */
export interface Payer {
  /** The owner as operations accept it, such as `42` or `team:0mjuohs00065235c5f6b93214`. */
  readonly owner: string
  readonly id: string
  /** The e-mail address of the person, or the name of the team. */
  readonly name: string
  /** Path of the operators' page of the person or team. */
  readonly path: string
  /** The provider where the owner is a customer. `null` if there is none. */
  readonly provider: string | null
}

/** A page of a list. */
export interface ListPage<Entry> {
  readonly data: readonly Entry[]
  readonly next: string | null
}

/** Everything about billing that the page of a person or team shows. */
export interface BillingData {
  readonly payer: Payer
  readonly subscriptions: readonly SubscriptionJson[]
  /** The customer at the provider. `null` if the provider does not answer. */
  readonly customer: CustomerJson | null
  /** The tax ids at the provider. `null` if the provider does not answer. */
  readonly taxIds: readonly TaxIdJson[] | null
  /** The credit notes at the provider. `null` if the provider does not answer. */
  readonly creditNotes: readonly CreditNoteJson[] | null
  /** The newest disputes of the payments. */
  readonly disputes: readonly DisputeJson[]
  /** The newest invoices at the provider. `null` if the provider does not answer. */
  readonly invoices: ListPage<InvoiceJson> | null
  /** The plan, and what was used of its quotas. `plan` is `null` if no plan has limits. */
  readonly quotas: { readonly plan: string | null; readonly data: readonly QuotaJson[] }
  /** The usage of the running subscriptions. `null` if the provider does not answer. */
  readonly usage: readonly UsageJson[] | null
}

/** Properties of each section about billing. */
export interface BillingSectionProps {
  readonly data: BillingData
  /** Whether the operator may call an operation on the person or team. */
  readonly can: (operation: string) => boolean
}

const NOTHING = { data: [], next: null }
/** Number of entries of each list on a page. A page of its own shows the whole list. */
export const LIST_PREVIEW_LENGTH = 10

/** Reads all data about the billing of a person or team. */
export async function readBillingData(c: Context<AppEnv>, payer: Payer): Promise<BillingData> {
  const { owner } = payer
  const list = async <Entry>(name: string) =>
    (await runOperation<{ data: readonly Entry[] }>(c, name, { owner })).data
  const isCustomer = payer.provider !== null
  const [subscriptions, quotas, customer, invoices, taxIds, creditNotes, usage, disputes] =
    await Promise.all([
      list<SubscriptionJson>('billing.listSubscriptionsOf'),
      runOperation<BillingData['quotas']>(c, 'billing.listQuotas', { owner }),
      nullIfProviderAway(() => readCustomer(c, owner)),
      isCustomer
        ? nullIfProviderAway(() => readInvoices(c, owner, { limit: LIST_PREVIEW_LENGTH }))
        : NOTHING,
      isCustomer ? nullIfProviderAway(() => list<TaxIdJson>('billing.listTaxIds')) : [],
      isCustomer ? nullIfProviderAway(() => list<CreditNoteJson>('billing.listCreditNotes')) : [],
      isCustomer ? nullIfProviderAway(() => list<UsageJson>('billing.listUsage')) : [],
      isCustomer ? readDisputes(c, owner).then(({ data }) => data) : [],
    ])
  const lists = { invoices, taxIds, creditNotes, usage, disputes }
  return { payer, subscriptions, quotas, customer, ...lists }
}

/** The part of a list to read. */
export interface ListRange {
  readonly after?: string
  readonly limit: number
}

export function readCustomer(c: Context<AppEnv>, owner: string): Promise<CustomerJson> {
  return runOperation<CustomerJson>(c, 'billing.getCustomer', { owner })
}

export function readInvoices(c: Context<AppEnv>, owner: string, from: ListRange) {
  return runOperation<ListPage<InvoiceJson>>(c, 'billing.listInvoices', { owner, ...from })
}

export function readInvoice(
  c: Context<AppEnv>,
  owner: string,
  invoice: string,
): Promise<InvoiceDetailJson> {
  return runOperation<InvoiceDetailJson>(c, 'billing.getInvoice', { owner, invoice })
}

function readDisputes(c: Context<AppEnv>, owner: string) {
  const input = { owner, limit: LIST_PREVIEW_LENGTH }
  return runOperation<ListPage<DisputeJson>>(c, 'billing.listDisputes', input)
}

/**
 * Returns `null` if the provider does not answer, because the rest of the page works without it.
 */
async function nullIfProviderAway<Result>(read: () => Promise<Result>): Promise<Result | null> {
  try {
    return await read()
  } catch (error) {
    const isAway =
      error instanceof AdminProblem &&
      ['provider-unavailable', 'provider-refused'].includes(error.problem)
    if (isAway) return null
    throw error
  }
}

/**
 * Reads a subscription of a person or team.
 * @throws AdminProblem `not-found`
 */
export async function readSubscription(
  c: Context<AppEnv>,
  owner: string,
  subscription: string,
): Promise<SubscriptionJson> {
  const name = 'billing.listSubscriptionsOf'
  const { data } = await runOperation<{ data: readonly SubscriptionJson[] }>(c, name, { owner })
  const found = data.find((each) => String(each.id) === subscription)
  if (!found) throw notFound('subscription', subscription)
  return found
}
